"""Queries over a whole mesh: its matrix now or over a range, its worst paths."""

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state, zone_runs
from sinemora.kit.errors import ProductError
from sinemora.measurements import schemas
from sinemora.measurements.aggregate import matrix, merge, zones
from sinemora.measurements.aggregate.estimates import Estimates
from sinemora.measurements.aggregate.matrix import Cells, CellState, Flags, Matrix, Metric, Pairs, Statistic
from sinemora.measurements.codec.flows import Flows, slowest
from sinemora.measurements.codec.frame import ROUND_TRIP, Sketches
from sinemora.measurements.codec.unpacking import DIRECTIONS, ONE_WAY
from sinemora.measurements.query.axis import end_of, keys_of, unit_of
from sinemora.measurements.query.budget import REQUEST, ReadBudget
from sinemora.measurements.query.caches import rollup_cache
from sinemora.measurements.query.matrix import no_service
from sinemora.measurements.query.matrix.newest import earlier_of, newest_pairs, stale_windows
from sinemora.measurements.query.ranges import check_range, read_frames, tiers, utc
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.store import corrections
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store.tiers import Tier

_SOURCES = np.array(schemas.SOURCE_NAMES, object)
# What the clocks have no part in.
_UNBOUNDED = (Metric.LOSS, Metric.JITTER)


@dataclass(frozen=True, slots=True)
class MatrixResult:
    """A matrix with what its axes are and when it is from; `ended_at` is the end of its newest window.

    `more` are those of further statistics.
    """

    mesh: MeshState
    axis: list[schemas.Axis]
    matrix: Matrix
    started_at: datetime | None
    ended_at: datetime | None
    more: tuple[Matrix, ...] = ()
    earlier: Flags | None = None
    no_service: Flags | None = None
    estimates: Estimates | None = None

    @property
    def shown_states(self) -> npt.NDArray[np.uint8]:
        """Return the states as readers see them."""
        states = matrix.shown_states(self.matrix.states, self.earlier, self.no_service)
        if self.estimates is None:
            return states
        return np.where(self.estimates.known, np.uint8(matrix.ESTIMATED), states)

    def binary(self) -> bytes:
        """Return the octet-stream form: all matrices, one after the other. Estimates are values with a state."""
        ended_at_ms = 0 if self.ended_at is None else round(self.ended_at.timestamp() * 1000)
        first = replace(self.matrix, states=self.shown_states)
        if self.estimates is not None:
            known = self.estimates.known
            estimated = np.rint(np.where(known, self.estimates.values_ns, 0)).astype(np.int64)
            first = replace(first, values=np.where(known, estimated, first.values), valued=first.valued | known)
        more = (
            replace(one, states=matrix.shown_states(one.states, self.earlier, self.no_service)) for one in self.more
        )
        return b"".join(one.binary(self.mesh.revision, ended_at_ms) for one in (first, *more))


@dataclass(frozen=True, slots=True)
class MeshWindows:
    """One window of each pair of a mesh as cells of its VMs; `sketches` are those of the pairs, if asked for.

    `earlier`: paths whose window is an earlier one of the period of a mesh that rotates. `no_service`: paths whose
    responder serves nothing since their window.
    """

    cells: Cells
    sketches: Sketches | None
    started_at: datetime | None
    ended_at: datetime | None
    earlier: Flags | None = None
    no_service: Flags | None = None


def read_matrix(session: Session, mesh_id: UUID, request: MatrixRequest, budget: ReadBudget = REQUEST) -> MatrixResult:
    """Read a matrix. ProductError `mesh_unknown`, `range_invalid`, `range_too_large`."""
    return compute_matrix(session, mesh_state(session, mesh_id), request, budget)


def compute_matrix(
    session: Session, mesh: MeshState, request: MatrixRequest, budget: ReadBudget = REQUEST
) -> MatrixResult:
    """Compute a matrix of a mesh that is loaded already.

    ProductError `range_invalid`, `range_too_large`, `flows_unsupported`.
    """
    _check_flows(request)
    if request.by is schemas.By.ZONE and request.from_ is not None and request.to is not None:
        return _zone_range(session, mesh, request, request.from_, request.to, budget)
    by_zone = request.by is schemas.By.ZONE
    found = read_windows(
        session,
        mesh,
        request.from_,
        request.to,
        sketches_of=_merged_directions(request) if by_zone else (),
        quantiles_of=_merged_directions(request),
        flows=request.flows,
        budget=budget,
    )
    if by_zone:
        cells, axis, unserved = _by_zone(mesh, found)
        result = _measure(mesh, axis, cells, request, found.started_at, found.ended_at)
        return replace(result, no_service=unserved)
    axis = [schemas.Axis(id=member.id, name=member.name) for member in mesh.members]
    result = _measure(mesh, axis, found.cells, request, found.started_at, found.ended_at)
    return replace(result, earlier=found.earlier, no_service=found.no_service)


