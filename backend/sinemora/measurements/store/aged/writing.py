"""Ageing: rows of merged tiers that are old enough are written to object storage and then deleted.

A range is written under a new key, read back and compared, and only then one transaction records it as current and
deletes its rows, if they are still the ones that were written. Whatever stops a run, each row is in the database or in
a current object, never in neither; the next run starts with what is left.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import structlog
from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.object_storage import StorageError, installation_storage
from sinemora.measurements.codec import parquet
from sinemora.measurements.codec.parquet import NUMBERS, SKETCH, STATS, AgedRows, ParquetError
from sinemora.measurements.store.aged import catalogue
from sinemora.measurements.store.aged.catalogue import AGED_TABLES, AgedState, AgedTable, Fingerprint
from sinemora.measurements.store.binary_rows import fetch
from sinemora.measurements.store.tiers import Tier

log = structlog.get_logger(__name__)

OBJECT_BYTES = 64 << 20
"""Bytes of blocks in one object, about."""
# Usual delays are computed from hours of the last four weeks, so these stay in the database for longer.
_LEAST_DAYS = {Tier.HOUR: 35, Tier.DAY: 35}
# Tiers with few rows are written by the month, the others by the day.
_BY_MONTH = (Tier.HOUR, Tier.DAY)


class AgingError(Exception):
    """Object that is not as it was written; the rows stay in the database."""


@dataclass(frozen=True, slots=True)
class MeshOfTenant:
    """Mesh by its keys, for statements, and its ids, for the names of objects."""

    tenant_key: int
    mesh_key: int
    tenant_id: UUID
    mesh_id: UUID


@dataclass(frozen=True, slots=True)
class AgedRange:
    """Rows of a table that began in [start, end)."""

    table: AgedTable
    start: datetime
    end: datetime


@dataclass
class Written:
    """Sums of what was written: objects, their rows and bytes."""

    objects: int = 0
    rows: int = 0
    bytes: int = 0


def meshes_of(session: Session, tenant_id: UUID) -> list[MeshOfTenant]:
    """Return the meshes of a tenant. In a system session."""
    rows = session.execute(
        text(
            "SELECT t.key, m.key, t.id, m.id FROM meshes m JOIN tenants t ON t.id = m.tenant_id"
            " WHERE t.id = :id ORDER BY m.key"
        ),
        {"id": tenant_id},
    )
    return [MeshOfTenant(*row) for row in rows]


def age_mesh(mesh: MeshOfTenant, after_days: int, now: datetime, written: Written) -> Iterator[None]:
    """Write all ranges of a mesh that are older than `after_days`, oldest first; yield after each, to be stopped.

    `written` grows. StorageError, AgingError.
    """
    for table in AGED_TABLES.values():
        oldest = now - timedelta(days=max(after_days, _LEAST_DAYS.get(table.tier, 0)))
        at = datetime.fromtimestamp(0, UTC)
        while (found := _next(mesh, table, at, oldest)) is not None:
            for one in _parts(mesh, found):
                write_range(mesh, one, written)
                yield
            at = found.end


def unit_of(table: AgedTable, at: datetime) -> AgedRange:
    """Return the day or month (UTC) of a time, which is written at once."""
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if table.tier not in _BY_MONTH:
        return AgedRange(table, day, day + timedelta(days=1))
    first = day.replace(day=1)
    return AgedRange(table, first, (first + timedelta(days=32)).replace(day=1))


def _next(mesh: MeshOfTenant, table: AgedTable, after: datetime, oldest: datetime) -> AgedRange | None:
    """Return the next unit from `after` on that has rows, is older than `oldest` and not held; None without."""
    keys: dict[str, Any] = {"tenant_key": mesh.tenant_key, "mesh_key": mesh.mesh_key}
    with system_session() as session:
        while True:
            at = session.scalar(
                text(
                    f"SELECT min(started_at) FROM {table.name} WHERE tenant_key = :tenant_key"
                    " AND mesh_key = :mesh_key AND started_at >= :after"
                ),
                {**keys, "after": after},
            )
            if at is None or (found := unit_of(table, at)).end > oldest:
                return None
            held = catalogue.find(
                session,
                "tenant_key = :tenant_key AND mesh_key = :mesh_key AND tier = :tier AND state = 'restored'"
                " AND started_at < :end AND ended_at > :start AND held_until > now()",
                **keys,
                tier=table.name,
                start=found.start,
                end=found.end,
            )
            if not held:
                return found
            after = found.end


def _parts(mesh: MeshOfTenant, unit: AgedRange) -> list[AgedRange]:
    """Cut a unit into equal parts of whole steps so that each is one object of about `OBJECT_BYTES`."""
    with system_session() as session:
        size = session.scalar(
            text(
                "SELECT sum(pg_column_size(stats) + pg_column_size(sketch))::bigint"
                f" FROM {unit.table.name} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
                " AND started_at >= :start AND started_at < :end"
            ),
            {
                "tenant_key": mesh.tenant_key,
                "mesh_key": mesh.mesh_key,
                "start": unit.start,
                "end": unit.end,
            },
        )
    steps = int((unit.end - unit.start).total_seconds()) // unit.table.tier.step_s
    count = min(steps, -(-int(size or 0) // OBJECT_BYTES) or 1)
    bounds = [
        unit.start + timedelta(seconds=place * steps // count * unit.table.tier.step_s) for place in range(count + 1)
    ]
    return [AgedRange(unit.table, *part) for part in pairwise(bounds)]


def write_range(mesh: MeshOfTenant, one: AgedRange, written: Written) -> None:
    """Write a range, read it back, record it and delete its rows; nothing for a range without rows.

    StorageError, AgingError.
    """
    rows, known = _stored(mesh, one)
    if not rows.count:
        return
    id = uuid4()
    key = object_key(mesh, one, id)
    about = {"tier": one.table.name, "tenant": str(mesh.tenant_id), "mesh": str(mesh.mesh_id)}
    content = parquet.write(rows, one.table.tier.step_s, about)
    _begin(mesh, one, id, key)
    storage = installation_storage()
    storage.put(key, content)
    verify(storage.get(key), content, rows)
    if _finish(mesh, one, id, known, content):
        written.objects += 1
        written.rows += rows.count
        written.bytes += len(content)
        log.info("range aged", object=key, rows=rows.count, bytes=len(content))


def object_key(mesh: MeshOfTenant, one: AgedRange, id: UUID) -> str:
    """Return the name of an object: by tenant, mesh, tier and month, then its range."""
    span = f"{one.start:%Y%m%dT%H%MZ}-{one.end:%Y%m%dT%H%MZ}-{id.hex[:8]}"
    return (
        f"{tenant_prefix(mesh.tenant_id)}/mesh={mesh.mesh_id}/tier={one.table.name}/month={one.start:%Y-%m}/"
        f"{span}.parquet"
    )


def tenant_prefix(tenant_id: UUID) -> str:
    """Return the beginning of the names of all objects of a tenant."""
    return "/".join(filter(None, (settings().storage_prefix, f"tenant={tenant_id}")))


def verify(stored: bytes, content: bytes, rows: AgedRows) -> None:
    """Check that what the storage has is what was sent, and that it holds these rows. AgingError."""
    if hashlib.sha256(stored).digest() != hashlib.sha256(content).digest():
        raise AgingError("the storage returned other bytes than it was sent")
    try:
        back = read_whole(stored)
    except ParquetError as error:
        raise AgingError(str(error)) from None
    order, expected = (np.lexsort((part.block, part.started_at, part.source)) for part in (back, rows))
    back, rows = back.take(order), rows.take(expected)
    same = all(np.array_equal(getattr(back, name), getattr(rows, name)) for name in NUMBERS)
    if not same or back.stats != rows.stats or back.sketches != rows.sketches:
        raise AgingError("the object does not hold the rows that were written")


def read_whole(content: bytes) -> AgedRows:
    """Return all rows of an object. ParquetError."""

    def fetch_ranges(ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return [content[start:end] for start, end in ranges]

    footer = parquet.read_footer(fetch_ranges, len(content))
    return parquet.joined(parquet.read_groups(fetch_ranges, footer, range(footer.rows.size), (STATS, SKETCH)))


def _stored(mesh: MeshOfTenant, one: AgedRange) -> tuple[AgedRows, Fingerprint]:
    """Return the rows of a range, and what identifies them."""
    window = "window_s::int" if one.table.name == Tier.MINUTE.table else str(one.table.tier.step_s)
    with system_session() as session:
        records = fetch(
            session,
            f"SELECT {one.table.source}, (extract(epoch FROM started_at) * 1000000)::bigint, block, {window},"
            " roster_key, n, frames, (extract(epoch FROM rolled_at) * 1000000)::bigint,"
            " (extract(epoch FROM rolled_at - started_at) * 1000)::bigint, stats, sketch"
            f" FROM {one.table.name} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
            " AND started_at >= %(start)s AND started_at < %(end)s",
            {
                "tenant_key": mesh.tenant_key,
                "mesh_key": mesh.mesh_key,
                "start": one.start,
                "end": one.end,
            },
        )
    rows = parquet.rows_of(records)
    return rows, Fingerprint(rows.count, int(rows.n.sum()), sum(record[len(NUMBERS)] for record in records))


def _begin(mesh: MeshOfTenant, one: AgedRange, id: UUID, key: str) -> None:
    """Record that an object is being written, so that a sweep finds it if nothing else does."""
    with system_session() as session:
        session.execute(
            text(
                "INSERT INTO aged_objects (id, tenant_key, mesh_key, tier, started_at, ended_at, object_key, state)"
                " VALUES (:id, :tenant_key, :mesh_key, :tier, :start, :end, :key, 'writing')"
            ),
            {
                "id": id,
                "tenant_key": mesh.tenant_key,
                "mesh_key": mesh.mesh_key,
                "tier": one.table.name,
                "start": one.start,
                "end": one.end,
                "key": key,
            },
        )


def _finish(mesh: MeshOfTenant, one: AgedRange, id: UUID, known: Fingerprint, content: bytes) -> bool:
    """Make an object current and delete its rows in one transaction. Return False when the rows have changed."""
    keys = {"tenant_key": mesh.tenant_key, "mesh_key": mesh.mesh_key, "start": one.start, "end": one.end}
    with system_session() as session:
        catalogue.lock_mesh(session, mesh.mesh_key)
        now = catalogue.fingerprint(session, one.table.name, mesh.tenant_key, mesh.mesh_key, one.start, one.end)
        if now != known:
            set_state(session, id, AgedState.REMOVING)
            log.info("range changed while it was written", table=one.table.name, start=one.start.isoformat())
            return False
        deleted = session.execute(
            text(
                f"DELETE FROM {one.table.name} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
                " AND started_at >= :start AND started_at < :end"
            ),
            keys,
        )
        if deleted.rowcount != known.rows:  # type: ignore[attr-defined]
            raise AgingError(f"{deleted.rowcount} rows instead of {known.rows} would be deleted")  # type: ignore[attr-defined]
        session.execute(
            text(
                "UPDATE aged_objects SET state = 'current', rows = :rows, targets = :targets, merged_ms = :merged_ms,"
                " bytes = :bytes, checksum = :checksum WHERE id = :id AND state = 'writing'"
            ),
            {**known._asdict(), "bytes": len(content), "checksum": hashlib.sha256(content).digest(), "id": id},
        )
    return True


def set_state(session: Session, id: UUID, state: AgedState) -> None:
    """Change the state of an object."""
    session.execute(text("UPDATE aged_objects SET state = :state WHERE id = :id"), {"id": id, "state": state})


def record_run(tenant_key: int, started_at: datetime, written: Written, error: str | None) -> None:
    """Record a tenant's newest run."""
    with system_session() as session:
        session.execute(
            text(
                "INSERT INTO aging_runs (tenant_key, started_at, ended_at, objects, rows, bytes, error)"
                " VALUES (:tenant_key, :started_at, now(), :objects, :rows, :bytes, :error)"
                " ON CONFLICT (tenant_key) DO UPDATE SET started_at = excluded.started_at,"
                " ended_at = excluded.ended_at, objects = excluded.objects, rows = excluded.rows,"
                " bytes = excluded.bytes, error = excluded.error"
            ),
            {
                "tenant_key": tenant_key,
                "started_at": started_at,
                "objects": written.objects,
                "rows": written.rows,
                "bytes": written.bytes,
                "error": error,
            },
        )


ERRORS = (StorageError, AgingError)
