"""SQL that reads the frames of a step of a mesh, for its roll-up. In a system session."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.measurements.codec.stored import StoredFrame
from sinemora.measurements.store import frames
from sinemora.measurements.store.binary_rows import fetch, frames_of
from sinemora.measurements.store.tiers import TierRange


def vms_within(session: Session, tenant_key: int, mesh_key: int, stretch: TierRange) -> list[int]:
    """VMs with frames that began in a stretch. In a system session."""
    return list(
        session.scalars(
            text(
                f"SELECT DISTINCT vm_key FROM {stretch.tier} WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key"
                " AND started_at >= :start AND started_at < :end ORDER BY vm_key"
            ),
            {"tenant_key": tenant_key, "mesh_key": mesh_key, "start": stretch.start, "end": stretch.end},
        )
    )


def frames_within(
    session: Session, tenant_key: int, mesh_key: int, stretch: TierRange, vm_keys: Sequence[int]
) -> list[StoredFrame]:
    """Blocks of some VMs that began in a stretch, with sketches. In a system session."""
    return _within(session, tenant_key, mesh_key, stretch, f"{stretch.tier}", "vm_key", vm_keys)


def zone_frames_within(session: Session, tenant_key: int, mesh_key: int, stretch: TierRange) -> list[StoredFrame]:
    """Blocks between zones that began in a stretch, with sketches. In a system session."""
    return _within(session, tenant_key, mesh_key, stretch, stretch.tier.zone_table, "zone_key", None)


def _within(
    session: Session,
    tenant_key: int,
    mesh_key: int,
    stretch: TierRange,
    table: str,
    source: str,
    keys: Sequence[int] | None,
) -> list[StoredFrame]:
    rows = fetch(
        session,
        f"SELECT {source}, extract(epoch FROM started_at)::bigint, {frames.window_s(table, stretch.tier)}, roster_key,"
        f" stats, sketch FROM {table} WHERE tenant_key = %(tenant_key)s AND mesh_key = %(mesh_key)s"
        + ("" if keys is None else f" AND {source} = ANY(%(keys)s)")
        + " AND started_at >= %(start)s AND started_at < %(end)s",
        {
            "tenant_key": tenant_key,
            "mesh_key": mesh_key,
            "keys": list(keys or ()),
            "start": stretch.start,
            "end": stretch.end,
        },
    )
    return frames_of(session, rows)
