"""Backup and restore of the database over a connection: no tool of the server's version is needed.

A backup is one snapshot (REPEATABLE READ) of every table in PostgreSQL's binary COPY format. It moves between servers,
versions of PostgreSQL, native partitions and TimescaleDB. A restore loads it in one transaction. Before the commit it
compares the rows of each table, and a digest of them that ignores their order, with the manifest of the backup.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import IO, Any

import psycopg
from psycopg import sql

from sinemora import migrate
from sinemora.operations.archives.archive import ArchiveError, Reader, Report, Writer
from sinemora.operations.archives.catalogue import Table, connect, revision, tables

_DAYS_AT_ONCE = 365
_DAYS_MAX = 50 * 366


class RestoreError(Exception):
    """Backup that cannot be restored here; the message gives reason and advice."""


def backup(out: IO[bytes], report: Report) -> dict[str, Any]:
    """Write a consistent backup to `out` while the product runs. Return the manifest."""
    with connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        stored = [table for table in tables(connection) if table.logged]
        # The lock keeps retention from dropping partitions that are read.
        connection.execute(
            sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(
                sql.SQL(", ").join(sql.Identifier(table.name) for table in stored)
            )
        )
        header = {
            "kind": "backup",
            "version": version("sinemora"),
            "revision": revision(connection),
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tables": {table.name: {"columns": table.columns, "days": _days(connection, table)} for table in stored},
        }
        archive = Writer(out, header)
        digests = {}
        for table in stored:
            with connection.cursor() as cursor:
                stream = archive.table(table.name, _copied(cursor, table))
                stream.rows = cursor.rowcount
            archive.done(stream)
            digests[table.name] = content_digest(connection, table.name, table.columns)
            report(f"{table.name:26}{stream.rows:12,} rows {stream.size / 1e6:10,.1f} MB")
        return archive.finish(digests=digests)


def restore(source: IO[bytes], report: Report, *, replace: bool = False) -> dict[str, Any]:
    """Load a backup and return its manifest. `replace` empties a database that has content.

    Raises RestoreError, ArchiveError; the database then is unchanged.
    """
    archive = Reader(source)
    try:
        return _restored(archive, report, replace=replace)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ArchiveError(f"malformed header or manifest: {error!r}") from error


def _restored(archive: Reader, report: Report, *, replace: bool) -> dict[str, Any]:
    if archive.header.get("kind") != "backup":
        raise RestoreError(f"not a backup: this is a {archive.header.get('kind')}")
    needed = str(archive.header["revision"])
    _check_version(needed)
    with connect() as connection:
        present = revision(connection)
        if present is None:
            migrate.upgrade(needed)
        elif present != needed:
            raise RestoreError(
                f"schema versions differ: {present} in the database, {needed} in the backup."
                " Restore into an empty database, which is then migrated to the newest version"
            )
        with connection.transaction():
            here = {table.name: table for table in tables(connection)}
            _check_schema(archive.header["tables"], here)
            _empty(connection, [table for table in here.values() if table.logged], replace=replace)
            _make_partitions(connection, archive.header["tables"])
            for name, pieces in archive.tables():
                _load(connection, here[name], archive.header["tables"][name]["columns"], pieces)
                report(f"{name:26} loaded")
            manifest = archive.manifest()
            for name, summary in manifest["tables"].items():
                columns = tuple(archive.header["tables"][name]["columns"])
                if content_digest(connection, name, columns) != manifest["digests"][name]:
                    raise RestoreError(
                        f"verification failed: table {name} differs from the backup; nothing was restored"
                    )
                report(f"{name:26}{summary['rows']:12,} rows, verified")
            for table in here.values():
                _advance_sequences(connection, table)
    migrate.upgrade()
    return manifest


def content_digest(connection: psycopg.Connection, name: str, columns: tuple[str, ...]) -> list[int]:
    """Return the number of rows of a table and the sum of their hashes, which ignores their order."""
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
    """Return the first and last day of a table's rows; None for a table without time."""
    if not table.by_time:
        return None
    row = connection.execute(
        sql.SQL("SELECT min(started_at)::date::text, max(started_at)::date::text FROM {}").format(
            sql.Identifier(table.name)
        )
    ).fetchone()
    return list(row) if row and row[0] else None


def _check_version(needed: str) -> None:
    advice = (
        f"Restore it with an older Sinemora (git checkout {migrate.LAST_WITH_EARLIER}), which upgrades it to"
        f" {migrate.BASELINE}. Then start this one on that database."
    )
    try:
        migrate.check(needed, "backup", advice)
    except migrate.SchemaVersionError as error:
        raise RestoreError(str(error)) from None


def _check_schema(backed_up: dict[str, Any], here: dict[str, Table]) -> None:
    for name, table in backed_up.items():
        if name not in here or not set(table["columns"]) <= set(here[name].columns):
            raise RestoreError(f"schema differs: table {name} of the backup does not fit the database")


def _empty(connection: psycopg.Connection, stored: list[Table], *, replace: bool) -> None:
    if not replace:
        for table in stored:
            if connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table.name))).fetchone():
                raise RestoreError(f"database not empty (table {table.name}): --replace empties it first")
    else:
        everything = [table for table in tables(connection)]
        names = sql.SQL(", ").join(sql.Identifier(table.name) for table in everything)
        connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))


def _make_partitions(connection: psycopg.Connection, backed_up: dict[str, Any]) -> None:
    spans = [table["days"] for table in backed_up.values() if table["days"]]
    if not spans:
        return
    first = min(datetime.fromisoformat(days[0]) for days in spans)
    last = max(datetime.fromisoformat(days[1]) for days in spans)
    if (last - first).days > _DAYS_MAX:
        raise ArchiveError(f"the rows span {(last - first).days:,} days, at most {_DAYS_MAX:,} are restored")
    while first <= last:
        end = min(last, first + timedelta(days=_DAYS_AT_ONCE))
        connection.execute("SELECT make_measurement_partitions(%s, %s)", [first.date(), end.date()])
        first = end + timedelta(days=1)


def _load(connection: psycopg.Connection, table: Table, columns: list[str], pieces: Iterator[bytes]) -> None:
    """COPY into a table, with its triggers and its row-level security disabled meanwhile.

    Triggers would count changes; COPY FROM does not work under policies. The transaction undoes all of it.
    """
    name = sql.Identifier(table.name)
    guards = connection.execute(
        "SELECT relforcerowsecurity, EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)"
        " FROM pg_class c WHERE oid = to_regclass(%s)",
        [f"public.{table.name}"],
    ).fetchone()
    row_security, has_triggers = guards or (False, False)
    # Citus refuses the statement for a table that it has spread, which has no triggers.
    if has_triggers:
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
    if row_security:
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
    if row_security:
        connection.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(name))
    if has_triggers:
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))


def _advance_sequences(connection: psycopg.Connection, table: Table) -> None:
    """Set the sequences of identity columns after the loaded values."""
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
