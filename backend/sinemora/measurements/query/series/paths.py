"""Queries of one path: its newest window and its time series."""

import math
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import NotFound, ProductError
from sinemora.measurements import schemas
from sinemora.measurements.aggregate import matrix, merge
from sinemora.measurements.aggregate.matrix import CellState, Metric, Statistic
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, INBOUND, LOST, OUTBOUND, ROUND_TRIP, SENT, Stats
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.axis import end_of
from sinemora.measurements.query.matrix import estimates as estimates_query
from sinemora.measurements.query.matrix import no_service
from sinemora.measurements.query.matrix.newest import earlier_of, newest_pairs, stale_windows
from sinemora.measurements.query.ranges import check_range, check_time, tiers, utc
from sinemora.measurements.store import corrections, frames, path_frames
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange, choose

# A chart has about a thousand columns, so `auto` uses no more steps.
_STEPS_AUTO = 1_500
_STEPS_MAX = 20_000
_TIERS = {
    schemas.Resolution.WINDOW: Tier.RAW,
    schemas.Resolution.MINUTE: Tier.MINUTE,
    schemas.Resolution.QUARTER: Tier.QUARTER,
    schemas.Resolution.HOUR: Tier.HOUR,
    schemas.Resolution.DAY: Tier.DAY,
}
_SPAN = timedelta(hours=1)


def path_now(
    session: Session, mesh_id: UUID, source_id: UUID, target_id: UUID, *, estimates: bool = False
) -> schemas.PathRead:
    """Return the newest window of a path, and an estimate if it has none and `estimates` are asked for.

    ProductError `mesh_unknown`, `path_unknown`.
    """
    mesh = mesh_state(session, mesh_id)
    source, target = path_ends(mesh, source_id, target_id)
    pairs, _ = newest_pairs(session, mesh, vm_keys=(source.key, target.key))
    ends, now_s = np.array([source.key, target.key]), time.time()
    places = [mesh.members.index(end) for end in (source, target)]
    cells = matrix.vm_cells(ends, mesh.planned[np.ix_(places, places)], pairs, now_s, stale_windows(mesh))
    states = matrix.measure(cells, Metric.ONE_WAY_DELAY, Statistic.P50).states
    states = matrix.shown_states(states, earlier_of(mesh, pairs, cells, now_s))
    path = schemas.PathRead(
        source=end_of(source),
        target=end_of(target),
        state=_state_name(int(states[0, 1])),
        started_at=None,
        window_s=None,
        flows=None,
        outbound=None,
        inbound=None,
        round_trip=None,
        by_flow=[],
        slowest_outbound_ns=None,
        slowest_inbound_ns=None,
        timestamp_source=None,
        is_peer_unnamed=False,
        no_service=None,
        estimate=None,
    )
    newest = None if cells.at[0, 1] == matrix.NONE else utc(int(pairs.ended_at_s[int(cells.round_at[0, 1])]))
    if path.state in (schemas.StateName.no_data, schemas.StateName.stale):
        path.no_service = no_service.of_path(session, mesh, (source, target), newest)
        path.state = schemas.StateName.no_service if path.no_service else path.state
    if newest is None:
        if estimates:
            path.estimate = estimates_query.of_path(session, mesh, places[0], places[1])
        return path
    round_trip_states = matrix.measure(cells, Metric.ROUND_TRIP, Statistic.P50).states
    at = int(cells.round_at[0, 1])
    outbound, inbound = (OUTBOUND, INBOUND) if int(pairs.clients[at]) == source.key else (INBOUND, OUTBOUND)
    path.started_at = utc(int(pairs.ended_at_s[at] - pairs.window_s[at]))
    path.window_s, path.flows = int(pairs.window_s[at]), int(pairs.stats.flows[at])
    path.outbound = _one_way(pairs.stats, outbound, at, int(states[0, 1]))
    path.inbound = _one_way(pairs.stats, inbound, at, int(states[1, 0]))
    path.round_trip = schemas.DirectionRead(**_numbers(pairs.stats, ROUND_TRIP, at, int(round_trip_states[0, 1])))
    path.by_flow = _flows(pairs.stats, outbound, inbound, at)
    path.slowest_outbound_ns = _slowest(flow.outbound for flow in path.by_flow)
    path.slowest_inbound_ns = _slowest(flow.inbound for flow in path.by_flow)
    client, responder = int(pairs.clients[at]), pairs.targets[at : at + 1]
    window = client, int(path.started_at.timestamp()), responder
    origin, marks, *residence_ns = frames.notes(session, mesh.key, [window])[:, 0].tolist()
    path.timestamp_source = schemas.TIMESTAMP_SOURCES[origin - 1] if origin else None
    path.is_peer_unnamed = bool(marks & frames.UNNAMED)
    path.outbound.residence_ns, path.inbound.residence_ns = (residence_ns[one] or None for one in (outbound, inbound))
    return path


