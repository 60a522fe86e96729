"""Export of a tenant's data as JSON lines, and its deletion, with a count of what is left."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import IO, Any
from uuid import UUID

import psycopg
from psycopg import sql

from sinemora.kit.object_storage import StorageError
from sinemora.measurements.store.aged.removal import remove_tenant
from sinemora.operations.archives.archive import Report, Writer
from sinemora.operations.archives.catalogue import Table, connect, revision, tables

_ROWS_AT_ONCE = 500
# Passwords and secrets are not exported, neither their digests nor encrypted ones.
_WITHHELD = {
    *("password_hash", "secret_digest", "previous_digest", "credential_digest"),
    *("encrypted_content", "secret", "client_secret"),
}
# API processes cache credentials and meshes for some seconds: they may store reports that long after a deletion.
_CACHES_EXPIRE_S = 12


Progress = Callable[[int, int, str], None]
"""Takes the number of finished tables, of all tables, and a line about the newest."""


class TenantError(Exception):
    """Unknown tenant, or one whose objects cannot be deleted."""


@dataclass(frozen=True)
class Owner:
    """Tenant whose rows are selected; `people` are the users who belong to no other tenant."""

    id: UUID
    key: int
    name: str
    people: list[UUID]


@dataclass(frozen=True)
class Deletion:
    """Numbers of deleted and of remaining rows of a table; none should remain."""

    table: str
    deleted: int
    left: int


@dataclass(frozen=True)
class Selection:
    """Tables of an export: all but `without`; `measurements` are windows, their rollups and what is kept of them."""

    without: frozenset[str] = frozenset()
    measurements: bool = True

    def has(self, table: Table) -> bool:
        """Return whether the export has a table."""
        return table.name not in self.without and (self.measurements or not _is_measured(table))


_EVERYTHING = Selection()


def export(
    name: str, out: IO[bytes], progress: Progress, selection: Selection = _EVERYTHING, url: str | None = None
) -> dict[str, Any]:
    """Write the rows of a tenant, one JSON object a line, from one snapshot. Return the manifest. TenantError.

    `url`: database and role, by default the owner of the schema.
    """
    with connect(url) as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        owner = _owner(connection, name)
        mine = [
            (table, where)
            for table in tables(connection)
            if table.logged and selection.has(table) and (where := _where(table))
        ]
        header = {
            "kind": "tenant export",
            "version": version("sinemora"),
            "revision": revision(connection),
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tenant": {"id": str(owner.id), "key": owner.key, "name": owner.name},
            "tables": {table.name: {"columns": _exported_columns(table)} for table, _ in mine},
            "withheld": sorted(_WITHHELD),
        }
        archive = Writer(out, header)
        for number, (table, where) in enumerate(mine, 1):
            rows = _Rows(connection, table, where, owner)
            stream = archive.table(table.name, iter(rows))
            stream.rows = rows.count
            archive.done(stream)
            progress(number, len(mine), f"{table.name:26}{stream.rows:12,} rows")
        return archive.finish()


def delete(
    name: str, report: Report, *, caches_expire_s: float | None = None, url: str | None = None
) -> list[Deletion]:
    """Delete a tenant: its users who belong to no other, its keys, its measurements. Raises TenantError.

    All rows are deleted, credentials included. When caches have expired, rows that arrived meanwhile are deleted too.
    `url`: as for `export`.
    """
    wait_s = _CACHES_EXPIRE_S if caches_expire_s is None else caches_expire_s
    with connect(url) as connection:
        with connection.transaction():
            owner = _owner(connection, name)
        _delete_aged(owner)
        of_tenant = [table for table in tables(connection) if _where(table)]
        deleted = dict.fromkeys([table.name for table in of_tenant], 0)
        _delete_measured(connection, of_tenant, owner, deleted)
        with connection.transaction():
            _lock(connection, owner)
            for table in reversed(of_tenant):
                deleted[table.name] += _delete(connection, table, owner)
        report(f"{sum(deleted.values()):,} rows deleted; waiting {wait_s:.0f} s until caches have expired")
        time.sleep(wait_s)
        with connection.transaction():
            for table in reversed(of_tenant):
                deleted[table.name] += _delete(connection, table, owner)
        with connection.transaction():
            left = {table.name: _count(connection, table, owner) for table in of_tenant}
        return [Deletion(name, deleted[name], left[name]) for name in left]


def _delete_measured(
    connection: psycopg.Connection, of_tenant: Sequence[Table], owner: Owner, deleted: dict[str, int]
) -> None:
    """Delete measurements mesh by mesh, each in a transaction: none of them holds locks for long."""
    with connection.transaction():
        rows = connection.execute("SELECT key FROM meshes WHERE tenant_id = %s ORDER BY key", [owner.id]).fetchall()
    measured = [table for table in of_tenant if _is_measured(table) and "mesh_key" in table.columns]
    for (mesh_key,) in rows:
        for table in measured:
            statement = sql.SQL("DELETE FROM {} WHERE tenant_key = %s AND mesh_key = %s")
            with connection.transaction():
                found = connection.execute(statement.format(sql.Identifier(table.name)), [owner.key, mesh_key])
            deleted[table.name] += found.rowcount


def _lock(connection: psycopg.Connection, owner: Owner) -> None:
    """Lock the tenant's meshes, and what evaluation of alerts locks, before the rows that these refer to."""
    for table, key in (("meshes", "id"), ("late_data_progress", "mesh_id"), ("alert_states", "mesh_id")):
        statement = sql.SQL("SELECT FROM {} WHERE tenant_id = %s ORDER BY {} FOR UPDATE")
        connection.execute(statement.format(sql.Identifier(table), sql.Identifier(key)), [owner.id])


