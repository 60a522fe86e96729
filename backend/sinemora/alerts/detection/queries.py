"""SQL of detection."""

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
class MeshReports:
    """MeshReports windows of a mesh: ends (Unix s, newest first), each with its number of frame blocks."""

    tenant_id: UUID
    mesh_id: UUID
    window_s: int
    evaluated_s: int | None
    ends: list[tuple[int, int]]


def reported_meshes(session: Session, since: datetime) -> list[MeshReports]:
    """Return the meshes with windows since a time. Needs a system session."""
    # Two statements and not a join: measurements may be on other servers than the meshes.
    windows = session.execute(
        text(
            "SELECT mesh_key, extract(epoch FROM started_at)::bigint + window_s AS ended, count(*) AS blocks"
            " FROM path_latest WHERE started_at >= :since GROUP BY 1, 2 ORDER BY 1, 2 DESC"
        ),
        {"since": since},
    )
    ends: dict[int, list[tuple[int, int]]] = {}
    for mesh_key, ended, blocks in windows:
        ends.setdefault(mesh_key, []).append((ended, blocks))
    meshes = session.execute(
        text(
            "SELECT m.key, m.tenant_id, m.id, m.window_s, extract(epoch FROM s.evaluated_until)::bigint AS evaluated"
            " FROM meshes m LEFT JOIN alert_states s ON s.tenant_id = m.tenant_id AND s.mesh_id = m.id"
            " WHERE m.key = ANY(:keys) ORDER BY m.tenant_id, m.id"
        ),
        {"keys": list(ends)},
    )
    return [MeshReports(row.tenant_id, row.id, row.window_s, row.evaluated, ends[row.key]) for row in meshes]


def locked_state(session: Session, mesh_id: UUID) -> AlertState | None:
    """Lock and return the state of a mesh; None if another process evaluates it."""
    return session.scalars(
        select(AlertState).where(AlertState.mesh_id == mesh_id).with_for_update(skip_locked=True)
    ).one_or_none()


def late_frames(session: Session, mesh_key: int, start: datetime, end: datetime, received_after: datetime) -> list[int]:
    """Return starts (Unix s) of windows of a mesh in [start, end) with frames received after a time."""
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
    """Return keys of the VMs that reported windows of a mesh starting in [start, end), by start (Unix s).

    `in_time`: ignore frames received longer than this after the end of their window.
    """
    received = " AND received_at <= started_at + make_interval(secs => window_s) + :in_time" if in_time else ""
    rows = session.execute(
        text(
            f"SELECT DISTINCT extract(epoch FROM started_at)::bigint, vm_key FROM {tier}"
            " WHERE tenant_key = :tenant_key AND mesh_key = :mesh_key AND started_at >= :start AND started_at < :end"
            + received
        ),
        {
            "tenant_key": session.info["tenant_key"],
            "mesh_key": mesh_key,
            "start": start,
            "end": end,
            **({"in_time": in_time} if in_time else {}),
        },
    )
    vm_keys: dict[int, list[int]] = {}
    for started_at_s, vm_key in rows:
        vm_keys.setdefault(started_at_s, []).append(vm_key)
    return vm_keys


def minutes_merged(
    session: Session, mesh_key: int, start: datetime, end: datetime, merged_after: datetime, late: timedelta
) -> list[tuple[datetime, datetime]]:
    """Return start and merge time of minutes of a mesh in [start, end) that contain late data, by start.

    Such minutes were merged after `merged_after`, and more than `late` after their end.
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
    """Return (tenant, mesh) of all meshes evaluated since a time. Needs a system session."""
    rows = session.execute(
        select(AlertState.tenant_id, AlertState.mesh_id)
        .where(AlertState.evaluated_until >= since)
        .order_by(AlertState.mesh_id)
    )
    return [(tenant_id, mesh_id) for tenant_id, mesh_id in rows]
