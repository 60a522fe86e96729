"""Many directed distributions merged by key: the core of series, distributions, variability and losses.

A *key* names the group of a distribution: a step of a series, a path within an interval. Keys are sparse: only groups
with a distribution take memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sinemora.measurements.aggregate import rollup
from sinemora.measurements.aggregate.matrix import NONE, DistributionTable, Flags, Positions
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import ROUND_TRIP, Columns, Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints, Words

# Pieces of equal rank that are merged with one another at a time.
_TOGETHER = 8


@dataclass(frozen=True, slots=True)
class DecodedWindows:
    """Windows of m pairs: positions of client and target on an axis (`NONE`: not on it), and what was measured."""

    clients: Positions
    targets: Positions
    started_at_s: Ints
    stats: Stats
    sketches: Sketches | None


@dataclass(frozen=True, slots=True)
class PathDistributions:
    """Some directed distributions of `DecodedWindows`.

    `at` counts outbound, inbound and round trip of all pairs, ascending. `sources` and `targets` are positions on the
    axis, of the path as it was sent.
    """

    at: Ints
    sources: Positions
    targets: Positions
    started_at_s: Ints

    def oldest_first(self) -> "PathDistributions":
        """Return the same by time; of one time `at` ascends."""
        order = np.argsort(self.started_at_s, kind="stable")
        return PathDistributions(self.at[order], self.sources[order], self.targets[order], self.started_at_s[order])


@dataclass(frozen=True, slots=True)
class GroupedDistributions:
    """Merged distributions by ascending key: columns of shape (8, k); sketches one after the other, `lengths` words."""

    keys: Ints
    columns: Columns
    words: Words
    lengths: Ints

    def table(self) -> DistributionTable:
        """Columns with the quantiles of the sketches; without sketches there are none."""
        codes = np.zeros((len(frame.QUANTILES), self.keys.size), np.uint16)
        if self.words.size:
            codes = (llq16.summarise(self.words, self.lengths, frame.QUANTILES)[1] + 1).astype(np.uint16)
        return DistributionTable(self.columns, codes)

    def spread(self, size: int) -> DistributionTable:
        """Return the table of all keys 0 … size-1; those without a distribution have count 0 and nothing known."""
        own, whole = self.table(), frame.nothing(size)
        columns, codes = whole.columns[:, 0], whole.quantiles[:, 0]
        columns[:, self.keys] = own.columns
        codes[:, self.keys] = own.quantiles
        return DistributionTable(columns, codes)


def select_paths(windows: DecodedWindows, rows: Flags, columns: Flags, *, round_trip: bool) -> PathDistributions:
    """Return distributions of the paths from a source in `rows` to a target in `columns` (flags by place on the axis).

    Of round trips each pair counts once, if either of its two paths is among those.
    """
    m = windows.clients.size
    known = (windows.clients != NONE) & (windows.targets != NONE) & (windows.clients != windows.targets)
    forth = known & rows[windows.clients] & columns[windows.targets]
    back = known & rows[windows.targets] & columns[windows.clients]
    if round_trip:
        either = np.flatnonzero(forth | back)
        swap = ~forth[either]
        return PathDistributions(
            ROUND_TRIP * m + either,
            np.where(swap, windows.targets[either], windows.clients[either]),
            np.where(swap, windows.clients[either], windows.targets[either]),
            windows.started_at_s[either],
        )
    out, into = np.flatnonzero(forth), np.flatnonzero(back)
    return PathDistributions(
        np.concatenate((out, m + into)),
        np.concatenate((windows.clients[out], windows.targets[into])),
        np.concatenate((windows.targets[out], windows.clients[into])),
        np.concatenate((windows.started_at_s[out], windows.started_at_s[into])),
    )


def with_keys(windows: DecodedWindows, paths: PathDistributions, keys: Ints) -> GroupedDistributions:
    """Return distributions, each under its key and not merged (keys in any order)."""
    columns = windows.stats.columns.reshape(8, -1)[:, paths.at]
    if windows.sketches is None:
        return GroupedDistributions(keys, columns, np.empty(0, np.uint16), np.zeros(keys.size, np.int64))
    lengths = windows.sketches.lengths.reshape(-1)
    kept = np.zeros(lengths.size, bool)
    kept[paths.at] = True
    return GroupedDistributions(keys, columns, windows.sketches.words[np.repeat(kept, lengths)], lengths[paths.at])


def merge_by_key(parts: Iterable[GroupedDistributions]) -> GroupedDistributions:
    """Return all parts merged: each key once.

    Pieces of one rank are merged into one of the next: with n parts, a distribution is merged about log n times, also
    where keys of parts differ (losses have a key for each path and hour).
    """
    ranks: list[list[GroupedDistributions]] = []
    for part in parts:
        piece = _merge([part])
        for rank in ranks:
            rank.append(piece)
            if len(rank) < _TOGETHER:
                break
            piece = _merge(rank)
            rank.clear()
        else:
            ranks.append([piece])
    return _merge([piece for rank in ranks for piece in rank])


def _merge(parts: list[GroupedDistributions]) -> GroupedDistributions:
    if not parts:
        return GroupedDistributions(
            np.empty(0, np.int64), np.empty((8, 0), np.int32), np.empty(0, np.uint16), np.empty(0, np.int64)
        )
    keys, groups = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
    groups = groups.reshape(-1)
    columns = rollup.merge_columns(np.concatenate([part.columns for part in parts], axis=1), groups, keys.size)
    words, lengths = (
        np.concatenate(some) for some in zip(*((part.words, part.lengths) for part in parts), strict=True)
    )
    merged = llq16.merge_groups(words, lengths, groups, keys.size, ())
    assert merged.words is not None
    return GroupedDistributions(keys, columns, merged.words, merged.lengths)


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a distribution that hold values: [low, high) in ns, and the number of values."""

    low_ns: Ints
    high_ns: Ints
    count: Ints


def bins_of(words: Words) -> Bins:
    """Return the bins of one sketch."""
    counts = np.bincount(words >> 5, weights=llq16.COUNT_OF_CODE[words & 31], minlength=1).astype(np.int64)
    present = np.flatnonzero(counts)
    low, high = edges(present)
    return Bins(low, high, counts[present])


def edges(bins: Ints) -> tuple[Ints, Ints]:
    """Return the smallest value of each bin, and that of the next bin, ns."""
    shift = np.maximum(bins // 64 - 1, 0)
    low = np.where(bins < 128, bins, (64 + bins % 64) << shift)
    return low, low + (np.int64(1) << shift)