class _Rows:
    """Rows of a tenant in a table, as lines; `count` is their number after iteration."""

    def __init__(self, connection: psycopg.Connection, table: Table, where: sql.Composed, owner: Owner) -> None:
        self._connection, self._table, self._where, self._owner = connection, table, where, owner
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        # By name: of a row that a cluster reads on several workers, it loses the names of the columns.
        fields = sql.SQL(", ").join(
            sql.SQL("{}, {}").format(sql.Literal(column), sql.Identifier(column))
            for column in _exported_columns(self._table)
        )
        statement = sql.SQL("SELECT json_build_object({})::text FROM {} WHERE {}").format(
            fields, sql.Identifier(self._table.name), self._where
        )
        with self._connection.cursor(f"export_{self._table.name}") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(statement, _parameters(self._owner))
            for (line,) in cursor:
                self.count += 1
                yield line.encode() + b"\n"


def _delete_aged(owner: Owner) -> None:
    """Delete the tenant's objects first: afterwards the catalogue would not lead to them. TenantError."""
    try:
        remove_tenant(owner.id)
    except StorageError as error:
        raise TenantError(f"aged measurements are not deleted, nor is anything else: {error}") from None


def _owner(connection: psycopg.Connection, name: str) -> Owner:
    row = connection.execute(
        "SELECT id, key, name FROM tenants WHERE name = %s OR id::text = %s", [name, name]
    ).fetchone()
    if row is None:
        names = [value for (value,) in connection.execute("SELECT name FROM tenants ORDER BY name LIMIT 20")]
        raise TenantError(f"unknown tenant: {name}. Tenants: {json.dumps(names, ensure_ascii=False)}")
    people = connection.execute(
        "SELECT user_id FROM memberships GROUP BY user_id HAVING bool_and(tenant_id = %s)", [row[0]]
    ).fetchall()
    return Owner(row[0], row[1], row[2], [value for (value,) in people])


def _where(table: Table) -> sql.Composed | None:
    """Return the condition that selects a tenant's rows of a table; None for a table without a tenant."""
    if table.name == "tenants":
        return sql.SQL("id = {}").format(sql.Placeholder("id"))
    if table.name == "users":
        return sql.SQL("id = ANY({})").format(sql.Placeholder("people"))
    column = table.tenant_column
    if column is None:
        return None
    return sql.SQL("{} = {}").format(sql.Identifier(column), sql.Placeholder(column.removeprefix("tenant_")))


def _exported_columns(table: Table) -> list[str]:
    return [column for column in table.columns if column not in _WITHHELD]


def _is_measured(table: Table) -> bool:
    return table.is_frames or table.tenant_column == "tenant_key"


def _delete(connection: psycopg.Connection, table: Table, owner: Owner) -> int:
    where = _where(table)
    assert where is not None
    may = connection.execute("SELECT has_table_privilege(%s, 'DELETE')", [table.name]).fetchone()
    if may == (False,):
        return 0  # the audit log, for which no role but the schema's owner may: it goes with the row of the tenant
    statement = sql.SQL("DELETE FROM {} WHERE {}").format(sql.Identifier(table.name), where)
    return connection.execute(statement, _parameters(owner)).rowcount


def _count(connection: psycopg.Connection, table: Table, owner: Owner) -> int:
    where = _where(table)
    assert where is not None
    statement = sql.SQL("SELECT count(*) FROM {} WHERE {}").format(sql.Identifier(table.name), where)
    row = connection.execute(statement, _parameters(owner)).fetchone()
    assert row is not None
    return int(row[0])


def _parameters(owner: Owner) -> dict[str, Any]:
    return {"id": owner.id, "key": owner.key, "people": owner.people}
