"""Backup and restore of everything, over the database connection alone: no tool of the server's version is needed.

A backup is one snapshot (REPEATABLE READ) of every table as PostgreSQL's binary COPY writes it, so it moves between
servers, between versions of PostgreSQL, and between native partitions and TimescaleDB. A restore loads it in one
transaction and, before that commits, compares each table's rows and an order-free digest of their content with what
the backup counted: it either ends with the same content or with an empty database.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import IO, Any

import psycopg
from psycopg import sql

from sinemora import migrate
from sinemora.operations.archive import ArchiveError, Reader, Writer
from sinemora.operations.catalogue import Table, connect, revision, tables

Say = Callable[[str], None]
_DAYS_AT_ONCE = 365


class RestoreError(Exception):
    """This backup cannot be restored here; the message says why and what to do."""


def backup(out: IO[bytes], say: Say) -> dict[str, Any]:
    """Write a consistent backup to `out` while the product runs; the manifest."""
    with connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = [table for table in tables(connection) if table.logged]
        # Retention drops partitions: not while they are read.
        connection.execute(
            sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(
                sql.SQL(", ").join(sql.Identifier(table.name) for table in found)
            )
        )
        header = {
            "kind": "backup",
            "version": version("sinemora"),
            "revision": revision(connection),
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tables": {table.name: {"columns": table.columns, "days": _days(connection, table)} for table in found},
        }
        archive = Writer(out, header)
        digests = {}
        for table in found:
            with connection.cursor() as cursor:
                stream = archive.table(table.name, _copied(cursor, table))
                stream.rows = cursor.rowcount
            archive.done(stream)
            digests[table.name] = content_digest(connection, table.name, table.columns)
            say(f"{table.name:26}{stream.rows:12,} rows {stream.size / 1e6:10,.1f} MB")
        return archive.finish(digests=digests)


def restore(source: IO[bytes], say: Say, *, replace: bool = False) -> dict[str, Any]:
    """Load a backup; returns its manifest. `replace` empties a database that has content.

    Raises RestoreError, ArchiveError; the database is then as it was before.
    """
    archive = Reader(source)
    if archive.header.get("kind") != "backup":
        raise RestoreError(f"this is a {archive.header.get('kind')}, not a backup")
    wanted = migrate.present_name(str(archive.header["revision"]))
    with connect() as connection:
        present = revision(connection)
        if present is None:
            _migrate(wanted)
        elif migrate.present_name(present) != wanted:
            raise RestoreError(
                f"the database has schema version {present}, the backup {wanted}: restore into an empty database,"
                " which is then brought to the newest version"
            )
        with connection.transaction():
            here = {table.name: table for table in tables(connection)}
            _same_shape(archive.header["tables"], here)
            _empty(connection, [table for table in here.values() if table.logged], replace=replace)
            _make_partitions(connection, archive.header["tables"])
            for name, pieces in archive.tables():
                _load(connection, here[name], archive.header["tables"][name]["columns"], pieces)
                say(f"{name:26} loaded")
            manifest = archive.manifest()
            for name, said in manifest["tables"].items():
                columns = tuple(archive.header["tables"][name]["columns"])
                if content_digest(connection, name, columns) != manifest["digests"][name]:
                    raise RestoreError(f"table {name} does not hold what was backed up; nothing was kept")
                say(f"{name:26}{said['rows']:12,} rows, content as in the backup")
            for table in here.values():
                _advance(connection, table)
    migrate.upgrade()
    return manifest


def content_digest(connection: psycopg.Connection, name: str, columns: tuple[str, ...]) -> list[int]:
    """Rows of a table and the sum of their hashes: the same for the same rows in any order, on any server."""
    row = connection.execute(
        sql.SQL("SELECT count(*), coalesce(sum(hashtextextended(ROW({})::text, 0)), 0) FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(name)
        )
    ).fetchone()
    assert row is not None
    return [int(row[0]), int(row[1])]


def _copied(cursor: psycopg.Cursor[Any], table: Table) -> Iterator[bytes]:
    statement = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT binary)").format(
        table.selected(), sql.Identifier(table.name)
    )
    with cursor.copy(statement) as copy:
        for piece in copy:
            yield bytes(piece)


def _days(connection: psycopg.Connection, table: Table) -> list[str] | None:
    """First and last day of a table's rows, where it is partitioned by them."""
    if not table.by_time:
        return None
    row = connection.execute(
        sql.SQL("SELECT min(started_at)::date::text, max(started_at)::date::text FROM {}").format(
            sql.Identifier(table.name)
        )
    ).fetchone()
    return list(row) if row and row[0] else None


def _migrate(wanted: str) -> None:
    from alembic.util.exc import CommandError

    try:
        migrate.upgrade(wanted)
    except CommandError as error:
        raise RestoreError(
            f"the backup has schema version {wanted}, which this version of Sinemora does not know: {error}."
            " Restore it with the version that made it, or a newer one"
        ) from error


def _same_shape(told: dict[str, Any], here: dict[str, Table]) -> None:
    for name, table in told.items():
        if name not in here or not set(table["columns"]) <= set(here[name].columns):
            raise RestoreError(f"table {name} of the backup is not the one of this schema")


def _empty(connection: psycopg.Connection, found: list[Table], *, replace: bool) -> None:
    if not replace:
        for table in found:
            if connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table.name))).fetchone():
                raise RestoreError(f"the database is not empty (table {table.name}); --replace empties it first")
    else:
        everything = [table for table in tables(connection)]
        names = sql.SQL(", ").join(sql.Identifier(table.name) for table in everything)
        connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))


def _make_partitions(connection: psycopg.Connection, told: dict[str, Any]) -> None:
    spans = [table["days"] for table in told.values() if table["days"]]
    if not spans:
        return
    first = min(datetime.fromisoformat(days[0]) for days in spans)
    last = max(datetime.fromisoformat(days[1]) for days in spans)
    while first <= last:
        end = min(last, first + timedelta(days=_DAYS_AT_ONCE))
        connection.execute("SELECT make_measurement_partitions(%s, %s)", [first.date(), end.date()])
        first = end + timedelta(days=1)


def _load(connection: psycopg.Connection, table: Table, columns: list[str], pieces: Iterator[bytes]) -> None:
    """COPY into a table without its triggers (they would count changes) and, meanwhile, without row-level security.

    COPY FROM does not work under policies. All of it is undone with the transaction.
    """
    name = sql.Identifier(table.name)
    connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
    confined = connection.execute(
        "SELECT relforcerowsecurity FROM pg_class WHERE oid = to_regclass(%s)", [f"public.{table.name}"]
    ).fetchone() == (True,)
    if confined:
        connection.execute(sql.SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY").format(name))
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        name, sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for piece in pieces:
                copy.write(piece)
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise ArchiveError(f"table {table.name} is damaged: {error}") from error
    if confined:
        connection.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(name))
    connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))


def _advance(connection: psycopg.Connection, table: Table) -> None:
    """Let identity columns go on after what was loaded."""
    for (column,) in connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attidentity <> ''",
        [f"public.{table.name}"],
    ).fetchall():
        connection.execute(
            sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), max({})) FROM {} HAVING max({}) IS NOT NULL").format(
                sql.Literal(f"public.{table.name}"),
                sql.Literal(column),
                sql.Identifier(column),
                sql.Identifier(table.name),
                sql.Identifier(column),
            )
        )
