"""SQL of the catalogue of aged objects, and what identifies the rows that an object holds."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.store.binary_rows import fetch
from sinemora.measurements.store.tiers import ROLLED, Tier

Answer = TypeVar("Answer")

YOUNGEST = timedelta(days=2)
"""Age below which no row is aged, whatever the settings are: younger ranges are read without the catalogue."""
_ATTEMPTS = 5

_COLUMNS = (
    "id, tenant_key, mesh_key, tier, started_at, ended_at, object_key, state, rows, targets, merged_ms, bytes,"
    " checksum, created_at, held_until"
)


class AgedState(StrEnum):
    """State of an object: being written; read in place of rows; copied back to the database; being deleted."""

    WRITING = "writing"
    CURRENT = "current"
    RESTORED = "restored"
    REMOVING = "removing"


class AgedTable(NamedTuple):
    """Table whose rows are aged: its tier, and the column of the source of a row."""

    name: str
    tier: Tier
    source: str


class Fingerprint(NamedTuple):
    """Identity of rows: their number, how many targets they have together, and a sum of when they were merged, ms."""

    rows: int
    targets: int
    merged_ms: int


class AgedObject(NamedTuple):
    """Row of the catalogue. From `rows` to `checksum` none while it is written."""

    id: UUID
    tenant_key: int
    mesh_key: int
    tier: str
    started_at: datetime
    ended_at: datetime
    object_key: str
    state: str
    rows: int
    targets: int
    merged_ms: int
    size_bytes: int
    checksum: bytes
    created_at: datetime
    held_until: datetime | None

    @property
    def fingerprint(self) -> Fingerprint:
        """Return the identity of its rows."""
        return Fingerprint(self.rows, self.targets, self.merged_ms)


AGED_TABLES = {
    table.name: table
    for tier in ROLLED
    for table in (AgedTable(tier.table, tier, "vm_key"), AgedTable(tier.zone_table, tier, "zone_key"))
}


def find(session: Session, where: str = "true", order: str = "started_at, tier", **parameters: Any) -> list[AgedObject]:
    """Return the objects under an SQL condition."""
    rows = session.execute(text(f"SELECT {_COLUMNS} FROM aged_objects WHERE {where} ORDER BY {order}"), parameters)
    return [AgedObject(*row) for row in rows]


def current(
    session: Session, tenant_key: int, mesh_key: int, table: str, start: datetime, end: datetime
) -> list[AgedObject]:
    """Return the objects that are read in place of the rows of a table in [start, end), oldest first."""
    if table not in AGED_TABLES or start >= datetime.now(UTC) - YOUNGEST:
        return []
    rows = fetch(
        session,
        f"SELECT {_COLUMNS} FROM aged_objects WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        " AND tier = %(tier)s AND started_at < %(end)s AND ended_at > %(start)s AND state = 'current'"
        " ORDER BY started_at",
        {"tenant_key": tenant_key, "mesh_key": mesh_key, "tier": table, "start": start, "end": end},
    )
    return [AgedObject(*row) for row in rows]


def consistently(find_objects: Callable[[], Sequence[AgedObject]], read: Callable[[], Answer]) -> Answer:
    """Return what `read` finds in the database while no range moved between it and the objects.

    `read` is repeated when the objects after it are not those before it: it may have missed rows or seen them twice.
    """
    before = [one.id for one in find_objects()]
    for _ in range(_ATTEMPTS):
        found = read()
        after = [one.id for one in find_objects()]
        if after == before:
            break
        before = after
    return found


def last_steps(session: Session, tenant_key: int, mesh_key: int) -> dict[Tier, datetime]:
    """Return the end of the newest aged range of VMs in each tier that has one."""
    rows = session.execute(
        text(
            "SELECT tier, max(ended_at) FROM aged_objects WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
            " AND state = 'current' GROUP BY tier"
        ),
        {"tenant_key": tenant_key, "mesh_key": mesh_key},
    )
    return {AGED_TABLES[name].tier: at for name, at in rows if name == AGED_TABLES[name].tier.table}


def fingerprint(
    session: Session, table: str, tenant_key: int, mesh_key: int, start: datetime, end: datetime
) -> Fingerprint:
    """Return the identity of the rows of a table in [start, end)."""
    row = session.execute(
        text(
            "SELECT count(*), coalesce(sum(n), 0)::bigint,"
            " coalesce(sum((extract(epoch FROM rolled_at - started_at) * 1000)::bigint), 0)::bigint"
            f" FROM {table} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
            " AND started_at >= :start AND started_at < :end"
        ),
        {"tenant_key": tenant_key, "mesh_key": mesh_key, "start": start, "end": end},
    ).one()
    return Fingerprint(*row)


def lock_mesh(session: Session, mesh_key: int) -> None:
    """Keep roll-ups of a mesh out until the end of this transaction (`invalidation.take`)."""
    session.execute(text("SELECT pg_advisory_xact_lock(84200003, :mesh_key)"), {"mesh_key": mesh_key})
