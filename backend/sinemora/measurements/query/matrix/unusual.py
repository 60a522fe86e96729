"""The most unusual paths or zone pairs: their deviations, since when they are unusual, and their last hour."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state, zone_of
from sinemora.measurements.aggregate.baselines import NO_BASELINE, Basis
from sinemora.measurements.aggregate.matrix import CellState, Metric
from sinemora.measurements.aggregate.runs import DeadBand, StoredStep
from sinemora.measurements.aggregate.spread import Place, spread
from sinemora.measurements.query.budget import REQUEST
from sinemora.measurements.query.matrix import deviations
from sinemora.measurements.query.matrix.baselines import axis_keys
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.matrix.deviations import DeviationResult
from sinemora.measurements.query.matrix.onsets import PairNow, UnusualHistory, histories
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import DeviationsRequest, MatrixRequest
from sinemora.measurements.query.responses import DeviationsRead, LosingPath, StepsRead, UnusualRead, UnusualSince
from sinemora.measurements.schemas import BASIS_NAMES, DEVIATION, By, Span

Floats = npt.NDArray[np.float64]

LOSS_MIN = 0.15
"""Smallest loss of a path that is listed: two packets of a window of ten exchanges."""
LOSS_MIN_OF_RANGE = 0.05
"""Smallest loss of a path that is listed for a range: there are more packets, so less is certain."""


def most_unusual(session: Session, mesh_id: UUID, request: DeviationsRequest) -> DeviationsRead:
    """Return the paths or zone pairs outside their dead bands now or in a range, and those that lose much.

    Slower ones come before faster ones, most dead bands first; of paths, each cause once before its other paths. Of a
    range longer than an hour the largest relative change × duration comes first, and each cause is listed once.
    ProductError `mesh_unknown`, `range_invalid`, `range_too_large`.
    """
    mesh, by, limit = mesh_state(session, mesh_id), request.by, request.limit
    found = deviations.compute(session, mesh, request.of(DEVIATION), REQUEST)
    deviated, axis = found.deviations, found.result.axis
    current = deviated.states == CellState.MEASURED
    unusual = deviated.unusual & current
    zones = zone_of(mesh) if by is By.VM else None
    alike: dict[Place, int] = {}
    for direction in (deviated.values > 0, deviated.values < 0):
        weight = deviated.severity if found.worst is None else found.worst.weight
        severity = np.where(unusual & direction, weight, 0.0)
        alike |= spread(severity, limit - len(alike), zones, once=found.worst is not None)
    places = [*alike]
    loss = _losses(session, mesh, request.of(Metric.LOSS))
    counts = np.bincount(deviated.baselines.basis[deviated.valued & current], minlength=len(Basis))
    return DeviationsRead(
        mesh_id=mesh_id,
        revision=mesh.revision,
        by=by,
        window=Span(from_=found.result.started_at, to=found.result.ended_at),
        compared=int((deviated.valued & current).sum()),
        unusual=int(unusual.sum()),
        no_baseline=int((deviated.states == NO_BASELINE).sum()),
        basis={name: int(counts[basis]) for basis, name in BASIS_NAMES.items()},
        items=[
            UnusualRead(**deviations.read_at(found, *at).model_dump(), **one.model_dump(), alike=alike[at])
            for at, one in zip(places, since(session, mesh, by, found, places), strict=True)
        ],
        losing=int((loss > 0).sum()),
        losses=[
            LosingPath(source=axis[row], target=axis[column], loss=float(loss[row, column]))
            for row, column in spread(loss, limit, zones)
        ],
    )


def _losses(session: Session, mesh: MeshState, request: MatrixRequest) -> Floats:
    """Return the share of packets that each path lost, now or in a range, 0 where too little to be listed."""
    lost = compute_matrix(session, mesh, request, REQUEST).matrix
    known = lost.valued & (lost.states == CellState.MEASURED)
    loss: Floats = np.where(lost.states == CellState.LOST, 1.0, np.where(known, lost.values, 0.0))
    least = LOSS_MIN if request.from_ is None else LOSS_MIN_OF_RANGE
    return np.where(loss >= least, loss, 0.0)


def since(
    session: Session, mesh: MeshState, by: By, found: DeviationResult, places: Sequence[tuple[int, int]]
) -> list[UnusualSince]:
    """Return since when the paths or zone pairs at these places, which are all unusual, have been so.

    Of a longer range it is the worst hour.
    """
    if found.worst is not None:
        none = StepsRead(points_at=[], delay_ns=[])
        worst = [utc(int(found.worst.started_at_s[place])) for place in places]
        return [UnusualSince(onset_at=at, is_onset_known=True, last_hour=none) for at in worst]
    started_at, ended_at = found.result.started_at, found.result.ended_at
    if started_at is None or ended_at is None or not places:
        return []
    keys = axis_keys(session, mesh, by)
    span = round(started_at.timestamp()), round(ended_at.timestamp())
    pairs = []
    for row, column in places:
        delay_ns = int(found.deviations.now.values[row, column])
        usual_ns = delay_ns - int(found.deviations.values[row, column])
        band = DeadBand(usual_ns, int(found.deviations.dead_band_ns[row, column]))
        pairs.append(PairNow(int(keys[row]), int(keys[column]), band, StoredStep(*span, delay_ns)))
    return [_read(history) for history in histories(session, mesh, by, pairs)]


def _read(history: UnusualHistory) -> UnusualSince:
    return UnusualSince(
        onset_at=utc(history.onset_at_s),
        is_onset_known=history.is_onset_known,
        last_hour=StepsRead(
            points_at=[utc(step.started_at_s) for step in history.last_hour],
            delay_ns=[step.delay_ns for step in history.last_hour],
        ),
    )
