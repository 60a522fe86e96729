"""Estimates of the paths of a matrix that have no window, for queries that ask for them. Nothing else uses them."""

from dataclasses import replace

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState, planned
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate import estimates, matrix
from sinemora.measurements.aggregate.estimates import Estimates
from sinemora.measurements.aggregate.matrix import CellState, Metric
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.query.matrix.compute import MatrixResult, compute_matrix
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.schemas import By, EstimateRead, EstimatesRead, PathEstimate


def check(request: MatrixRequest) -> None:
    """Refuse a request whose values cannot be estimated: ProductError `estimates_unsupported`."""
    if request.by is not By.VM or request.metric not in (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP):
        why = "estimates are of `one_way_delay` and `round_trip` between VMs"
    elif request.more or request.flows is not Flows.ALL:
        why = "estimates are of one statistic of all flows. Omit `more` and `flows`"
    else:
        return
    raise ProductError("estimates_unsupported", 422, f"Unsupported: {why}.")


def with_estimates(session: Session, result: MatrixResult, request: MatrixRequest) -> MatrixResult:
    """Return the matrix with estimates of the paths that could be measured and have no window."""
    mesh, found = result.mesh, result.matrix
    key = (
        *("estimates", session.info["tenant_id"], mesh.key, mesh.revision, request.metric, request.statistic),
        *(request.from_, request.to, result.ended_at),
    )
    known: Estimates | None = shared_cache().get(key)
    if known is None:
        unmeasured = np.isin(found.states, (CellState.NOT_PLANNED, CellState.NO_DATA)) & ~found.valued
        measured = found.valued & (found.states == CellState.MEASURED)
        values = np.where(measured, found.values, np.nan)
        known = estimates.estimate(values, _zones(mesh), unmeasured & planned(mesh.members))
        shared_cache().put(key, known, 3 * known.values_ns.nbytes)
    return replace(result, estimates=known)


def json_of(known: Estimates) -> EstimatesRead:
    """Convert estimates to their JSON form."""
    low, value, high = (
        matrix.nullable(np.rint(np.nan_to_num(table)).astype(np.int64), known.known)
        for table in (known.low_ns, known.values_ns, known.high_ns)
    )
    return EstimatesRead.model_construct(
        coverage=estimates.COVERAGE, measured=known.measured, values_ns=value, low_ns=low, high_ns=high
    )


def of_path(session: Session, mesh: MeshState, source: int, target: int) -> PathEstimate | None:
    """Return the estimated one-way delays (p50) between two members, by their places; None if both are unknown."""
    request = MatrixRequest()
    result = with_estimates(session, compute_matrix(session, mesh, request), request)
    assert result.estimates is not None
    outbound, inbound = (_read(result.estimates, at) for at in ((source, target), (target, source)))
    if outbound is None and inbound is None:
        return None
    return PathEstimate(
        coverage=estimates.COVERAGE, measured=result.estimates.measured, outbound=outbound, inbound=inbound
    )


def _read(known: Estimates, at: tuple[int, int]) -> EstimateRead | None:
    if np.isnan(known.values_ns[at]):
        return None
    low, value, high = (round(float(table[at])) for table in (known.low_ns, known.values_ns, known.high_ns))
    return EstimateRead(value_ns=value, low_ns=low, high_ns=high)


def _zones(mesh: MeshState) -> np.ndarray:
    places = {zone_id: at for at, zone_id in enumerate(dict.fromkeys(member.zone_id for member in mesh.members))}
    return np.array([places[member.zone_id] for member in mesh.members], np.int64)