def read_windows(
    session: Session,
    mesh: MeshState,
    start: datetime | None,
    end: datetime | None,
    *,
    sketches_of: Collection[int] = (),
    quantiles_of: Collection[int] = (),
    vm_keys: Collection[int] | None = None,
    flows: Flows = Flows.ALL,
    budget: ReadBudget = REQUEST,
) -> MeshWindows:
    """Return the newest window of every pair of a mesh (or only of clients `vm_keys`), or all from `start` to `end`
    merged.

    Merged windows have quantiles of the directions `quantiles_of` and `sketches_of` only, and sketches of the latter.

    ProductError `range_invalid`, `range_too_large`.
    """
    now_s = None
    if start is None or end is None:
        pairs, merged = newest_pairs(session, mesh, vm_keys=vm_keys, sketches_of=sketches_of)
        now_s = time.time()
        last = int(np.argmax(pairs.ended_at_s)) if pairs.clients.size else None
        started_at = None if last is None else utc(int(pairs.ended_at_s[last] - pairs.window_s[last]))
        ended_at = None if last is None else utc(int(pairs.ended_at_s[last]))
    else:
        started_at, ended_at, pairs, merged = _range(
            session, mesh, start, end, vm_keys, budget, sketches_of, {*sketches_of, *quantiles_of}
        )
    if flows is Flows.SLOWEST:
        pairs = replace(pairs, stats=slowest(pairs.stats))
    cells = matrix.vm_cells(keys_of(mesh), mesh.planned, pairs, now_s, stale_windows(mesh))
    if now_s is None:  # what was measured then was planned then
        cells = replace(cells, planned=cells.planned | (cells.at != matrix.NONE))
        return MeshWindows(cells, merged, started_at, ended_at)
    unserved = no_service.of_cells(session, mesh, pairs, cells)
    return MeshWindows(cells, merged, started_at, ended_at, earlier_of(mesh, pairs, cells, now_s), unserved)


def json_of(result: MatrixResult, request: MatrixRequest) -> schemas.MatrixRead:
    first = result.matrix
    bounded = first.valued if request.of_windows not in _UNBOUNDED else np.zeros(first.states.shape, bool)
    names = np.array(schemas.DEVIATION_STATE_NAMES, object)
    return schemas.MatrixRead.model_construct(
        mesh_id=result.mesh.id,
        revision=result.mesh.revision,
        by=request.by,
        metric=request.metric,
        statistic=request.statistics[0],
        unit=unit_of(request.of_windows),
        window=schemas.Span(from_=result.started_at, to=result.ended_at),
        axis=result.axis,
        values=matrix.nullable(first.values, first.valued),
        more={
            statistic: matrix.nullable(one.values, one.valued)
            for statistic, one in zip(request.statistics[1:], result.more, strict=True)
        },
        clock_error_ns=matrix.nullable(first.clock_error_ns, bounded),
        asymmetry_sources=matrix.nullable(_SOURCES[first.sources], first.sources != matrix.NONE),
        states=names[result.shown_states].tolist(),
        baseline=None,
        estimates=None,
    )


def worst_paths(
    session: Session, mesh_id: UUID, metric: Metric, statistic: Statistic, limit: int
) -> schemas.WorstPaths:
    """Return the paths of the newest matrix with the highest values. ProductError `mesh_unknown`."""
    found = read_matrix(session, mesh_id, MatrixRequest(metric=metric, statistic=statistic))
    ranked = np.where(found.matrix.valued, np.abs(found.matrix.values), -1.0).reshape(-1)
    order = np.argsort(-ranked, kind="stable")[:limit]
    members, size = found.mesh.members, len(found.mesh.members)
    items = []
    for at in order[ranked[order] >= 0].tolist():
        row, column = divmod(at, size)
        items.append(
            schemas.WorstPath(
                source=end_of(members[row]),
                target=end_of(members[column]),
                value=found.matrix.values[row, column].item(),
                clock_error_ns=None if metric in _UNBOUNDED else int(found.matrix.clock_error_ns[row, column]),
                state=schemas.STATE_NAMES[CellState(int(found.matrix.states[row, column]))],
            )
        )
    return schemas.WorstPaths(
        mesh_id=mesh_id,
        revision=found.mesh.revision,
        metric=metric,
        statistic=statistic,
        unit=unit_of(metric),
        items=items,
    )


def _merged_directions(request: MatrixRequest) -> tuple[int, ...]:
    """Return the directions whose sketches must be merged, since a statistic is a quantile of several windows."""
    quantile = any(statistic.quantile is not None for statistic in request.statistics)
    if not quantile or request.metric in (Metric.LOSS, Metric.CLOCK_ERROR):
        return ()
    if request.by is not schemas.By.ZONE and request.from_ is None:
        return ()
    return (ROUND_TRIP,) if request.metric is Metric.ROUND_TRIP else ONE_WAY


