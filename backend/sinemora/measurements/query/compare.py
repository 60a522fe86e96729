"""One matrix, two of them and their difference, and the paths that changed most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from sinemora.kit.errors import ProductError
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import Flags, Matrix, Metric, State
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import Codes
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query import matrix as matrix_query
from sinemora.measurements.query import ranges
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.matrix import MatrixQuery, MatrixResult, unit_of
from sinemora.measurements.query.requests import ComparisonRequest, MatrixRequest, MoversRequest, Order
from sinemora.measurements.query.responses import ComparisonRead, Mover, MoversRead
from sinemora.measurements.query.scan import QueryResponse, Range, range_of
from sinemora.measurements.query.tables import Column, ResultTable, in_batches
from sinemora.measurements.schemas import STATE_NAMES, Axis, Span
from sinemora.meshes.plan import MeshState

_UNBOUNDED = (Metric.LOSS, Metric.JITTER, Metric.ROUND_TRIP)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two matrices of one axis. `known` where both have a value; `percent` is NaN where the base is zero."""

    now: Matrix
    base: Matrix
    values: npt.NDArray[Any]
    percent: npt.NDArray[np.float64]
    clock_error_ns: Ints
    known: Flags
    states: npt.NDArray[np.uint8]


def difference_of(now: Matrix, base: Matrix) -> Difference:
    """What has changed from `base` to `now`."""
    known = now.valued & base.valued
    values = np.where(known, now.values - base.values, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(known & (base.values != 0), 100.0 * values / np.abs(base.values), np.nan)
    states = matrix.worse(now.states, base.states)
    states[~known & (states == State.MEASURED)] = State.NO_DATA
    return Difference(now, base, values, percent, now.clock_error_ns + base.clock_error_ns, known, states)


def codes_of(found: Difference, metric: Metric, order: Order) -> Codes:
    """16-bit codes around 32,768, 0 for no value: steps of the LLQ16 bin, of 1/10,000 for loss, of 0.1 percent."""
    if order is Order.PERCENT:
        known = ~np.isnan(found.percent)
        size = np.rint(np.where(known, np.abs(found.percent), 0) * 10)
        sign = np.sign(np.where(known, found.percent, 0))
    else:
        known, sign, size = found.known, np.sign(found.values), np.abs(found.values)
        size = np.rint(size * matrix.LOSS_STEPS) if metric is Metric.LOSS else llq16.bins_of(size)
    codes = matrix.ASYMMETRY_ZERO + sign * np.minimum(size, matrix.ASYMMETRY_ZERO - 1)
    return np.where(known, codes, 0).astype(np.uint16)


def matrix_of(session: Session, mesh: MeshState, asked: MatrixRequest, budget: Budget) -> QueryResponse:
    """Return a matrix as an answer. ProductError `range_invalid`, `range_too_large`."""
    if (asked.from_ is None) != (asked.to is None):
        raise ProductError("range_invalid", 422, "Give both `from` and `to`, or neither.")
    wanted = MatrixQuery(asked.by, asked.metric, asked.statistic, asked.from_, asked.to, tuple(asked.more), asked.flows)
    picture = matrix_query.compute_matrix(session, mesh, wanted, budget)
    return QueryResponse(lambda: matrix_query.json_of(picture, wanted), lambda: _sheet(picture, asked), picture.binary)


def _sheet(picture: MatrixResult, asked: MatrixRequest) -> ResultTable:
    """Return a matrix as a table with a row per path."""
    found = picture.matrix
    sources, targets = _names(picture.axis)
    unit = unit_of(asked.metric)
    kind: Literal["int", "float"] = "int" if unit == "ns" else "float"
    columns = [
        Column("source", "text"),
        Column("target", "text"),
        Column(f"{asked.metric}_{unit}", kind),
        *(Column(f"{asked.metric}_{statistic}_{unit}", kind) for statistic in asked.more),
        Column("clock_error_ns", "int"),
        Column("state", "text"),
    ]
    bounded = found.valued if asked.metric not in _UNBOUNDED else np.zeros(found.valued.shape, bool)
    whole = [
        sources,
        targets,
        matrix.nullable(found.values.ravel(), found.valued.ravel()),
        *(matrix.nullable(one.values.ravel(), one.valued.ravel()) for one in picture.more),
        matrix.nullable(found.clock_error_ns.ravel(), bounded.ravel()),
        _states(found.states),
    ]
    return ResultTable("matrix", columns, in_batches(whole))


def comparison(session: Session, mesh: MeshState, asked: ComparisonRequest, budget: Budget) -> QueryResponse:
    """Two ranges of every path. ProductError `range_invalid`, `range_too_large`."""
    now, base, found = _compare(session, mesh, asked, budget)
    bounded = found.known if asked.metric not in _UNBOUNDED else np.zeros(found.known.shape, bool)

    def read() -> ComparisonRead:
        return ComparisonRead.model_construct(
            mesh_id=mesh.id,
            revision=mesh.revision,
            by=asked.by,
            metric=asked.metric,
            statistic=asked.statistic,
            unit=unit_of(asked.metric),
            window=_span(now),
            base_window=_span(base),
            axis=now.axis,
            values=matrix.nullable(found.now.values, found.now.valued),
            base_values=matrix.nullable(found.base.values, found.base.valued),
            difference=matrix.nullable(found.values, found.known),
            percent=matrix.nullable(found.percent, ~np.isnan(found.percent)),
            clock_error_ns=matrix.nullable(found.clock_error_ns, bounded),
            states=np.array([STATE_NAMES[state] for state in State], object)[found.states].tolist(),
        )

    def sheet() -> ResultTable:
        sources, targets = _names(now.axis)
        flat = [
            sources,
            targets,
            matrix.nullable(found.now.values.ravel(), found.now.valued.ravel()),
            matrix.nullable(found.base.values.ravel(), found.base.valued.ravel()),
            matrix.nullable(found.values.ravel(), found.known.ravel()),
            matrix.nullable(found.percent.ravel(), ~np.isnan(found.percent).ravel()),
            matrix.nullable(found.clock_error_ns.ravel(), bounded.ravel()),
            _states(found.states),
        ]
        return ResultTable("comparison", [*_columns(asked.metric), Column("state", "text")], in_batches(flat))

    def binary() -> bytes:
        ended_at_ms = 0 if now.ended_at is None else round(now.ended_at.timestamp() * 1000)
        codes = codes_of(found, asked.metric, asked.difference)
        return matrix.binary_of(codes, found.states, mesh.revision, ended_at_ms)

    return QueryResponse(read, sheet, binary)


def movers(session: Session, mesh: MeshState, asked: MoversRequest, budget: Budget) -> QueryResponse:
    """Return the paths that changed most, first. ProductError `range_invalid`, `range_too_large`."""
    now, base, found = _compare(session, mesh, asked, budget)
    order = ranked(found, asked.order, asked.limit)
    size = len(now.axis)
    items = [_mover(found, now.axis, at // size, at % size, asked.metric) for at in order.tolist()]
    read = MoversRead.model_construct(
        mesh_id=mesh.id,
        by=asked.by,
        metric=asked.metric,
        statistic=asked.statistic,
        unit=unit_of(asked.metric),
        window=_span(now),
        base_window=_span(base),
        compared=int(found.known.sum()),
        items=items,
    )
    rows: list[list[object]] = [
        [item.source.name for item in items],
        [item.target.name for item in items],
        [item.value for item in items],
        [item.base_value for item in items],
        [item.difference for item in items],
        [item.percent for item in items],
        [item.clock_error_ns for item in items],
    ]
    return QueryResponse(lambda: read, lambda: ResultTable("movers", _columns(asked.metric), in_batches(rows)))


def ranked(found: Difference, order: Order, limit: int) -> Ints:
    """Flat positions of the greatest differences, greatest first; those that did not change are left out."""
    size = np.abs(found.percent if order is Order.PERCENT else found.values).astype(np.float64)
    size = np.where(found.known & ~np.isnan(size), size, 0).ravel()
    first = np.argsort(-size, kind="stable")[:limit]
    return first[size[first] > 0]


def _mover(found: Difference, axis: Sequence[Axis], row: int, column: int, metric: Metric) -> Mover:
    value, percent = found.values[row, column].item(), float(found.percent[row, column])
    error = None if metric in _UNBOUNDED else int(found.clock_error_ns[row, column])
    return Mover(
        source=axis[row],
        target=axis[column],
        value=found.now.values[row, column].item(),
        base_value=found.base.values[row, column].item(),
        difference=value,
        percent=None if np.isnan(percent) else percent,
        clock_error_ns=error,
        beyond_clock_error=None if error is None or metric is Metric.CLOCK_ERROR else abs(value) > error,
    )


def _compare(
    session: Session, mesh: MeshState, asked: ComparisonRequest, budget: Budget
) -> tuple[MatrixResult, MatrixResult, Difference]:
    wanted = range_of(asked)
    base = base_of(asked, wanted)
    pictures = [
        matrix_query.compute_matrix(
            session, mesh, MatrixQuery(asked.by, asked.metric, asked.statistic, part.start, part.end), share
        )
        for part, share in ((wanted, budget.part(0, 0.5)), (base, budget.part(0.5, 1)))
    ]
    return pictures[0], pictures[1], difference_of(pictures[0].matrix, pictures[1].matrix)


def base_of(asked: ComparisonRequest, wanted: Range) -> Range:
    """Return the range compared with. ProductError `range_invalid`."""
    if (asked.base_from is None) != (asked.base_to is None):
        raise ProductError("range_invalid", 422, "Give both `base_from` and `base_to`, or neither.")
    if asked.base_from is None or asked.base_to is None:
        return Range(wanted.start - (wanted.end - wanted.start), wanted.start)
    ranges.check_range(asked.base_from, asked.base_to)
    return Range(asked.base_from, asked.base_to)


def _span(picture: MatrixResult) -> Span:
    return Span(from_=picture.started_at, to=picture.ended_at)


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
    names = [STATE_NAMES[state].value for state in State]
    return [names[state] for state in states.ravel().tolist()]
