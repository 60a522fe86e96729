"""Distributions of selections, and how much delay varies within intervals."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate import group_by, matrix
from sinemora.measurements.aggregate.group_by import DecodedWindows, GroupedDistributions
from sinemora.measurements.aggregate.matrix import Metric, Statistic, Table
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, M2, MAX, MIN, Columns
from sinemora.measurements.codec.llq16 import Ints, Words
from sinemora.measurements.query.budget import Budget
from sinemora.measurements.query.requests import DistributionRequest, Interval, VariabilityRequest
from sinemora.measurements.query.responses import (
    BinsRead,
    DistributionItem,
    DistributionRead,
    VariabilityInterval,
    VariabilityItem,
    VariabilityRead,
)
from sinemora.measurements.query.scan import QueryResponse, Range, decode_windows, range_of
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.query.tables import Column, ResultTable, in_batches
from sinemora.measurements.query.time_series import by_step
from sinemora.meshes.plan import MeshState

QUANTILES = {
    "p1": 0.01,
    "p5": 0.05,
    "p10": 0.1,
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "p9999": 0.9999,
}
# Variability holds one distribution per path and interval: it goes through a range in so many parts.
_PARTS = 100


def distribution(session: Session, mesh: MeshState, asked: DistributionRequest, budget: Budget) -> QueryResponse:
    """Return a distribution per selection. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    found = paths_of(mesh, asked.selections)
    wanted = range_of(asked)
    windows = decode_windows(session, mesh, wanted, sketches=True, vm_keys=vm_keys_of(mesh, found), budget=budget)
    rows = [(one.rows, one.columns) for one in found]
    parts = by_step(windows, rows, 1 << 40, 0, 1, round_trip=asked.metric is Metric.ROUND_TRIP)
    merged = group_by.merge_by_key(parts)
    items = [_distribution(one, merged, number, asked.metric) for number, one in enumerate(found)]
    read = DistributionRead.model_construct(mesh_id=mesh.id, metric=asked.metric, window=wanted.span, items=items)
    sheet = _sheet("distribution", [((item.selection, item.title), item.bins) for item in items], "ns")
    return QueryResponse(lambda: read, lambda: sheet)


def _distribution(one: SelectedPaths, merged: GroupedDistributions, key: int, metric: Metric) -> DistributionItem:
    at = int(np.searchsorted(merged.keys, key))
    there = at < merged.keys.size and merged.keys[at] == key
    column = merged.columns[:, at] if there else np.zeros(8, np.int32)
    count = int(column[COUNT])
    ends = np.cumsum(merged.lengths)
    words = merged.words[ends[at] - merged.lengths[at] : ends[at]] if there else np.empty(0, np.uint16)
    numbers = _numbers(column[:, None]) if count else {}
    return DistributionItem.model_construct(
        selection=one.selection,
        title=one.title,
        count=count,
        min_ns=numbers.get("min"),
        mean_ns=numbers.get("mean"),
        max_ns=numbers.get("max"),
        sd_ns=numbers.get("sd"),
        quantiles_ns=_quantiles(words, int(column[MIN]), int(column[MAX])),
        clock_error_ns=int(column[CLOCK_ERROR]) if count and metric is not Metric.ROUND_TRIP else None,
        bins=_bins(words),
    )


def _numbers(column: Columns) -> dict[str, int]:
    table = Table(column, np.zeros((len(frame.QUANTILES), 1), np.uint16))
    return {
        statistic: int(matrix.statistic_of(table, statistic)[0])
        for statistic in (Statistic.MIN, Statistic.MEAN, Statistic.MAX, Statistic.SD)
    }


def _quantiles(words: Words, low_ns: int, high_ns: int) -> dict[str, int | None]:
    if not words.size:
        return dict.fromkeys(QUANTILES)
    bins = llq16.quantiles(words, np.array([words.size]), list(QUANTILES.values()))[:, 0]
    return dict(zip(QUANTILES, np.clip(llq16.values_of(bins), low_ns, high_ns).tolist(), strict=True))


def _bins(words: Words) -> BinsRead:
    if not words.size:
        return BinsRead(low=[], high=[], count=[], cumulative=[])
    bins = group_by.bins_of(words)
    running = np.cumsum(bins.count)
    return BinsRead.model_construct(
        low=bins.low_ns.tolist(),
        high=bins.high_ns.tolist(),
        count=bins.count.tolist(),
        cumulative=(running / running[-1]).tolist(),
    )


