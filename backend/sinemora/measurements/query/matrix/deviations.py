"""Deviations of paths or zone pairs from their baselines: a matrix, and a single one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.measurements import schemas
from sinemora.measurements.aggregate import baselines, matrix
from sinemora.measurements.aggregate.baselines import Baselines, Basis, Deviations, Floats
from sinemora.measurements.aggregate.matrix import CellState
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.budget import REQUEST, ReadBudget
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.matrix import compute as matrix_query
from sinemora.measurements.query.matrix.baselines import DAYS, baselines_of, hourly, of_hours, stored_hours
from sinemora.measurements.query.matrix.compute import MatrixResult
from sinemora.measurements.query.ranges import check_ends, check_range, utc
from sinemora.measurements.query.requests import DeviationRequest, MatrixRequest
from sinemora.measurements.query.responses import DeviationRead
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store.frames import RowVersion
from sinemora.measurements.store.tiers import Tier, TierRange

_HOUR = timedelta(hours=1)


class _Worst(NamedTuple):
    """Steps of paths, or the worst one of each. The last axes are sources and targets.

    `weight` is the sum of a path's relative changes, each times its duration (s), `unusual_s` that of the durations.
    """

    p50_ns: Floats
    clock_error_ns: Floats
    started_at_s: Ints
    unusual_s: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class DeviationResult:
    """Deviations with the matrix of values (one-way p50) that they belong to."""

    result: MatrixResult
    deviations: Deviations
    worst: "_Worst | None" = None
    """The hours that the values are from, of a range longer than an hour."""

    @property
    def shown_states(self) -> npt.NDArray[np.uint8]:
        """Return the states as readers see them."""
        return matrix.shown_states(self.deviations.states, self.result.earlier, self.result.no_service)

    def binary(self) -> bytes:
        """Return the octet-stream form."""
        ended_at = self.result.ended_at
        return replace(self.deviations, states=self.shown_states).binary(
            self.result.mesh.revision, 0 if ended_at is None else round(ended_at.timestamp() * 1000)
        )


def compute(session: Session, mesh: MeshState, request: MatrixRequest, budget: ReadBudget) -> DeviationResult:
    """Compute the deviations of the newest windows or of a range. ProductError `range_invalid`, `range_too_large`.

    The baselines are those at the start of the newest window, or of the range: it is no part of them. In a range longer
    than an hour each path has its worst hour (`_of_worst_hours`).
    """
    check_ends(request.from_, request.to)
    if request.from_ is not None and request.to is not None:
        check_range(request.from_, request.to)
        if request.to - request.from_ > _HOUR and (hours := stored_hours(session, mesh, request.from_, request.to)):
            return _of_worst_hours(session, mesh, request, hours, request.to, budget)
    result = matrix_query.compute_matrix(session, mesh, request, budget)
    now = result.matrix
    current = now.valued & (now.states == CellState.MEASURED)
    if result.started_at is None:
        known = baselines.best_of([], now.valued.shape)
    else:
        # Without a current value, the last ones are what a reader sees.
        known = baselines_of(session, mesh, request.by, result.started_at, current if current.any() else now.valued)
    return DeviationResult(result, baselines.deviations_of(now, known))


def _of_worst_hours(
    session: Session, mesh: MeshState, request: MatrixRequest, hours: list[datetime], end: datetime, budget: ReadBudget
) -> DeviationResult:
    """Compute of each path the deviation of its worst hour among stored `hours`, and what follows them until `end`.

    Usual is the median of the hours of the range, or of `DAYS` up to its end. A path that lost all packets at the end
    has that state.
    """
    by, stored_until = request.by, hours[-1] + _HOUR
    last = request.model_copy(update={"from_": stored_until if stored_until < end else hours[-1], "to": end})
    result = matrix_query.compute_matrix(session, mesh, last, budget)
    now, began_at = result.matrix, result.started_at or stored_until
    known = of_hours(session, mesh, by, stored_hours(session, mesh, min(hours[0], end - DAYS * 24 * _HOUR), end))
    stretch = TierRange(Tier.HOUR, hours[0], stored_until)
    (version,) = frame_queries.versions(session, mesh.key, [stretch], zones=by is schemas.By.ZONE)
    budget.check(version.rows)
    band_ns = baselines.dead_bands(known, now.valued.size * (len(hours) + 1))
    p50_ns, error_ns = (np.where(now.valued, one, np.nan)[None] for one in (now.values, now.clock_error_ns))
    length_s = max(0.0, (end - stored_until).total_seconds())
    steps = [_steps(p50_ns, error_ns, [began_at], length_s, known, band_ns)]
    worst = _worst([*steps, _worst_stored(session, mesh, by, hours, version, known, band_ns)], known, band_ns)
    valued = np.isfinite(worst.p50_ns)
    states = np.where(valued & (now.states != CellState.LOST), np.uint8(CellState.MEASURED), now.states)
    values, errors = (np.rint(np.nan_to_num(one)).astype(np.int64) for one in (worst.p50_ns, worst.clock_error_ns))
    worst_now = replace(now, values=values, clock_error_ns=errors, states=states, valued=valued)
    return DeviationResult(
        replace(result, matrix=worst_now, started_at=hours[0]),
        baselines.deviations_of(worst_now, known, len(hours) + 1),
        worst,
    )


def _worst_stored(
    session: Session,
    mesh: MeshState,
    by: schemas.By,
    hours: Sequence[datetime],
    version: RowVersion,
    known: Baselines,
    band_ns: Floats,
) -> _Worst:
    """Return each path's worst hour, cached while the rows are the same."""
    key = ("worst hours of paths", session.info["tenant_key"], mesh.key, mesh.revision, by, hours[0], version)
    found: _Worst | None = shared_cache().get(key)
    if found is None:
        groups = (
            _worst([_steps(p50_ns, error_ns, group, _HOUR.total_seconds(), known, band_ns)], known, band_ns)
            for group, p50_ns, error_ns in hourly(session, mesh, by, hours)
        )
        found = _worst([*groups], known, band_ns)
        shared_cache().put(key, found, sum(one.nbytes for one in found))
    return found