def _state_name(code: int) -> schemas.StateName:
    return schemas.StateName.earlier if code == matrix.EARLIER else schemas.STATE_NAMES[CellState(code)]


def _flows(stats: Stats, outbound: int, inbound: int, at: int) -> list[schemas.FlowRead]:
    """Return the source ports of a pair that has several."""
    if not stats.by_flow.shape[2]:
        return []
    widths = frame.widths_of(stats.flows)
    first = int(widths[:at].sum())
    ports = range(first, first + int(widths[at]))
    return [
        schemas.FlowRead(
            flow=port - first,
            outbound=_flow_direction(stats, outbound, port),
            inbound=_flow_direction(stats, inbound, port),
        )
        for port in ports
    ]


def _flow_direction(stats: Stats, direction: int, port: int) -> schemas.FlowDirectionRead:
    count, least, median = stats.by_flow[:, direction, port].tolist()
    return schemas.FlowDirectionRead(count=count, min_ns=least if count else None, p50_ns=median if count else None)


def _slowest(flows: Iterable[schemas.FlowDirectionRead]) -> int | None:
    return max((flow.p50_ns for flow in flows if flow.p50_ns is not None), default=None)


def path_ends(mesh: MeshState, source_id: UUID, target_id: UUID) -> tuple[Member, Member]:
    """Return two different members of a mesh. ProductError `path_unknown`."""
    members = {member.id: member for member in mesh.members}
    if source_id == target_id or source_id not in members or target_id not in members:
        raise NotFound("path")
    return members[source_id], members[target_id]


def series(
    session: Session,
    mesh_id: UUID,
    source_id: UUID,
    target_id: UUID,
    start: datetime | None,
    end: datetime | None,
    resolution: schemas.Resolution,
    statistic: Statistic,
) -> schemas.SeriesRead:
    """Return the time series of a path from `start` (default: an hour before `end`) to `end` (default: now).

    ProductError `mesh_unknown`, `path_unknown`, `range_invalid`, `range_too_large`.
    """
    mesh = mesh_state(session, mesh_id)
    source, target = path_ends(mesh, source_id, target_id)
    end = datetime.now(UTC) if end is None else end
    check_time(end)
    start = end - _SPAN if start is None else start
    check_range(start, end)
    window_s = mesh.window_s
    tier = choose(start, end, _STEPS_AUTO, window_s) if resolution is schemas.Resolution.AUTO else _TIERS[resolution]
    step_s = window_s if tier is Tier.RAW else tier.step_s
    first, last = int(start.timestamp()) // step_s, -(-int(end.timestamp()) // step_s)
    if last - first > _STEPS_MAX:
        raise ProductError(
            "range_too_large",
            409,
            f"Range too large: {last - first} steps of {step_s} s, {_STEPS_MAX} allowed. Request a shorter range"
            + (" or a coarser resolution." if tier is not Tier.DAY else "."),
        )
    start, end = utc(first * step_s), utc(last * step_s)
    parts = (
        [TierRange(Tier.RAW, start, end)]
        if tier is Tier.RAW
        else tiers(session, mesh.key, start, end, ROLLED[: ROLLED.index(tier) + 1])[2]
    )
    pair = (mesh.key, source.key, target.key)
    whole = [part for part in parts if part.tier is tier]
    finer = [part for part in parts if part.tier is not tier]
    steps = _steps(
        [_part(session, pair, group, step_s, merges=group is finer) for group in (whole, finer) if group],
        first,
        last - first,
    )
    return schemas.SeriesRead.model_construct(
        source=end_of(source),
        target=end_of(target),
        statistic=statistic,
        resolution_s=step_s,
        points_at=[utc(at * step_s) for at in range(first, last)],
        outbound=_one_way_series(steps, OUTBOUND, statistic),
        inbound=_one_way_series(steps, INBOUND, statistic),
        round_trip=schemas.RoundTripSeries.model_construct(
            delay_ns=_delays(steps, ROUND_TRIP, statistic), loss=_losses(steps, ROUND_TRIP)
        ),
    )


