"""Deviations of paths or zone pairs from their baselines: a matrix, and a single one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
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


@dataclass(frozen=True, slots=True)
class DeviationResult:
    """Deviations with the matrix of values (one-way p50) that they belong to."""

    result: MatrixResult
    deviations: Deviations
    worst_at_s: Ints | None = None
    """Start of the hour (Unix s) that each value is from, the worst of a range."""

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
    of_now = [np.where(now.valued, one, np.nan) for one in (now.values, now.clock_error_ns)]
    at_s = np.full(now.valued.shape, began_at.timestamp(), np.int64)
    stored = _worst_stored(session, mesh, by, hours, version, known, band_ns)
    both = [np.stack(two) for two in zip((*of_now, at_s), stored, strict=True)]
    p50_ns, error_ns, at_s = _worst(both, known, band_ns)
    valued = np.isfinite(p50_ns)
    states = np.where(valued & (now.states != CellState.LOST), np.uint8(CellState.MEASURED), now.states)
    values, errors = (np.rint(np.nan_to_num(one)).astype(np.int64) for one in (p50_ns, error_ns))
    worst_now = replace(now, values=values, clock_error_ns=errors, states=states, valued=valued)
    return DeviationResult(
        replace(result, matrix=worst_now, started_at=hours[0]),
        baselines.deviations_of(worst_now, known, len(hours) + 1),
        at_s,
    )


def _worst_stored(
    session: Session,
    mesh: MeshState,
    by: schemas.By,
    hours: Sequence[datetime],
    version: RowVersion,
    known: Baselines,
    band_ns: Floats,
) -> list[npt.NDArray[Any]]:
    """Return p50, clock error (ns) and start (Unix s) of each path's worst hour, cached while the rows are the same."""
    key = ("worst hours of paths", session.info["tenant_key"], mesh.key, mesh.revision, by, hours[0], version)
    found: list[npt.NDArray[Any]] | None = shared_cache().get(key)
    if found is None:
        for group, p50_ns, error_ns in hourly(session, mesh, by, hours):
            starts_s = np.array([at.timestamp() for at in group], np.int64)
            steps: list[npt.NDArray[Any]] = [p50_ns, error_ns, np.broadcast_to(starts_s[:, None, None], p50_ns.shape)]
            if found is not None:
                steps = [np.concatenate([best[None], more]) for best, more in zip(found, steps, strict=True)]
            found = _worst(steps, known, band_ns)
        shared_cache().put(key, found, sum(one.nbytes for one in found or []))
    return found or []


def _worst(steps: Sequence[npt.NDArray[Any]], known: Baselines, band_ns: Floats) -> list[npt.NDArray[Any]]:
    """Return p50, clock error and start of each path's worst step, of those of all steps."""
    worst = baselines.worst_steps(steps[0], steps[1], known.level_ns, band_ns)
    return [np.take_along_axis(one, worst[None], 0)[0] for one in steps]


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
    """Convert one deviation."""
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
        worst_hour_at=None if found.worst_at_s is None or not valued else utc(int(found.worst_at_s[at])),
    )


def _whole(known: Baselines) -> Ints:
    """Return the levels in whole ns, 0 without one."""
    return np.rint(np.nan_to_num(known.level_ns)).astype(np.int64)
