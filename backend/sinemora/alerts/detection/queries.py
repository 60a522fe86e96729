"""SQL of detection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session, load_only

from sinemora.alerts.detection import due
from sinemora.alerts.detection.due import BlockReports, MeshReports
from sinemora.alerts.models import AlertState, LateDataProgress
from sinemora.fleet.meshes.models import Mesh
from sinemora.measurements.ingest import presence
from sinemora.measurements.store.binary_rows import fetch, tenant_of
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
        MeshReports(
            row.tenant_id,
            row.id,
            row.window_s,
            row.at,
            blocks[row.key],
            row.evaluated,
            row.looked_at,
            row.reported,
            row.lateness,
            row.skipped,
            row.key,
        )
        for row in meshes
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
    first_s = _first_reported(session, [mesh.key for mesh in meshes if mesh.evaluated_s is None])
    away = presence.last_break()
    lags = [(due.lag_s(mesh, first_s.get(mesh.key), away), mesh) for mesh in meshes]
    lag_s, worst = max(lags, key=lambda one: one[0], default=(0.0, None))
    behind = worst if lag_s > 0 else None
    return EvaluationLag(
        lag_s,
        behind.mesh_id if behind else None,
        datetime.fromtimestamp(behind.looked_at_s, UTC) if behind and behind.looked_at_s else None,
        len(meshes),
        sum(mesh.skipped for mesh in meshes),
    )


def _first_reported(session: Session, mesh_keys: Sequence[int]) -> dict[int, int]:
    """Return the end (Unix s) of the first window of meshes that was reported in time in the last ten minutes."""
    if not mesh_keys:
        return {}
    rows = session.execute(
        text(
            "SELECT mesh_key, extract(epoch FROM min(f.started_at))::bigint + min(f.window_s)"
            " FROM path_latest JOIN probe_frames f USING (tenant_key, mesh_key, vm_key, block)"
            " WHERE mesh_key = ANY(:keys) AND f.started_at >= now() - interval '10 min'"
            " AND f.received_at <= f.started_at + make_interval(secs => f.window_s + :late_s) GROUP BY 1"
        ),
        {"keys": mesh_keys, "late_s": due.LATENESS_MAX_S},
    )
    return {mesh_key: ended_s for mesh_key, ended_s in rows}


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of evaluating a mesh; `AlertState` without the states. Times are Unix s."""

    evaluated_s: int | None
    looked_at_s: float | None
    reported_s: int | None
    watched_since: datetime | None
    baselines_at: datetime | None
    late_ranges: list[list[int]]


_PROGRESS = (
    "SELECT extract(epoch FROM s.evaluated_until)::bigint, extract(epoch FROM s.looked_at)::float8,"
    " extract(epoch FROM s.reported_until)::bigint, s.watched_since, s.baselines_at, s.late_ranges"
)


def progress(session: Session, mesh_id: UUID) -> Progress | None:
    """Return the progress of a mesh; None if none was created."""
    row = session.execute(
        text(f"{_PROGRESS} FROM alert_states s WHERE s.tenant_id = :tenant_id AND s.mesh_id = :mesh_id"),
        {"tenant_id": session.info["tenant_id"], "mesh_id": mesh_id},
    ).one_or_none()
    return None if row is None else Progress(*row)


def claimed(session: Session, mesh_id: UUID) -> Progress | None:
    """Lock a mesh for evaluation and return its progress; None if another process evaluates or deletes it.

    The mesh comes before the state in the order of locks (docs/architecture.md). From then on the transaction waits for
    no lock, and for no statement, so long that other meshes would suffer.
    """
    row = session.execute(
        text(
            f"{_PROGRESS}, set_config('lock_timeout', '1s', true), set_config('statement_timeout', '10s', true)"
            " FROM alert_states s JOIN meshes m ON m.tenant_id = s.tenant_id AND m.id = s.mesh_id"
            " WHERE s.tenant_id = :tenant_id AND s.mesh_id = :mesh_id"
            " FOR KEY SHARE OF m SKIP LOCKED FOR UPDATE OF s SKIP LOCKED"
        ),
        {"tenant_id": session.info["tenant_id"], "mesh_id": mesh_id},
    ).one_or_none()
    return None if row is None else Progress(*row[:-2])


def stored_state(session: Session, mesh_id: UUID) -> tuple[bytes | None, bytes | None]:
    """Return the stored rule states and baselines of a mesh."""
    row = fetch(
        session,
        "SELECT rule_states, baselines FROM alert_states WHERE tenant_id = %(tenant_id)s AND mesh_id = %(mesh_id)s",
        {"tenant_id": session.info["tenant_id"], "mesh_id": mesh_id},
    )[0]
    return row[0], row[1]


def store_state(session: Session, mesh_id: UUID, columns: Mapping[str, Any]) -> None:
    """Store columns of the `AlertState` of a mesh."""
    key = (AlertState.tenant_id == session.info["tenant_id"]) & (AlertState.mesh_id == mesh_id)
    session.connection().execute(update(AlertState).where(key).values(**columns))


def drop_late_ranges(session: Session, mesh_id: UUID, evaluated: Sequence[list[int]], skipped: int) -> None:
    """Remove ranges of late windows that were evaluated, or add the number of windows skipped for their age.

    A range that has grown meanwhile stays. In the order of locks the state comes after the progress on late data.
    """
    if not evaluated:
        return
    state = session.scalars(
        select(AlertState)
        .options(load_only(AlertState.late_ranges, AlertState.windows_skipped))
        .where(AlertState.mesh_id == mesh_id)
        .with_for_update(),
        execution_options={"populate_existing": True},
    ).one()
    state.late_ranges = [one for one in state.late_ranges if one not in evaluated]
    state.windows_skipped += skipped