def variability(session: Session, mesh: MeshState, asked: VariabilityRequest, budget: Budget) -> QueryResponse:
    """Standard deviations of each path within intervals, as distributions.

    ProductError `range_invalid`, `range_too_large`, `selection_invalid` …
    """
    found = paths_of(mesh, asked.selections)
    lengths = sorted({interval.seconds for interval in asked.intervals})
    wanted = range_of(asked).aligned(lengths[-1])
    made: dict[tuple[int, int], list[Words]] = {}
    parts = list(_slices(wanted, lengths[-1]))
    for number, part in enumerate(parts):
        share = budget.part(number / len(parts), (number + 1) / len(parts))
        windows = list(
            decode_windows(
                session, mesh, part, sketches=False, vm_keys=vm_keys_of(mesh, found), budget=share, step_s=lengths[0]
            )
        )
        for which, one in enumerate(found):
            for length_s in lengths:
                sd = deviations(windows, one, length_s, part, len(mesh.members), asked.metric is Metric.ROUND_TRIP)
                if sd.size:
                    made.setdefault((which, length_s), []).append(llq16.encode(sd))
    items = [
        VariabilityItem.model_construct(
            selection=one.selection,
            title=one.title,
            intervals=[_interval(interval, made.get((which, interval.seconds), [])) for interval in asked.intervals],
        )
        for which, one in enumerate(found)
    ]
    read = VariabilityRead.model_construct(mesh_id=mesh.id, metric=asked.metric, window=wanted.span, items=items)
    rows = [
        ((item.selection, item.title, interval.interval.value), interval.bins)
        for item in items
        for interval in item.intervals
    ]
    return QueryResponse(lambda: read, lambda: _sheet("variability", rows, "ns"))


def deviations(
    windows: Sequence[DecodedWindows],
    one: SelectedPaths,
    interval_s: int,
    within: Range,
    members: int,
    round_trip: bool,
) -> Ints:
    """Standard deviation (ns) of every path of a selection in every interval with at least two values."""
    first, size = within.steps(interval_s)

    def keyed() -> Iterator[GroupedDistributions]:
        for window in windows:
            some = group_by.select_paths(window, one.rows, one.columns, round_trip=round_trip)
            path = some.sources * members + some.targets
            yield group_by.with_keys(window, some, path * size + some.started_at_s // interval_s - first)

    columns = group_by.merge_by_key(keyed()).columns
    enough = columns[COUNT] > 1
    m2 = np.ascontiguousarray(columns[M2][enough]).view(np.float32).astype(np.float64)
    found: Ints = np.rint(np.sqrt(m2 / columns[COUNT][enough])).astype(np.int64)
    return found


def _slices(whole: Range, step_s: int) -> Iterator[Range]:
    """Yield a range in at most `_PARTS` parts of whole steps."""
    _, steps = whole.steps(step_s)
    at, length = whole.start, timedelta(seconds=step_s * -(-steps // _PARTS))
    while at < whole.end:
        yield Range(at, min(at + length, whole.end))
        at += length


def _interval(interval: Interval, parts: list[Words]) -> VariabilityInterval:
    together = np.concatenate(parts) if parts else np.empty(0, np.uint16)
    words = llq16.merge(together, np.zeros(together.size, np.int64), 1)[0]
    count = int(llq16.COUNT_OF_CODE[words & 31].sum())
    at: list[int | None] = [None] * 4
    if count:
        bins = llq16.quantiles(words, np.array([words.size]), (0.5, 0.9, 0.99, 1.0))[:, 0]
        at = [int(value) for value in llq16.values_of(bins)]
    return VariabilityInterval.model_construct(
        interval=interval, count=count, p50_ns=at[0], p90_ns=at[1], p99_ns=at[2], max_ns=at[3], bins=_bins(words)
    )


def _sheet(name: str, items: Sequence[tuple[tuple[str, ...], BinsRead]], unit: str) -> ResultTable:
    """Histograms as rows, each after what it is of."""
    names = ("selection", "title", "interval")[: len(items[0][0]) if items else 2]
    columns = [
        *(Column(one, "text") for one in names),
        Column(f"low_{unit}", "int"),
        Column(f"high_{unit}", "int"),
        Column("count", "int"),
        Column("cumulative_share", "float"),
    ]

    def batches() -> Iterator[Sequence[Sequence[object]]]:
        for of, bins in items:
            size = len(bins.count)
            yield from in_batches([*([one] * size for one in of), bins.low, bins.high, bins.count, bins.cumulative])

    return ResultTable(name, columns, batches())
