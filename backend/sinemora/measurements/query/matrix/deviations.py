"""Deviations of paths or zone pairs from their baselines: a matrix, and a single one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError
from sinemora.measurements import schemas
from sinemora.measurements.aggregate import baselines, matrix
from sinemora.measurements.aggregate.baselines import Baselines, Basis, Deviations
from sinemora.measurements.aggregate.matrix import CellState
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.budget import REQUEST, ReadBudget
from sinemora.measurements.query.matrix import compute as matrix_query
from sinemora.measurements.query.matrix.baselines import baselines_of
from sinemora.measurements.query.matrix.compute import MatrixResult
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.query.responses import DeviationRead


@dataclass(frozen=True, slots=True)
class DeviationResult:
    """Deviations with the matrix of values (one-way p50) that they belong to."""

    result: MatrixResult
    deviations: Deviations

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

    The baselines are those at the start of the newest window, or of the range: it is no part of them.
    """
    result = matrix_query.compute_matrix(session, mesh, request, budget)
    now = result.matrix
    current = now.valued & (now.states == CellState.MEASURED)
    if result.started_at is None:
        known = baselines.best_of([], now.valued.shape)
    else:
        # Without a current value, the last ones are what a reader sees.
        known = baselines_of(session, mesh, request.by, result.started_at, current if current.any() else now.valued)
    return DeviationResult(result, baselines.deviations_of(now, known))


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


def deviation(session: Session, mesh_id: UUID, source: UUID, target: UUID, by: schemas.By) -> DeviationRead:
    """Return the deviation of one path or zone pair. ProductError `mesh_unknown`, `path_unknown`."""
    mesh = mesh_state(session, mesh_id)
    found = compute(session, mesh, MatrixRequest(by=by, metric=schemas.DEVIATION), REQUEST)
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
    )


def _whole(known: Baselines) -> Ints:
    """Return the levels in whole ns, 0 without one."""
    return np.rint(np.nan_to_num(known.level_ns)).astype(np.int64)
