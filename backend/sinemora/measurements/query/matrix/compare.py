"""Matrices, and comparison of two matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import CellState, Flags, Matrix, Metric
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.flows import Flows
from sinemora.measurements.codec.frame import Codes
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query import ranges
from sinemora.measurements.query.axis import unit_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.matrix import compute as matrix_query
from sinemora.measurements.query.matrix import deviations, estimates
from sinemora.measurements.query.matrix.compute import MatrixResult
from sinemora.measurements.query.requests import ComparisonRequest, MatrixRequest, Order
from sinemora.measurements.query.responses import ComparisonRead
from sinemora.measurements.query.scan import QueryResponse, Range, range_of
from sinemora.measurements.query.tables import Column, ResultTable, in_batches
from sinemora.measurements.schemas import DEVIATION, DEVIATION_STATE_NAMES, Axis, MatrixRead, Span

_UNBOUNDED = (Metric.LOSS, Metric.JITTER, Metric.ROUND_TRIP)


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two matrices with one axis. `known`: both have a value; `percent` is NaN where the base is zero."""

    now: Matrix
    base: Matrix
    values: npt.NDArray[Any]
    percent: npt.NDArray[np.float64]
    clock_error_ns: Ints
    known: Flags
    states: npt.NDArray[np.uint8]


