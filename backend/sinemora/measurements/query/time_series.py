"""Selections over time: delays, and losses by hour or day."""

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import group_by, matrix
from sinemora.measurements.aggregate.group_by import DecodedWindows, GroupedDistributions
from sinemora.measurements.aggregate.matrix import Flags, Metric, Statistic, Table
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, MIN, SENT, Columns
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.matrix import unit_of
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.query.requests import LossRequest, SeriesRequest
from sinemora.measurements.query.responses import LossItem, LossRead, ManySeriesRead, SeriesItem
from sinemora.measurements.query.scan import QueryResponse, decode_windows, range_of, step_of
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.query.tables import Batch, Column, ResultTable, in_batches
from sinemora.meshes.plan import MeshState

_PPM = 1_000_000


def series(session: Session, mesh: MeshState, asked: SeriesRequest, budget: Budget) -> QueryResponse:
    """Values of every selection by step. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    found = paths_of(mesh, asked.selections)
    wanted = range_of(asked)
    step_s = step_of(mesh.window_s, wanted, asked.points)
    wanted = wanted.aligned(step_s)
    first, size = wanted.steps(step_s)
    both = asked.metric is Metric.ASYMMETRY
    rows = [(one.rows, one.columns) for one in found] + [(one.columns, one.rows) for one in found if both]
    needs = asked.metric not in (Metric.LOSS, Metric.CLOCK_ERROR)
    sketches = needs and any(statistic.quantile is not None for statistic in asked.statistics)
    windows = decode_windows(
        session, mesh, wanted, sketches=sketches, vm_keys=vm_keys_of(mesh, found), budget=budget, step_s=step_s
    )
    parts = by_step(windows, rows, step_s, first, size, round_trip=asked.metric is Metric.ROUND_TRIP)
    whole = group_by.merge_by_key(parts).spread(len(rows) * size)
    tables = [_part(whole, at * size, size) for at in range(len(rows))]
    items = [_item(one, asked, tables[at], tables[at + len(found)] if both else None) for at, one in enumerate(found)]
    points = [utc((first + step) * step_s) for step in range(size)]
    read = ManySeriesRead.model_construct(
        mesh_id=mesh.id,
        metric=asked.metric,
        unit=unit_of(asked.metric),
        window=wanted.span,
        resolution_s=step_s,
        points_at=points,
        items=items,
    )
    return QueryResponse(lambda: read, lambda: _series_sheet(read, asked))


def by_step(
    windows: Iterator[DecodedWindows],
    selections: list[tuple[Flags, Flags]],
    step_s: int,
    first: int,
    size: int,
    *,
    round_trip: bool,
) -> Iterator[GroupedDistributions]:
    """Distributions keyed by selection and step: selection · `size` + step, steps counted from `first`."""
    for window in windows:
        for number, (rows, columns) in enumerate(selections):
            found = group_by.select_paths(window, rows, columns, round_trip=round_trip)
            if found.at.size:
                yield group_by.with_keys(window, found, number * size + found.started_at_s // step_s - first)


def _part(table: Table, first: int, size: int) -> Table:
    part = slice(first, first + size)
    return Table(table.columns[:, part], table.quantiles[:, part])


def _item(one: SelectedPaths, asked: SeriesRequest, table: Table, reverse: Table | None) -> SeriesItem:
    count = table.columns[COUNT]
    heard = count > 0
    error = table.columns[CLOCK_ERROR].astype(np.int64)
    if reverse is not None:
        error, heard = error + reverse.columns[CLOCK_ERROR], heard & (reverse.columns[COUNT] > 0)
    loss = ratios(table.columns)
    unbounded = asked.metric in (Metric.LOSS, Metric.JITTER, Metric.ROUND_TRIP)
    return SeriesItem.model_construct(
        selection=one.selection,
        title=one.title,
        values={statistic: _values(asked.metric, statistic, table, reverse) for statistic in asked.statistics},
        clock_error_ns=[None] * count.size if unbounded else matrix.nullable(error, heard),
        loss=matrix.nullable(*loss),
        count=count.tolist(),
    )


def _values(metric: Metric, statistic: Statistic, table: Table, reverse: Table | None) -> list[int | float | None]:
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
    """Lost by sent of each distribution, and where both are known."""
    sent, lost = columns[SENT], columns[LOST]
    return np.minimum(lost / np.maximum(sent, 1), 1.0), (sent > 0) & (lost >= 0)


def _series_sheet(read: ManySeriesRead, asked: SeriesRequest) -> ResultTable:
    unit = f"_{read.unit}"
    columns = [
        Column("at", "time"),
        Column("selection", "text"),
        Column("title", "text"),
        *(Column(f"{statistic}{unit}", "int" if read.unit == "ns" else "float") for statistic in asked.statistics),
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


def losses(session: Session, mesh: MeshState, asked: LossRequest, budget: Budget) -> QueryResponse:
    """Packets sent and lost by interval. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    found = paths_of(mesh, asked.selections)
    step_s = asked.interval.seconds
    wanted = range_of(asked).aligned(step_s)
    first, size = wanted.steps(step_s)
    windows = decode_windows(
        session, mesh, wanted, sketches=False, vm_keys=vm_keys_of(mesh, found), budget=budget, step_s=step_s
    )
    parts = _by_path(windows, found, step_s, first, size, len(mesh.members))
    whole = group_by.merge_by_key(parts)
    paths = len(mesh.members) ** 2 * size
    items = [_loss_item(one, whole, number * paths, paths, size) for number, one in enumerate(found)]
    read = LossRead.model_construct(
        mesh_id=mesh.id,
        interval=asked.interval,
        window=wanted.span,
        points_at=[utc((first + step) * step_s) for step in range(size)],
        items=items,
    )
    return QueryResponse(lambda: read, lambda: _loss_sheet(read))


