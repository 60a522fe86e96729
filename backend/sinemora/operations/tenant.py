"""Everything of one tenant: written out as JSON lines, or deleted with the proof that nothing is left."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import IO, Any
from uuid import UUID

import psycopg
from psycopg import sql

from sinemora.operations.archive import Writer
from sinemora.operations.backup import Say
from sinemora.operations.catalogue import Table, connect, revision, tables

_ROWS_AT_ONCE = 500
# Digests of secrets and passwords are of no use to whom they belong to.
_WITHHELD = {"password_hash", "secret_digest", "credential_digest"}
# API processes know credentials and meshes for some seconds: reports may be stored that long after a deletion.
_FORGOTTEN_S = 12


class TenantError(Exception):
    """There is no such tenant."""


@dataclass(frozen=True)
class Owner:
    """Whose rows are meant; `people` are the users who belong to no other tenant."""

    id: UUID
    key: int
    name: str
    people: list[UUID]


@dataclass(frozen=True)
class Gone:
    """How many rows of a table went, and how many are left: none."""

    table: str
    deleted: int
    left: int


def export(name: str, out: IO[bytes], say: Say) -> dict[str, Any]:
    """Write all rows of a tenant, one JSON object a line, from one snapshot; the manifest. Raises TenantError."""
    with connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        owner = _owner(connection, name)
        mine = [(table, where) for table in tables(connection) if table.logged and (where := _where(table))]
        header = {
            "kind": "tenant export",
            "version": version("sinemora"),
            "revision": revision(connection),
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tenant": {"id": str(owner.id), "key": owner.key, "name": owner.name},
            "tables": {table.name: {"columns": _told(table)} for table, _ in mine},
            "withheld": sorted(_WITHHELD),
        }
        archive = Writer(out, header)
        for table, where in mine:
            rows = _Rows(connection, table, where, owner)
            stream = archive.table(table.name, iter(rows))
            stream.rows = rows.count
            archive.done(stream)
            say(f"{table.name:26}{stream.rows:12,} rows")
        return archive.finish()


def delete(name: str, say: Say, *, forgotten_s: float = _FORGOTTEN_S) -> list[Gone]:
    """Delete a tenant: its people who belong to no other, its keys, its measurements. Raises TenantError.

    First who may speak for it goes, then, when every process has forgotten them, what they may still have sent.
    """
    with connect() as connection:
        owner = _owner(connection, name)
        found = [table for table in tables(connection) if _where(table)]
        counted = dict.fromkeys([table.name for table in found], 0)
        with connection.transaction():
            for table in reversed(found):
                counted[table.name] += _delete(connection, table, owner)
        say(f"{sum(counted.values()):,} rows deleted; waiting {forgotten_s:.0f} s for reports on their way")
        time.sleep(forgotten_s)
        with connection.transaction():
            for table in reversed(found):
                counted[table.name] += _delete(connection, table, owner)
        return [Gone(table.name, counted[table.name], _count(connection, table, owner)) for table in found]


class _Rows:
    """The rows of a table that are a tenant's, as lines; `count` once they were read."""

    def __init__(self, connection: psycopg.Connection, table: Table, where: sql.Composed, owner: Owner) -> None:
        self._connection, self._table, self._where, self._owner = connection, table, where, owner
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        statement = sql.SQL("SELECT row_to_json(one)::text FROM (SELECT {} FROM {} WHERE {}) AS one").format(
            self._table.selected(*_told(self._table)), sql.Identifier(self._table.name), self._where
        )
        with self._connection.cursor(f"export_{self._table.name}") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(statement, _parameters(self._owner))
            for (line,) in cursor:
                self.count += 1
                yield line.encode() + b"\n"


def _owner(connection: psycopg.Connection, name: str) -> Owner:
    row = connection.execute(
        "SELECT id, key, name FROM tenants WHERE name = %s OR id::text = %s", [name, name]
    ).fetchone()
    if row is None:
        names = [one for (one,) in connection.execute("SELECT name FROM tenants ORDER BY name LIMIT 20")]
        raise TenantError(f"there is no tenant {name}; there are: {json.dumps(names, ensure_ascii=False)}")
    people = connection.execute(
        "SELECT user_id FROM memberships GROUP BY user_id HAVING bool_and(tenant_id = %s)", [row[0]]
    ).fetchall()
    return Owner(row[0], row[1], row[2], [one for (one,) in people])


def _where(table: Table) -> sql.Composed | None:
    """Which rows of a table are a tenant's; None where none can be."""
    if table.name == "tenants":
        return sql.SQL("id = {}").format(sql.Placeholder("id"))
    if table.name == "users":
        return sql.SQL("id = ANY({})").format(sql.Placeholder("people"))
    column = table.tenant_column
    if column is None:
        return None
    return sql.SQL("{} = {}").format(sql.Identifier(column), sql.Placeholder(column.removeprefix("tenant_")))


def _told(table: Table) -> list[str]:
    return [column for column in table.columns if column not in _WITHHELD]


def _delete(connection: psycopg.Connection, table: Table, owner: Owner) -> int:
    where = _where(table)
    assert where is not None
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