def difference_of(now: Matrix, base: Matrix) -> Difference:
    """Return the difference `now` - `base`."""
    known = now.valued & base.valued
    values = np.where(known, now.values - base.values, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(known & (base.values != 0), 100.0 * values / np.abs(base.values), np.nan)
    states = matrix.worse(now.states, base.states)
    states[~known & (states == CellState.MEASURED)] = CellState.NO_DATA
    return Difference(now, base, values, percent, now.clock_error_ns + base.clock_error_ns, known, states)


def codes_of(difference: Difference, metric: Metric, order: Order) -> Codes:
    """Return codes around 32,768, 0 for no value: steps of the LLQ16 bin, of 1/10,000 for loss, of 0.1 percent."""
    if order is Order.PERCENT:
        known = ~np.isnan(difference.percent)
        size = np.rint(np.where(known, np.abs(difference.percent), 0) * 10)
        sign = np.sign(np.where(known, difference.percent, 0))
    else:
        known, sign, size = difference.known, np.sign(difference.values), np.abs(difference.values)
        size = np.rint(size * matrix.LOSS_STEPS) if metric is Metric.LOSS else llq16.bins_of(size)
    codes = matrix.ASYMMETRY_ZERO + sign * np.minimum(size, matrix.ASYMMETRY_ZERO - 1)
    return np.where(known, codes, 0).astype(np.uint16)


def matrix_of(session: Session, mesh: MeshState, request: MatrixRequest, budget: ReadBudget) -> QueryResponse:
    """Return the response with a matrix.

    ProductError `range_invalid`, `range_too_large`, `flows_unsupported`, `statistic_unsupported`,
    `estimates_unsupported`.
    """
    ranges.check_ends(request.from_, request.to)
    if request.metric == DEVIATION:
        return _deviations(session, mesh, request, budget)
    if request.estimates:
        estimates.check(request)
    result = matrix_query.compute_matrix(session, mesh, request, budget)
    if request.estimates:
        result = estimates.with_estimates(session, result, request)

    def read() -> MatrixRead:
        matrix_read = matrix_query.json_of(result, request)
        matrix_read.estimates = None if result.estimates is None else estimates.json_of(result.estimates)
        return matrix_read

    return QueryResponse(read, lambda: _table(result, request), result.binary)


def _deviations(session: Session, mesh: MeshState, request: MatrixRequest, budget: ReadBudget) -> QueryResponse:
    """Return the response with deviations from baselines."""
    if request.estimates:
        raise ProductError("estimates_unsupported", 422, "Unsupported: deviations are not estimated.")
    if request.more or request.flows is not Flows.ALL:
        raise ProductError(
            "statistic_unsupported", 422, "Unsupported: `deviation` compares p50 of all flows. Omit `more` and `flows`."
        )
    result = deviations.compute(session, mesh, request, budget)

    def table() -> ResultTable:
        read = deviations.json_of(result, request)
        columns = [
            Column("source", "text"),
            Column("target", "text"),
            Column("deviation_ns", "int"),
            Column("baseline_ns", "int"),
            Column("dead_band_ns", "int"),
            Column("basis", "text"),
            Column("clock_error_ns", "int"),
            Column("state", "text"),
        ]
        baseline = read.baseline
        tables = (
            *((baseline.value_ns, baseline.dead_band_ns, baseline.basis) if baseline else ()),
            read.clock_error_ns,
            read.states,
        )
        flat = [[one for row in rows for one in row] for rows in (read.values, *tables)]
        return ResultTable("matrix", columns, in_batches([*_names(read.axis), *flat]))

    return QueryResponse(lambda: deviations.json_of(result, request), table, result.binary)


def _table(result: MatrixResult, request: MatrixRequest) -> ResultTable:
    """Return a matrix as a table with a row per path."""
    metric = request.of_windows
    first = result.matrix
    sources, targets = _names(result.axis)
    unit = unit_of(metric)
    kind: Literal["int", "float"] = "int" if unit == "ns" else "float"
    columns = [
        Column("source", "text"),
        Column("target", "text"),
        Column(f"{metric}_{unit}", kind),
        *(Column(f"{metric}_{statistic}_{unit}", kind) for statistic in request.more),
        Column("clock_error_ns", "int"),
        Column("state", "text"),
        *(Column(f"estimate{end}_ns", "int") for end in ("", "_low", "_high") if result.estimates is not None),
    ]
    bounded = first.valued if metric not in _UNBOUNDED else np.zeros(first.valued.shape, bool)
    values = [
        sources,
        targets,
        matrix.nullable(first.values.ravel(), first.valued.ravel()),
        *(matrix.nullable(further.values.ravel(), further.valued.ravel()) for further in result.more),
        matrix.nullable(first.clock_error_ns.ravel(), bounded.ravel()),
        _states(result.shown_states),
    ]
    if result.estimates is not None:
        read = estimates.json_of(result.estimates)
        values += [[one for row in table for one in row] for table in (read.values_ns, read.low_ns, read.high_ns)]
    return ResultTable("matrix", columns, in_batches(values))


def comparison(session: Session, mesh: MeshState, request: ComparisonRequest, budget: ReadBudget) -> QueryResponse:
    """Compare all paths between two ranges. ProductError `range_invalid`, `range_too_large`."""
    now, base, difference = _compare(session, mesh, request, budget)
    bounded = difference.known if request.metric not in _UNBOUNDED else np.zeros(difference.known.shape, bool)

    def read() -> ComparisonRead:
        return ComparisonRead.model_construct(
            mesh_id=mesh.id,
            revision=mesh.revision,
            by=request.by,
            metric=request.metric,
            statistic=request.statistic,
            unit=unit_of(request.metric),
            window=_span(now),
            base_window=_span(base),
            axis=now.axis,
            values=matrix.nullable(difference.now.values, difference.now.valued),
            base_values=matrix.nullable(difference.base.values, difference.base.valued),
            difference=matrix.nullable(difference.values, difference.known),
            percent=matrix.nullable(difference.percent, ~np.isnan(difference.percent)),
            clock_error_ns=matrix.nullable(difference.clock_error_ns, bounded),
            states=np.array(DEVIATION_STATE_NAMES, object)[difference.states].tolist(),
        )

    def table() -> ResultTable:
        sources, targets = _names(now.axis)
        values = [
            sources,
            targets,
            matrix.nullable(difference.now.values.ravel(), difference.now.valued.ravel()),
            matrix.nullable(difference.base.values.ravel(), difference.base.valued.ravel()),
            matrix.nullable(difference.values.ravel(), difference.known.ravel()),
            matrix.nullable(difference.percent.ravel(), ~np.isnan(difference.percent).ravel()),
            matrix.nullable(difference.clock_error_ns.ravel(), bounded.ravel()),
            _states(difference.states),
        ]
        return ResultTable("comparison", [*_columns(request.metric), Column("state", "text")], in_batches(values))

    def binary() -> bytes:
        ended_at_ms = 0 if now.ended_at is None else round(now.ended_at.timestamp() * 1000)
        codes = codes_of(difference, request.metric, request.difference)
        return matrix.binary_of(codes, difference.states, mesh.revision, ended_at_ms)

    return QueryResponse(read, table, binary)


def _compare(
    session: Session, mesh: MeshState, request: ComparisonRequest, budget: ReadBudget
) -> tuple[MatrixResult, MatrixResult, Difference]:
    time_range = range_of(request)
    base = base_of(request, time_range)
    results = [
        matrix_query.compute_matrix(
            session,
            mesh,
            MatrixRequest(
                by=request.by, metric=request.metric, statistic=request.statistic, from_=part.start, to=part.end
            ),
            share,
        )
        for part, share in ((time_range, budget.part(0, 0.5)), (base, budget.part(0.5, 1)))
    ]
    return results[0], results[1], difference_of(results[0].matrix, results[1].matrix)


def base_of(request: ComparisonRequest, time_range: Range) -> Range:
    """Return the base range. ProductError `range_invalid`."""
    if (request.base_from is None) != (request.base_to is None):
        raise ProductError("range_invalid", 422, "Invalid range: set both `base_from` and `base_to`, or neither.")
    if request.base_from is None or request.base_to is None:
        return Range(time_range.start - (time_range.end - time_range.start), time_range.start)
    ranges.check_range(request.base_from, request.base_to)
    return Range(request.base_from, request.base_to)


def _span(result: MatrixResult) -> Span:
    return Span(from_=result.started_at, to=result.ended_at)


def _columns(metric: Metric) -> list[Column]:
    unit = unit_of(metric)
    kind: Any = "int" if unit == "ns" else "float"
    return [
        Column("source", "text"),
        Column("target", "text"),
        Column(f"value_{unit}", kind),
        Column(f"base_value_{unit}", kind),
        Column(f"difference_{unit}", kind),
        Column("difference_percent", "float"),
        Column("clock_error_ns", "int"),
    ]


def _names(axis: Sequence[Axis]) -> tuple[list[str], list[str]]:
    names = [end.name for end in axis]
    return [name for name in names for _ in names], names * len(names)


def _states(states: npt.NDArray[np.uint8]) -> list[str]:
    return [str(DEVIATION_STATE_NAMES[state]) for state in states.ravel().tolist()]
