"""Time series of selections: delays, and losses by hour or day."""

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate import group_by, matrix
from sinemora.measurements.aggregate.group_by import DecodedWindows, GroupedDistributions
from sinemora.measurements.aggregate.matrix import DistributionTable, Flags, Metric, Statistic
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, MIN, SENT, Columns
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.axis import unit_of
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import LossRequest, SeriesRequest
from sinemora.measurements.query.responses import LossItem, LossRead, ManySeriesRead, SeriesItem
from sinemora.measurements.query.scan import QueryResponse, decode_windows, range_of, step_of
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.query.tables import Batch, Column, ResultTable, in_batches

_PPM = 1_000_000


def series(session: Session, mesh: MeshState, request: SeriesRequest, budget: ReadBudget) -> QueryResponse:
    """Return time series of selections. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    selected = paths_of(mesh, request.selections)
    time_range = range_of(request)
    step_s = step_of(mesh.window_s, time_range, request.points)
    time_range = time_range.aligned(step_s)
    first, size = time_range.steps(step_s)
    asymmetry = request.metric is Metric.ASYMMETRY
    rows = [(paths.rows, paths.columns) for paths in selected] + [
        (paths.columns, paths.rows) for paths in selected if asymmetry
    ]
    needs = request.metric not in (Metric.LOSS, Metric.CLOCK_ERROR)
    sketches = needs and any(statistic.quantile is not None for statistic in request.statistics)
    windows = decode_windows(
        session, mesh, time_range, sketches=sketches, vm_keys=vm_keys_of(mesh, selected), budget=budget, step_s=step_s
    )
    parts = by_step(windows, rows, step_s, first, size, round_trip=request.metric is Metric.ROUND_TRIP)
    whole = group_by.merge_by_key(parts).spread(len(rows) * size)
    tables = [_part(whole, at * size, size) for at in range(len(rows))]
    items = [
        _item(paths, request, tables[at], tables[at + len(selected)] if asymmetry else None)
        for at, paths in enumerate(selected)
    ]
    points = [utc((first + step) * step_s) for step in range(size)]
    read = ManySeriesRead.model_construct(
        mesh_id=mesh.id,
        metric=request.metric,
        unit=unit_of(request.metric),
        window=time_range.span,
        resolution_s=step_s,
        points_at=points,
        items=items,
    )
    return QueryResponse(lambda: read, lambda: _series_table(read, request))


def by_step(
    windows: Iterator[DecodedWindows],
    selections: list[tuple[Flags, Flags]],
    step_s: int,
    first: int,
    size: int,
    *,
    round_trip: bool,
) -> Iterator[GroupedDistributions]:
    """Yield distributions by selection and step; keys are selection · `size` + step, steps counted from `first`."""
    for window in windows:
        for number, (rows, columns) in enumerate(selections):
            selected = group_by.select_paths(window, rows, columns, round_trip=round_trip)
            if selected.at.size:
                yield group_by.with_keys(window, selected, number * size + selected.started_at_s // step_s - first)


def _part(table: DistributionTable, first: int, size: int) -> DistributionTable:
    part = slice(first, first + size)
    return DistributionTable(table.columns[:, part], table.quantiles[:, part])


def _item(
    paths: SelectedPaths, request: SeriesRequest, table: DistributionTable, reverse: DistributionTable | None
) -> SeriesItem:
    count = table.columns[COUNT]
    measured = count > 0
    error = table.columns[CLOCK_ERROR].astype(np.int64)
    if reverse is not None:
        error, measured = error + reverse.columns[CLOCK_ERROR], measured & (reverse.columns[COUNT] > 0)
    loss = ratios(table.columns)
    unbounded = request.metric in (Metric.LOSS, Metric.JITTER, Metric.ROUND_TRIP)
    return SeriesItem.model_construct(
        selection=paths.selection,
        title=paths.title,
        values={statistic: _values(request.metric, statistic, table, reverse) for statistic in request.statistics},
        clock_error_ns=[None] * count.size if unbounded else matrix.nullable(error, measured),
        loss=matrix.nullable(*loss),
        count=count.tolist(),
    )


def _values(
    metric: Metric, statistic: Statistic, table: DistributionTable, reverse: DistributionTable | None
) -> list[int | float | None]:
    if metric is Metric.LOSS:
        return matrix.nullable(*ratios(table.columns))
    if metric is Metric.CLOCK_ERROR:
        return matrix.nullable(table.columns[CLOCK_ERROR], table.columns[COUNT] > 0)
    values, known = matrix.statistic_of(table, statistic), matrix.has_statistic(table, statistic)
    if reverse is not None:
        values = values - matrix.statistic_of(reverse, statistic)
        known = known & matrix.has_statistic(reverse, statistic)
    elif metric is Metric.JITTER and statistic is not Statistic.SD:
        values = values - table.columns[MIN]
    return matrix.nullable(values, known)


def ratios(columns: Columns) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], Flags]:
    """Return lost / sent of each distribution, and where both are known."""
    sent, lost = columns[SENT], columns[LOST]
    return np.minimum(lost / np.maximum(sent, 1), 1.0), (sent > 0) & (lost >= 0)


def _series_table(read: ManySeriesRead, request: SeriesRequest) -> ResultTable:
    unit = f"_{read.unit}"
    columns = [
        Column("at", "time"),
        Column("selection", "text"),
        Column("title", "text"),
        *(Column(f"{statistic}{unit}", "int" if read.unit == "ns" else "float") for statistic in request.statistics),
        Column("clock_error_ns", "int"),
        Column("loss_ratio", "float"),
        Column("count", "int"),
    ]

    def batches() -> Iterator[Batch]:
        size = len(read.points_at)
        for item in read.items:
            whole: list[Sequence[object]] = [
                read.points_at,
                [item.selection] * size,
                [item.title] * size,
                *item.values.values(),
                item.clock_error_ns,
                item.loss,
                item.count,
            ]
            yield from in_batches(whole)

    return ResultTable("series", columns, batches())


def losses(session: Session, mesh: MeshState, request: LossRequest, budget: ReadBudget) -> QueryResponse:
    """Return packets sent and lost by interval. ProductError `range_invalid`, `range_too_large` …"""
    selected = paths_of(mesh, request.selections)
    step_s = request.interval.seconds
    time_range = range_of(request).aligned(step_s)
    first, size = time_range.steps(step_s)
    windows = decode_windows(
        session, mesh, time_range, sketches=False, vm_keys=vm_keys_of(mesh, selected), budget=budget, step_s=step_s
    )
    parts = _by_path(windows, selected, step_s, first, size, len(mesh.members))
    whole = group_by.merge_by_key(parts)
    paths = len(mesh.members) ** 2 * size
    items = [_loss_item(selection, whole, number * paths, paths, size) for number, selection in enumerate(selected)]
    read = LossRead.model_construct(
        mesh_id=mesh.id,
        interval=request.interval,
        window=time_range.span,
        points_at=[utc((first + step) * step_s) for step in range(size)],
        items=items,
    )
    return QueryResponse(lambda: read, lambda: _loss_table(read))


def _by_path(
    windows: Iterator[DecodedWindows], selections: list[SelectedPaths], step_s: int, first: int, size: int, members: int
) -> Iterator[GroupedDistributions]:
    """Yield distributions by selection, path and step."""
    for window in windows:
        for number, selection in enumerate(selections):
            selected = group_by.select_paths(window, selection.rows, selection.columns, round_trip=False)
            path = (number * members + selected.sources) * members + selected.targets
            if selected.at.size:
                yield group_by.with_keys(window, selected, path * size + selected.started_at_s // step_s - first)


def _loss_item(selection: SelectedPaths, whole: GroupedDistributions, first: int, paths: int, size: int) -> LossItem:
    own = slice(*np.searchsorted(whole.keys, (first, first + paths)).tolist())
    columns, steps = whole.columns[:, own], (whole.keys[own] - first) % size
    ratio, known = ratios(columns)
    sent, lost = (
        np.bincount(steps[known], weights=columns[which][known], minlength=size).astype(np.int64)
        for which in (SENT, LOST)
    )
    measured = sent > 0
    ppm = np.rint(ratio[known] * _PPM).astype(np.int64)
    total_sent, total_lost = int(sent.sum()), int(lost.sum())
    share = _quantiles(ppm, (0.5, 0.99))
    return LossItem.model_construct(
        selection=selection.selection,
        title=selection.title,
        sent=matrix.nullable(sent, measured),
        lost=matrix.nullable(lost, measured),
        ratio=matrix.nullable(np.minimum(lost / np.maximum(sent, 1), 1.0), measured),
        sent_total=total_sent or None,
        lost_total=total_lost if total_sent else None,
        ratio_total=total_lost / total_sent if total_sent else None,
        path_intervals=int(ppm.size),
        lossless_share=float((columns[LOST][known] == 0).mean()) if ppm.size else None,
        ratio_p50=share[0],
        ratio_p99=share[1],
        ratio_max=float(ratio[known].max()) if ppm.size else None,
    )


def _quantiles(ppm: Ints, at: tuple[float, ...]) -> list[float | None]:
    """Return exact quantiles (the smallest value with at least that share at or below it), as ratios."""
    if not ppm.size:
        return [None] * len(at)
    ordered = np.sort(ppm)
    return [float(ordered[max(0, int(np.ceil(q * ppm.size)) - 1)]) / _PPM for q in at]


def _loss_table(read: LossRead) -> ResultTable:
    columns = [
        Column("at", "time"),
        Column("selection", "text"),
        Column("title", "text"),
        Column("sent", "int"),
        Column("lost", "int"),
        Column("loss_ratio", "float"),
    ]

    def batches() -> Iterator[Batch]:
        size = len(read.points_at)
        for item in read.items:
            yield from in_batches(
                [read.points_at, [item.selection] * size, [item.title] * size, item.sent, item.lost, item.ratio]
            )

    return ResultTable("losses", columns, batches())