class MeshFacts(NamedTuple):
    """Presence of what evaluation would have to read for a mesh, by id."""

    applications: bool
    buckets: bool
    incidents: bool


def facts(session: Session, mesh_ids: Sequence[UUID], ended_after: datetime) -> dict[UUID, MeshFacts]:
    """Return of several meshes whether there are applications, token buckets, and incidents since a time."""
    rows = session.execute(
        text(
            "SELECT m.id, EXISTS (SELECT FROM applications a WHERE a.tenant_id = m.tenant_id AND a.mesh_id = m.id),"
            " EXISTS (SELECT FROM token_buckets b JOIN mesh_vms v ON v.tenant_id = b.tenant_id AND v.vm_id = b.vm_id"
            "  WHERE b.tenant_id = m.tenant_id AND v.mesh_id = m.id),"
            " EXISTS (SELECT FROM incidents i WHERE i.tenant_id = m.tenant_id AND i.mesh_id = m.id"
            "  AND i.merged_into IS NULL AND (i.ended_at IS NULL OR i.ended_at >= :ended_after))"
            " FROM meshes m WHERE m.tenant_id = :tenant_id AND m.id = ANY(:ids)"
        ),
        {"tenant_id": session.info["tenant_id"], "ids": list(mesh_ids), "ended_after": ended_after},
    )
    return {mesh_id: MeshFacts(*found) for mesh_id, *found in rows}


class LateBlock(NamedTuple):
    """Block of a window, by mesh, start of the window (Unix s) and VM; `later`: received after the last look."""

    mesh_key: int
    started_s: int
    vm_key: int
    block: int
    later: bool


def recent_blocks(session: Session, spans: Sequence[tuple[int, datetime, datetime, datetime]]) -> list[LateBlock]:
    """Return the blocks of several meshes that were received around their last look or later.

    `spans`: mesh key, start and end of the windows, time of the last look.
    """
    keys, starts, ends, looks = zip(*spans, strict=True)
    rows = fetch(
        session,
        "SELECT f.mesh_key, extract(epoch FROM f.started_at)::bigint, f.vm_key, f.block::int,"
        " f.received_at > span.looked_at"
        " FROM unnest(%(keys)s::int[], %(starts)s::timestamptz[], %(ends)s::timestamptz[], %(looks)s::timestamptz[])"
        " AS span(mesh_key, first_at, last_at, looked_at) JOIN probe_frames f ON f.mesh_key = span.mesh_key"
        " AND f.started_at >= span.first_at AND f.started_at < span.last_at"
        # A report may be committed some time after it was received.
        " AND f.received_at > span.looked_at - interval '10 s'"
        " WHERE f.tenant_key = %(tenant_key)s AND f.started_at >= %(first)s AND f.started_at < %(last)s",
        {
            "tenant_key": tenant_of(session),
            "keys": list(keys),
            "starts": list(starts),
            "ends": list(ends),
            "looks": list(looks),
            "first": min(starts),
            "last": max(ends),
        },
    )
    return [LateBlock(*row) for row in rows]


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


class AgentTimes(NamedTuple):
    """Times of an agent: its VM, its last report, seconds between reports, its last orderly stop and its last start."""

    vm_key: int
    last_report_at: datetime
    report_every_s: int
    stopped_at: datetime | None
    started_at: datetime | None


def agent_times(session: Session, mesh_ids: Sequence[UUID]) -> dict[UUID, list[AgentTimes]]:
    """Return the times of every unrevoked agent of meshes that has reported, by mesh."""
    rows = session.execute(
        text(
            "SELECT m.mesh_id, v.key, a.last_report_at, a.report_every_s, a.stopped_at, a.started_at FROM mesh_vms m"
            " JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id"
            " JOIN agents a ON a.tenant_id = v.tenant_id AND a.vm_id = v.id AND a.revoked_at IS NULL"
            " WHERE m.tenant_id = :tenant_id AND m.mesh_id = ANY(:mesh_ids) AND a.last_report_at IS NOT NULL"
        ),
        {"tenant_id": session.info["tenant_id"], "mesh_ids": list(mesh_ids)},
    )
    found: dict[UUID, list[AgentTimes]] = {mesh_id: [] for mesh_id in mesh_ids}
    for mesh_id, *times in rows:
        found[mesh_id].append(AgentTimes(*times))
    return found


def locked_late_data_progress(session: Session, mesh_id: UUID, now: datetime) -> LateDataProgress | None:
    """Lock a mesh and return its progress on late data.

    None if another process works on it, or deletes it, or there was none: then it begins now.
    """
    mesh = select(Mesh.id).where(Mesh.id == mesh_id).with_for_update(key_share=True, read=True, skip_locked=True)
    if session.scalar(mesh) is None:
        return None
    of_mesh = select(LateDataProgress).where(LateDataProgress.mesh_id == mesh_id)
    row = session.scalars(of_mesh.with_for_update(skip_locked=True)).one_or_none()
    if row is None and session.get(LateDataProgress, mesh_id) is None:
        session.add(LateDataProgress(mesh_id=mesh_id, looked_until=now))
    return row


def watched_meshes(session: Session, since: datetime) -> list[tuple[UUID, UUID]]:
    """Return (tenant, mesh) of all meshes evaluated since a time, in turn by tenant. Needs a system session."""
    turn = func.row_number().over(partition_by=AlertState.tenant_id, order_by=AlertState.mesh_id)
    rows = session.execute(
        select(AlertState.tenant_id, AlertState.mesh_id).where(AlertState.evaluated_until >= since).order_by(turn)
    )
    return [(tenant_id, mesh_id) for tenant_id, mesh_id in rows]