def _part(
    session: Session, pair: tuple[int, int, int], parts: list[TierRange], step_s: int, *, merges: bool
) -> tuple[Ints, Stats]:
    """Return the steps (Unix time / `step_s`) with windows, and their stats; `merges`: some have several windows."""
    windows = [path for part in parts for path in path_frames.paths(session, *pair, part, sketches=merges)]
    step_of = np.array([path.started_at_s // step_s for path in windows], np.int64)
    steps, groups = np.unique(step_of, return_inverse=True)
    if steps.size < step_of.size and not merges:  # windows were shorter earlier, or both VMs were clients
        return _part(session, pair, parts, step_s, merges=True)
    shifts = []
    if windows:
        start, end = (utc(pick(path.started_at_s for path in windows)) for pick in (min, max))
        shifts = corrections.in_range(session, pair[0], start, end + timedelta(seconds=1))
    stats = merge.of_path(windows, pair[1:], groups.reshape(-1), steps.size, shifts, merges=merges)
    return steps, stats


def _steps(parts: list[tuple[Ints, Stats]], first: int, size: int) -> Stats:
    """Return `size` steps from `first`; steps without windows have count 0 and no values."""
    whole = frame.nothing(size)
    for steps, stats in parts:
        whole.columns[:, :, steps - first] = stats.columns
        whole.quantiles[:, :, steps - first] = stats.quantiles
        whole.flows[steps - first] = stats.flows
        whole.asymmetry_source[steps - first] = stats.asymmetry_source
    return whole


def _one_way_series(steps: Stats, direction: int, statistic: Statistic) -> schemas.OneWaySeries:
    errors = steps.columns[CLOCK_ERROR, direction]
    return schemas.OneWaySeries.model_construct(
        delay_ns=_delays(steps, direction, statistic),
        clock_error_ns=matrix.nullable(errors, steps.columns[COUNT, direction] > 0),
        loss=_losses(steps, direction),
    )


def _delays(steps: Stats, direction: int, statistic: Statistic) -> list[int | None]:
    table = matrix.DistributionTable(steps.columns[:, direction], steps.quantiles[:, direction])
    return matrix.nullable(matrix.statistic_of(table, statistic), matrix.has_statistic(table, statistic))


def _losses(steps: Stats, direction: int) -> list[float | None]:
    sent, lost = steps.columns[SENT, direction], steps.columns[LOST, direction]
    return matrix.nullable(np.minimum(lost / np.maximum(sent, 1), 1.0), (sent > 0) & (lost >= 0))


def _one_way(stats: Stats, direction: int, at: int, state: int) -> schemas.OneWayRead:
    error = int(stats.columns[CLOCK_ERROR, direction, at])
    numbers = _numbers(stats, direction, at, state)
    source = schemas.SOURCE_NAMES[int(stats.asymmetry_source[at])]
    return schemas.OneWayRead(
        **numbers, clock_error_ns=error if numbers["count"] else None, asymmetry_source=source, residence_ns=None
    )


def _numbers(stats: Stats, direction: int, at: int, state: int) -> dict[str, Any]:
    column = stats.columns[:, direction, at].tolist()
    count = column[COUNT]
    alone = matrix.DistributionTable(
        stats.columns[:, direction, at : at + 1], stats.quantiles[:, direction, at : at + 1]
    )
    delays = {
        f"{statistic}_ns": matrix.statistic_of(alone, statistic).item()
        if matrix.has_statistic(alone, statistic).item()
        else None
        for statistic in Statistic
    }
    return {
        "state": _state_name(state),
        "count": count,
        "sent": column[SENT] if column[SENT] >= 0 else None,
        "lost": column[LOST] if column[LOST] >= 0 else None,
        **delays,
        "sd_ns": math.sqrt(float(stats.m2[direction, at]) / count) if count else None,
    }