def _check_flows(request: MatrixRequest) -> None:
    """Refuse a request for which the slowest flow is not known: ProductError `flows_unsupported`."""
    delays = request.of_windows in (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP) and request.by is schemas.By.VM
    percentiles = all(one.quantile is not None for one in request.statistics)
    if request.flows is Flows.SLOWEST and not (delays and percentiles):
        raise ProductError(
            "flows_unsupported",
            422,
            "Unsupported flows: `slowest` is available for percentiles (p50, p90, p99, p999) of `one_way_delay` and"
            " `round_trip` between VMs. Use `flows=all`.",
        )


def _range(
    session: Session,
    mesh: MeshState,
    start: datetime,
    end: datetime,
    vm_keys: Collection[int] | None,
    budget: ReadBudget,
    sketches_of: Collection[int],
    quantiles_of: Collection[int],
) -> tuple[datetime, datetime, Pairs, Sketches | None]:
    check_range(start, end)
    start, end, parts = tiers(session, mesh.key, start, end)
    ended_at_s = round(end.timestamp())
    one_step = len(parts) == 1 and parts[0].is_step
    words = bool(sketches_of if one_step else quantiles_of)
    words_too = bool(sketches_of)
    if not one_step and vm_keys is None:
        pieces = rollup_cache.pieces(session, mesh.key, parts, directions=quantiles_of, budget=budget)
        if pieces is not None:
            return start, end, *merge.together(pieces, ended_at_s, words_too=words_too)
    shifts = corrections.in_range(session, mesh.key, start, end)
    chunks = read_frames(
        session, mesh.key, parts, sketches=words, vm_keys=vm_keys, budget=budget, by_client=not one_step
    )
    if one_step:
        return start, end, *merge.whole(chunks, ended_at_s, corrections=shifts, sketches_of=sketches_of)
    merged = merge.merged(chunks, ended_at_s, corrections=shifts, quantiles_of=quantiles_of, words_too=words_too)
    return start, end, *merged


def _zone_range(
    session: Session, mesh: MeshState, request: MatrixRequest, start: datetime, end: datetime, budget: ReadBudget
) -> MatrixResult:
    """Zones over a range, from frames of zones; what is not merged yet is merged here."""
    check_range(start, end)
    start, end, parts = tiers(session, mesh.key, start, end)
    raw = [part for part in parts if part.tier is Tier.RAW]
    rolled, directions = [part for part in parts if part.tier is not Tier.RAW], _merged_directions(request)
    pieces = rollup_cache.pieces(session, mesh.key, rolled, directions=directions, zones=True, budget=budget)
    zone_of_vms = frame_queries.zones_of_vms(session, session.info["tenant_key"])
    shifts = corrections.in_range(session, mesh.key, start, end)
    between = [
        zones.merge_zones(merge.gathered(chunk, shifts, DIRECTIONS), *zone_of_vms)
        for chunk in read_frames(session, mesh.key, raw, sketches=True, vm_keys=None, budget=budget)
    ]
    merged = merge.merged_zones(pieces or (), between, directions)
    runs = zone_runs(mesh)
    keys = frame_queries.zone_keys(session, [run.id for run in runs])
    zone_of = np.repeat(np.arange(len(runs)), [run.count for run in runs])
    cells = matrix.zone_pair_cells(keys, zone_of, mesh.planned, merged.clients, merged.targets, merged.stats)
    cells = replace(cells, planned=cells.planned | (cells.at != matrix.NONE))  # as it was then
    return _measure(mesh, [schemas.Axis(id=run.id, name=run.name) for run in runs], cells, request, start, end)


def _measure(
    mesh: MeshState,
    axis: list[schemas.Axis],
    cells: Cells,
    request: MatrixRequest,
    started_at: datetime | None,
    ended_at: datetime | None,
) -> MatrixResult:
    measured = [matrix.measure(cells, request.of_windows, statistic) for statistic in request.statistics]
    return MatrixResult(mesh, axis, measured[0], started_at, ended_at, tuple(measured[1:]))


def _by_zone(mesh: MeshState, found: MeshWindows) -> tuple[Cells, list[schemas.Axis], Flags | None]:
    """Return the cells of the zones, their axis, and the zone pairs none of whose responders serves."""
    runs = zone_runs(mesh)
    zone_of = np.repeat(np.arange(len(runs)), [run.count for run in runs])
    axis = [schemas.Axis(id=run.id, name=run.name) for run in runs]
    cells, flags = found.cells, found.no_service
    unserved = None if flags is None else matrix.of_zones(flags, cells.planned, zone_of, len(runs))
    return matrix.zone_cells(cells, zone_of, len(runs), found.sketches), axis, unserved
