"""Distributions of selections, and variability of delay within intervals."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate import group_by, matrix
from sinemora.measurements.aggregate.group_by import DecodedWindows, GroupedDistributions, PathDistributions
from sinemora.measurements.aggregate.matrix import DistributionTable, Metric, Statistic
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, M2, MAX, MIN, Columns
from sinemora.measurements.codec.llq16 import Ints, Words
from sinemora.measurements.query.budget import ReadBudget
from sinemora.measurements.query.requests import DistributionRequest, Interval, VariabilityRequest
from sinemora.measurements.query.responses import (
    BinsRead,
    DistributionItem,
    DistributionRead,
    OverRead,
    VariabilityInterval,
    VariabilityItem,
    VariabilityRead,
)
from sinemora.measurements.query.scan import QueryResponse, Range, check_budget, decode_windows, range_of
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.query.tables import Column, ResultTable, in_batches

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
# Variability needs one distribution per path and interval: it reads a range in at most this number of parts.
_PARTS = 100


def distribution(session: Session, mesh: MeshState, request: DistributionRequest, budget: ReadBudget) -> QueryResponse:
    """Return a distribution per selection. ProductError `range_invalid`, `range_too_large`, `selection_invalid` …"""
    selected = paths_of(mesh, request.selections)
    time_range = range_of(request)
    windows = decode_windows(
        session, mesh, time_range, sketches=True, vm_keys=vm_keys_of(mesh, selected), budget=budget
    )
    rows = [(paths.rows, paths.columns) for paths in selected]
    over = _Over(request.over_ns, len(mesh.members))

    def keyed() -> Iterator[GroupedDistributions]:
        for window in windows:
            for number, (sources, targets) in enumerate(rows):
                found = group_by.select_paths(window, sources, targets, round_trip=request.metric is Metric.ROUND_TRIP)
                if found.at.size:
                    part = group_by.with_keys(window, found, np.full(found.at.size, number))
                    over.add(number, found, part.columns[MAX])
                    yield part

    merged = group_by.merge_by_key(keyed())
    items = [_distribution(paths, merged, number, request.metric, over) for number, paths in enumerate(selected)]
    read = DistributionRead.model_construct(mesh_id=mesh.id, metric=request.metric, window=time_range.span, items=items)
    table = _table("distribution", [((item.selection, item.title), item.bins) for item in items], "ns")
    return QueryResponse(lambda: read, lambda: table)


class _Over:
    """Windows of the paths of selections that have a delay over a limit."""

    def __init__(self, limit_ns: int, members: int) -> None:
        self.limit_ns, self.members = limit_ns, members
        self._starts: dict[int, list[Ints]] = {}
        self._found: dict[int, list[Ints]] = {}

    def add(self, selection: int, paths: PathDistributions, largest_ns: Ints) -> None:
        """Add windows of some paths by their largest delays."""
        self._starts.setdefault(selection, []).append(np.unique(paths.started_at_s))
        over = largest_ns > self.limit_ns
        path = paths.sources[over].astype(np.int64) * self.members + paths.targets[over]
        self._found.setdefault(selection, []).append(np.stack((path, paths.started_at_s[over])))

    def read(self, selection: int, bins: BinsRead) -> OverRead:
        """Return what a selection has over the limit; `bins` are those of all its delays."""
        count = sum(n for low, n in zip(bins.low, bins.count, strict=True) if low >= self.limit_ns)
        spikes = 0
        if selection in self._found:
            path, start = np.concatenate(self._found[selection], axis=1)
            place = np.searchsorted(np.unique(np.concatenate(self._starts[selection])), start)
            order = np.lexsort((place, path))
            path, place = path[order], place[order]
            spikes = int(path.size) - int(((np.diff(path) == 0) & (np.diff(place) <= 1)).sum())
        return OverRead(limit_ns=self.limit_ns, count=count, spikes=spikes)


def _distribution(
    paths: SelectedPaths, merged: GroupedDistributions, key: int, metric: Metric, over: _Over
) -> DistributionItem:
    at = int(np.searchsorted(merged.keys, key))
    present = at < merged.keys.size and merged.keys[at] == key
    column = merged.columns[:, at] if present else np.zeros(8, np.int32)
    count = int(column[COUNT])
    ends = np.cumsum(merged.lengths)
    words = merged.words[ends[at] - merged.lengths[at] : ends[at]] if present else np.empty(0, np.uint16)
    numbers = _numbers(column[:, None]) if count else {}
    bins = _bins(words)
    return DistributionItem.model_construct(
        selection=paths.selection,
        title=paths.title,
        count=count,
        min_ns=numbers.get("min"),
        mean_ns=numbers.get("mean"),
        max_ns=numbers.get("max"),
        sd_ns=numbers.get("sd"),
        quantiles_ns=_quantiles(words, int(column[MIN]), int(column[MAX])),
        clock_error_ns=int(column[CLOCK_ERROR]) if count and metric is not Metric.ROUND_TRIP else None,
        over=over.read(key, bins),
        bins=bins,
    )


def _numbers(column: Columns) -> dict[str, int]:
    table = DistributionTable(column, np.zeros((len(frame.QUANTILES), 1), np.uint16))
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


def variability(session: Session, mesh: MeshState, request: VariabilityRequest, budget: ReadBudget) -> QueryResponse:
    """Return the distributions of the standard deviations of paths within intervals.

    ProductError `range_invalid`, `range_too_large`, `selection_invalid` …
    """
    selected = paths_of(mesh, request.selections)
    lengths = sorted({interval.seconds for interval in request.intervals})
    time_range = range_of(request).aligned(lengths[-1])
    vm_keys = vm_keys_of(mesh, selected)
    check_budget(session, mesh, time_range, vm_keys, budget, lengths[0])  # before any part is read
    words_of: dict[tuple[int, int], list[Words]] = {}
    parts = list(_slices(time_range, lengths[-1]))
    for number, part in enumerate(parts):
        share = budget.part(number / len(parts), (number + 1) / len(parts))
        windows = list(
            decode_windows(session, mesh, part, sketches=False, vm_keys=vm_keys, budget=share, step_s=lengths[0])
        )
        for number_of, paths in enumerate(selected):
            for length_s in lengths:
                sd = deviations(windows, paths, length_s, part, len(mesh.members), request.metric is Metric.ROUND_TRIP)
                if sd.size:
                    words_of.setdefault((number_of, length_s), []).append(llq16.encode(sd))
    items = [
        VariabilityItem.model_construct(
            selection=paths.selection,
            title=paths.title,
            intervals=[
                _interval(interval, words_of.get((number_of, interval.seconds), [])) for interval in request.intervals
            ],
        )
        for number_of, paths in enumerate(selected)
    ]
    read = VariabilityRead.model_construct(mesh_id=mesh.id, metric=request.metric, window=time_range.span, items=items)
    rows = [
        ((item.selection, item.title, interval.interval.value), interval.bins)
        for item in items
        for interval in item.intervals
    ]
    return QueryResponse(lambda: read, lambda: _table("variability", rows, "ns"))


def deviations(
    windows: Sequence[DecodedWindows],
    paths: SelectedPaths,
    interval_s: int,
    within: Range,
    members: int,
    round_trip: bool,
) -> Ints:
    """Return the standard deviation (ns) of every path of a selection in every interval with at least two values."""
    first, size = within.steps(interval_s)

    def keyed() -> Iterator[GroupedDistributions]:
        for window in windows:
            selected = group_by.select_paths(window, paths.rows, paths.columns, round_trip=round_trip)
            path = selected.sources * members + selected.targets
            yield group_by.with_keys(window, selected, path * size + selected.started_at_s // interval_s - first)

    columns = group_by.merge_by_key(keyed()).columns
    enough = columns[COUNT] > 1
    m2 = np.ascontiguousarray(columns[M2][enough]).view(np.float32).astype(np.float64)
    rounded: Ints = np.rint(np.sqrt(m2 / columns[COUNT][enough])).astype(np.int64)
    return rounded


def _slices(whole: Range, step_s: int) -> Iterator[Range]:
    """Yield a range in at most `_PARTS` parts of whole steps."""
    _, steps = whole.steps(step_s)
    at, length = whole.start, timedelta(seconds=step_s * -(-steps // _PARTS))
    while at < whole.end:
        yield Range(at, min(at + length, whole.end))
        at += length


def _interval(interval: Interval, parts: list[Words]) -> VariabilityInterval:
    joined = np.concatenate(parts) if parts else np.empty(0, np.uint16)
    words = llq16.merge(joined, np.zeros(joined.size, np.int64), 1)[0]
    count = int(llq16.COUNT_OF_CODE[words & 31].sum())
    quantiles: list[int | None] = [None] * 4
    if count:
        bins = llq16.quantiles(words, np.array([words.size]), (0.5, 0.9, 0.99, 1.0))[:, 0]
        quantiles = [int(value) for value in llq16.values_of(bins)]
    return VariabilityInterval.model_construct(
        interval=interval,
        count=count,
        p50_ns=quantiles[0],
        p90_ns=quantiles[1],
        p99_ns=quantiles[2],
        max_ns=quantiles[3],
        bins=_bins(words),
    )


def _table(name: str, items: Sequence[tuple[tuple[str, ...], BinsRead]], unit: str) -> ResultTable:
    """Return histograms as rows, each after the names of its selection."""
    names = ("selection", "title", "interval")[: len(items[0][0]) if items else 2]
    columns = [
        *(Column(name_of, "text") for name_of in names),
        Column(f"low_{unit}", "int"),
        Column(f"high_{unit}", "int"),
        Column("count", "int"),
        Column("cumulative_share", "float"),
    ]

    def batches() -> Iterator[Sequence[Sequence[object]]]:
        for labels, bins in items:
            size = len(bins.count)
            yield from in_batches(
                [*([name_of] * size for name_of in labels), bins.low, bins.high, bins.count, bins.cumulative]
            )

    return ResultTable(name, columns, batches())