def _steps(
    p50_ns: Floats,
    clock_error_ns: Floats,
    starts: Sequence[datetime],
    length_s: float,
    known: Baselines,
    band_ns: Floats,
) -> _Worst:
    starts_s = np.array([at.timestamp() for at in starts], np.int64)
    change_ns = np.abs(p50_ns - known.level_ns)
    unusual_s = np.where(change_ns > np.fmax(clock_error_ns, band_ns), np.float32(length_s), np.float32(0))
    weight = np.where(unusual_s > 0, change_ns / known.level_ns * unusual_s, 0)
    return _Worst(p50_ns, clock_error_ns, np.broadcast_to(starts_s[:, None, None], p50_ns.shape), unusual_s, weight)


def _worst(parts: Sequence[_Worst], known: Baselines, band_ns: Floats) -> _Worst:
    """Return each path's worst step, of all steps of these parts, with its sums over them."""
    p50_ns, error_ns, at_s, unusual_s, weight = (
        np.concatenate([one if one.ndim == 3 else one[None] for one in same]) for same in zip(*parts, strict=True)
    )
    worst = baselines.worst_steps(p50_ns, error_ns, known.level_ns, band_ns)[None]
    p50_ns, error_ns, at_s = (np.take_along_axis(one, worst, 0)[0] for one in (p50_ns, error_ns, at_s))
    return _Worst(p50_ns, error_ns, at_s, unusual_s.sum(axis=0), weight.sum(axis=0))


def json_of(found: DeviationResult, request: MatrixRequest) -> schemas.MatrixRead:
    """Convert deviations to the JSON form of a matrix."""
    result, deviations = found.result, found.deviations
    based = deviations.baselines.basis != Basis.NONE
    names = np.array([*schemas.BASIS_NAMES.values()], object)
    read = matrix_query.json_of(result, request)
    read.values = matrix.nullable(deviations.values, deviations.valued)
    read.states = np.array(schemas.DEVIATION_STATE_NAMES, object)[found.shown_states].tolist()
    read.baseline = schemas.BaselineMatrix.model_construct(
        value_ns=matrix.nullable(_whole(deviations.baselines), based),
        dead_band_ns=matrix.nullable(deviations.dead_band_ns, deviations.valued),
        basis=matrix.nullable(names[np.maximum(deviations.baselines.basis.astype(int) - 1, 0)], based),
        steps=deviations.baselines.steps.tolist(),
    )
    return read


def deviation(session: Session, mesh_id: UUID, source: UUID, target: UUID, request: DeviationRequest) -> DeviationRead:
    """Return the deviation of one path or zone pair. ProductError `mesh_unknown`, `path_unknown`, `range_invalid`."""
    mesh = mesh_state(session, mesh_id)
    found = compute(session, mesh, request.of(schemas.DEVIATION), REQUEST)
    places = [_place(found.result.axis, end) for end in (source, target)]
    return read_at(found, *places)


def _place(axis: Sequence[schemas.Axis], end: UUID) -> int:
    place = next((at for at, one in enumerate(axis) if one.id == end), None)
    if place is None:
        raise ProductError("path_unknown", 404, "Unknown path: not in this mesh.")
    return place


def read_at(found: DeviationResult, row: int, column: int) -> DeviationRead:
    at, result, deviations = (row, column), found.result, found.deviations
    known = deviations.baselines
    has_value, has_baseline = bool(deviations.now.valued[at]), known.basis[at] != Basis.NONE
    valued = bool(deviations.valued[at])
    state: schemas.DeviationState = schemas.DEVIATION_STATE_NAMES[int(found.shown_states[at])]
    return DeviationRead(
        source=result.axis[row],
        target=result.axis[column],
        state=state,
        value_ns=int(deviations.now.values[at]) if has_value else None,
        baseline_ns=round(float(known.level_ns[at])) if has_baseline else None,
        deviation_ns=int(deviations.values[at]) if valued else None,
        dead_band_ns=int(deviations.dead_band_ns[at]) if valued else None,
        clock_error_ns=int(deviations.now.clock_error_ns[at]) if has_value else None,
        basis=schemas.BASIS_NAMES[Basis(int(known.basis[at]))] if has_baseline else None,
        steps=int(known.steps[at]),
        is_unusual=bool(abs(deviations.values[at]) > deviations.dead_band_ns[at]) if valued else None,
        worst_hour_at=None if found.worst is None or not valued else utc(int(found.worst.started_at_s[at])),
        unusual_s=None if found.worst is None else round(float(found.worst.unusual_s[at])),
    )


def _whole(known: Baselines) -> Ints:
    """Return the levels in whole ns, 0 without one."""
    return np.rint(np.nan_to_num(known.level_ns)).astype(np.int64)