def _by_path(
    windows: Iterator[DecodedWindows], found: list[SelectedPaths], step_s: int, first: int, size: int, members: int
) -> Iterator[GroupedDistributions]:
    """Distributions keyed by selection, path and step."""
    for window in windows:
        for number, one in enumerate(found):
            some = group_by.select_paths(window, one.rows, one.columns, round_trip=False)
            path = (number * members + some.sources) * members + some.targets
            if some.at.size:
                yield group_by.with_keys(window, some, path * size + some.started_at_s // step_s - first)


def _loss_item(one: SelectedPaths, whole: GroupedDistributions, first: int, paths: int, size: int) -> LossItem:
    mine = slice(*np.searchsorted(whole.keys, (first, first + paths)).tolist())
    columns, steps = whole.columns[:, mine], (whole.keys[mine] - first) % size
    ratio, known = ratios(columns)
    sent, lost = (
        np.bincount(steps[known], weights=columns[which][known], minlength=size).astype(np.int64)
        for which in (SENT, LOST)
    )
    some = sent > 0
    ppm = np.rint(ratio[known] * _PPM).astype(np.int64)
    total_sent, total_lost = int(sent.sum()), int(lost.sum())
    share = _quantiles(ppm, (0.5, 0.99))
    return LossItem.model_construct(
        selection=one.selection,
        title=one.title,
        sent=matrix.nullable(sent, some),
        lost=matrix.nullable(lost, some),
        ratio=matrix.nullable(np.minimum(lost / np.maximum(sent, 1), 1.0), some),
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
    """Exact quantiles (the smallest value with at least that share at or below it), as ratios."""
    if not ppm.size:
        return [None] * len(at)
    ordered = np.sort(ppm)
    return [float(ordered[max(0, int(np.ceil(q * ppm.size)) - 1)]) / _PPM for q in at]


def _loss_sheet(read: LossRead) -> ResultTable:
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
