"""Merging windows: many frames of the same pairs become one, statistics exactly and sketches really merged.

Counts add up; the smallest and largest delay survive; means are weighted by count; the sums of squared deviations
merge by Chan, Golub and LeVeque (1979), so the variance is that of all values together. The clock error bound is the
largest one; the source of one-way delays is the weakest of any window. Packets sent and lost add up over the windows
where both are known and are -1 (not known) without any. The median of a flow becomes the mean of its
medians, weighted by count: frames hold no sketches of single flows.
"""

from collections.abc import Sequence

import numpy as np
import sinemora_native as native

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import (
    COUNT,
    FLOW_COUNT,
    FLOW_MIN,
    FLOW_P50,
    INT32_MAX,
    Codes,
    Columns,
    Sketches,
    Stats,
)
from sinemora.measurements.codec.llq16 import Ints


def merge_columns(columns: Columns, groups: Ints, size: int) -> Columns:
    """Merge columns of shape (8, m), by the group of each, into those of `size` groups, shape (8, size).

    A group without members has count 0, with sent and lost unknown.
    """
    return native.merge_columns(columns, groups, size)


def merge_groups(
    stats: Sequence[Stats], sketches: Sequence[Sketches], groups: Ints, size: int, *, words_too: bool = True
) -> tuple[Stats, Sketches | None]:
    """Return stats and canonical sketches of `size` groups; `groups` names the group of each target of all parts.

    Without sketches there are no quantiles either; without `words_too` only the quantiles of sketches are returned.
    """
    together = frame.concatenate(stats)
    directed = (np.arange(3)[:, None] * size + groups).reshape(-1)
    columns = merge_columns(together.columns.reshape(8, -1), directed, 3 * size).reshape(8, 3, size)
    flows = np.zeros(size, np.uint16)
    np.maximum.at(flows, groups, together.flows)
    sources = np.full(size, frame.HARDWARE, np.uint8)
    measured = (together.columns[COUNT] > 0).any(axis=0)
    np.minimum.at(sources, groups[measured], together.asymmetry_source[measured])
    sources[np.bincount(groups[measured], minlength=size) == 0] = frame.ASSUMED
    by_flow = _flows(together, groups, flows)
    if not sketches:
        return Stats(columns, np.zeros((len(frame.QUANTILES), 3, size), np.uint16), flows, sources, by_flow), None
    codes, merged = merge_sketches(sketches, groups, size, words_too=words_too)
    return Stats(columns, codes, flows, sources, by_flow), merged


def _flows(parts: Stats, groups: Ints, flows: Codes) -> Columns:
    """Return `by_flow` of groups that have `flows` source ports each, merged from all parts."""
    if not parts.by_flow.shape[2]:
        return np.empty((3, 2, 0), np.int32)
    widths, size = frame.widths_of(parts.flows), frame.widths_of(flows)
    within = np.arange(int(widths.sum())) - np.repeat(np.cumsum(widths) - widths, widths)
    at = np.repeat((np.cumsum(size) - size)[groups], widths) + within
    merged = np.zeros((3, 2, int(size.sum())), np.int64)
    low = np.full(merged.shape[1:], INT32_MAX, np.int64)
    for direction in range(2):
        count, least, median = parts.by_flow[:, direction].astype(np.int64)
        np.add.at(merged[FLOW_COUNT, direction], at, count)
        np.add.at(merged[FLOW_P50, direction], at, count * median)
        np.minimum.at(low[direction], at[count > 0], least[count > 0])
    count = merged[FLOW_COUNT]
    merged[FLOW_MIN] = np.where(count > 0, low, 0)
    merged[FLOW_P50] = np.rint(merged[FLOW_P50] / np.maximum(count, 1))
    return np.clip(merged, -INT32_MAX, INT32_MAX).astype(np.int32)


def merge_sketches(
    sketches: Sequence[Sketches], groups: Ints, size: int, *, words_too: bool = True
) -> tuple[Codes, Sketches | None]:
    """Return quantile codes and canonical sketches of `size` groups; `groups` names the group of each target."""
    together = frame.concatenate_sketches(sketches)
    directed = (np.arange(3)[:, None] * size + groups).reshape(-1)
    merged = llq16.merge_groups(
        together.words, together.lengths.reshape(-1), directed, 3 * size, frame.QUANTILES, words_too=words_too
    )
    codes = (merged.bins + 1).astype(np.uint16).reshape(len(frame.QUANTILES), 3, size)
    return codes, None if merged.words is None else Sketches(merged.lengths.reshape(3, size), merged.words)
