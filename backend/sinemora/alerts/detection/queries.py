"""SQL of alerts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sinemora.alerts.models import (
    AlertState,
    LateDataProgress,
)
from sinemora.measurements.store.tiers import Tier


@dataclass(frozen=True, slots=True)
class Reported:
    """How far a mesh has reported: window ends (Unix s, newest first) with how many blocks of frames ended then."""

    tenant_id: UUID
    mesh_id: UUID
    window_s: int
    evaluated_s: int | None
    ends: list[tuple[int, int]]


def reported(session: Session, since: datetime) -> list[Reported]:
    """Meshes with windows since then. In a system session."""
    rows = session.execute(
        text(
            "SELECT m.tenant_id, m.id, m.window_s, extract(epoch FROM s.evaluated_until)::bigint AS evaluated,"
            " extract(epoch FROM l.started_at)::bigint + l.window_s AS ended, count(*) AS blocks"
            " FROM path_latest l JOIN meshes m ON m.key = l.mesh_key"
            " LEFT JOIN alert_states s ON s.tenant_id = m.tenant_id AND s.mesh_id = m.id"
            " WHERE l.started_at >= :since GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 5 DESC"
        ),
        {"since": since},
    )
    found: dict[UUID, Reported] = {}
    for row in rows:
        one = found.setdefault(row.id, Reported(row.tenant_id, row.id, row.window_s, row.evaluated, []))
        one.ends.append((row.ended, row.blocks))
    return list(found.values())


def locked_state(session: Session, mesh_id: UUID) -> AlertState | None:
    """Lock and return the state of a mesh; None if another process evaluates it."""
    return session.scalars(
        select(AlertState).where(AlertState.mesh_id == mesh_id).with_for_update(skip_locked=True)
    ).one_or_none()


def late_frames(session: Session, mesh_key: int, start: datetime, end: datetime, received_after: datetime) -> list[int]:
    """Starts (Unix s) of windows of a mesh in [start, end) of which something came after a time."""
    rows = session.execute(
        text(
            "SELECT DISTINCT extract(epoch FROM started_at)::bigint FROM probe_frames WHERE tenant_key = :tenant_key"
            " AND mesh_key = :mesh_key AND started_at >= :start AND started_at < :end AND received_at > :after"
            " ORDER BY 1"
        ),
        {
            "tenant_key": session.info["tenant_key"],
            "mesh_key": mesh_key,
            "start": start,
            "end": end,
            "after": received_after,
        },
    )
    return [row[0] for row in rows]


def reporters(
    session: Session, mesh_key: int, tier: Tier, start: datetime, end: datetime, in_time: timedelta | None
) -> dict[int, list[int]]:
    """Keys of the VMs with windows of a mesh that began in [start, end), by their start (Unix s).

    `in_time`: only what came within so long after the end of its window.
    """
    came = " AND received_at <= started_at + make_interval(secs => window_s) + :in_time" if in_time else ""
    rows = session.execute(
        text(
            f"SELECT DISTINCT extract(epoch FROM started_at)::bigint, vm_key FROM {tier}"
            " WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at >= :start AND started_at < :end"
            + came
        ),
        {
            "tenant_key": session.info["tenant_key"],
            "mesh_key": mesh_key,
            "start": start,
            "end": end,
            **({"in_time": in_time} if in_time else {}),
        },
    )
    found: dict[int, list[int]] = {}
    for started_at_s, vm_key in rows:
        found.setdefault(started_at_s, []).append(vm_key)
    return found


def minutes_merged(
    session: Session, mesh_key: int, start: datetime, end: datetime, merged_after: datetime, late: timedelta
) -> list[tuple[datetime, datetime]]:
    """Return start and merge time of the minutes of a mesh in [start, end) that were merged after a time, and so
    long after their end that late data must have arrived; by start.
    """
    rows = session.execute(
        text(
            f"SELECT started_at, max(rolled_at) FROM {Tier.MINUTE.zone_table}"
            " WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at >= :start AND started_at < :end"
            " AND rolled_at > :after AND rolled_at > started_at + interval '1 minute' + :late GROUP BY 1 ORDER BY 1"
        ),
        {
            "tenant_key": session.info["tenant_key"],
            "mesh_key": mesh_key,
            "start": start,
            "end": end,
            "after": merged_after,
            "late": late,
        },
    )
    return [(started_at, rolled_at) for started_at, rolled_at in rows]


def last_reports(session: Session, mesh_id: UUID) -> list[tuple[int, datetime, int]]:
    """VM key, last report and seconds between reports of every living agent of a mesh that has reported."""
    rows = session.execute(
        text(
            "SELECT v.key, a.last_report_at, a.report_every_s FROM mesh_vms m"
            " JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id"
            " JOIN agents a ON a.tenant_id = v.tenant_id AND a.vm_id = v.id AND a.revoked_at IS NULL"
            " WHERE m.tenant_id = :tenant_id AND m.mesh_id = :mesh_id AND a.last_report_at IS NOT NULL"
        ),
        {"tenant_id": session.info["tenant_id"], "mesh_id": mesh_id},
    )
    return [(key, at, every_s) for key, at, every_s in rows]


def locked_late_data_progress(session: Session, mesh_id: UUID) -> LateDataProgress | None:
    """Lock and return the progress on late data of a mesh; None if another process works on it."""
    return session.scalars(
        select(LateDataProgress).where(LateDataProgress.mesh_id == mesh_id).with_for_update(skip_locked=True)
    ).one_or_none()


def watched_meshes(session: Session, since: datetime) -> list[tuple[UUID, UUID]]:
    """(tenant, mesh) of all that have been evaluated since a time. In a system session."""
    rows = session.execute(
        select(AlertState.tenant_id, AlertState.mesh_id)
        .where(AlertState.evaluated_until >= since)
        .order_by(AlertState.mesh_id)
    )
    return [(tenant_id, mesh_id) for tenant_id, mesh_id in rows]
