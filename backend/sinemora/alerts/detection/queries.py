"""SQL of detection."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from sinemora.alerts.detection import due
from sinemora.alerts.detection.due import BlockReports, MeshReports
from sinemora.alerts.models import (
    AlertState,
    LateDataProgress,
)
from sinemora.measurements.store.tiers import Tier


def reported_meshes(session: Session, since: timedelta) -> list[MeshReports]:
    """Return the meshes with windows not older than `since`. Needs a system session."""
    # Two statements and not a join: measurements may be on other servers than the meshes.
    windows = session.execute(
        text(
            "SELECT mesh_key, extract(epoch FROM started_at)::bigint + window_s AS ended, count(*) AS blocks,"
            " extract(epoch FROM max(received_at))::float8 AS received"
            " FROM path_latest WHERE started_at >= now() - :since GROUP BY 1, 2 ORDER BY 1, 2 DESC"
        ),
        {"since": since},
    )
    blocks: dict[int, list[BlockReports]] = {}
    for mesh_key, ended, count, received in windows:
        blocks.setdefault(mesh_key, []).append(BlockReports(ended, count, received))
    meshes = session.execute(
        text(
            "SELECT m.key, m.tenant_id, m.id, m.window_s, extract(epoch FROM clock_timestamp())::float8 AS at,"
            " extract(epoch FROM s.evaluated_until)::bigint AS evaluated,"
            " coalesce(extract(epoch FROM s.looked_at)::float8, 0.0) AS looked_at,"
            " extract(epoch FROM s.reported_until)::bigint AS reported,"
            " coalesce(s.lateness_s, 0.0) AS lateness, coalesce(s.windows_skipped, 0) AS skipped"
            " FROM meshes m LEFT JOIN alert_states s ON s.tenant_id = m.tenant_id AND s.mesh_id = m.id"
            " WHERE m.key = ANY(:keys) ORDER BY m.tenant_id, m.id"
        ),
        {"keys": list(blocks)},
    )
    return [
        MeshReports(tenant_id, mesh_id, window_s, at_s, blocks[key], *rest)
        for key, tenant_id, mesh_id, window_s, at_s, *rest in meshes
    ]


@dataclass(frozen=True, slots=True)
class EvaluationLag:
    """How far alert evaluation is behind, over all meshes with windows that are due.

    `lag_s`: seconds since the first window that is due and not evaluated could have been, of the worst mesh; 0 if none
    is due. `mesh_id`: that mesh, `evaluated_at`: when it was evaluated last. `meshes`: meshes with reports in the last
    day. `skipped`: windows that were never evaluated, since the meshes were created.
    """

    lag_s: float
    mesh_id: UUID | None
    evaluated_at: datetime | None
    meshes: int
    skipped: int


def evaluation_lag(session: Session) -> EvaluationLag:
    """Return how far evaluation is behind. Needs a system session."""
    meshes = reported_meshes(session, due.ACTIVE_FOR)
    lags = [(due.lag_s(mesh), mesh) for mesh in meshes]
    lag_s, worst = max(lags, key=lambda one: one[0], default=(0.0, None))
    behind = worst if lag_s > 0 else None
    return EvaluationLag(
        lag_s,
        behind.mesh_id if behind else None,
        datetime.fromtimestamp(behind.looked_at_s, UTC) if behind and behind.looked_at_s else None,
        len(meshes),
        sum(mesh.skipped for mesh in meshes),
    )


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
