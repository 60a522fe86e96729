"""Merging windows: many frames of the same pairs become one, statistics exactly and sketches really merged.

Counts add up; the smallest and largest delay survive; means are weighted by count; the sums of squared deviations
merge by Chan, Golub and LeVeque (1979), so the variance is that of all values together. The clock error bound is the
largest one; the source of one-way delays is the weakest of any window. Packets sent and lost add up over the windows
where both are known and are -1 (not known) without any. The median of a flow becomes the mean of its
medians, weighted by count: frames hold no sketches of single flows.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import sinemora_native as native

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import (
    COUNT,
    FLOW_COUNT,
    FLOW_MIN,
    FLOW_P50,
    INT32_MAX,
    LOST,
    ROUND_TRIP,
    SENT,
    Codes,
    Columns,
    Frame,
    Sketches,
    Stats,
)
from sinemora.measurements.codec.llq16 import Ints


def merge_columns(columns: Columns, groups: Ints, size: int) -> Columns:
    """Merge columns of shape (8, m), by the group of each, into those of `size` groups, shape (8, size).

    A group without members has count 0, with sent and lost unknown.
    """
    return native.merge_columns(columns, groups, size)


def merge(frames: Sequence[Frame]) -> list[Frame]:
    """Return one frame per VM, towards the targets of all its frames, ascending."""
    pairs = [np.int64(part.vm_key) << 32 | part.targets for part in frames] or [np.empty(0, np.int64)]
    return _merge_pairs(np.concatenate(pairs), [part.stats for part in frames], [part.sketches for part in frames])


def merge_zones(frames: Sequence[Frame], vm_keys: Ints, zone_keys: Ints) -> list[Frame]:
    """Return one frame per zone, towards itself and the zones of larger keys, of all paths between their VMs.

    `zone_keys` are the zones of `vm_keys` (ascending); VMs that are not among them are left out. Outbound leads from
    the frame's zone to the target; within one zone both directions hold all its paths.
    """
    pairs: list[Ints] = []
    stats: list[Stats] = []
    sketches: list[Sketches] = []
    for part in frames:
        source = zone_keys[np.flatnonzero(vm_keys == part.vm_key)]
        at = np.minimum(np.searchsorted(vm_keys, part.targets), vm_keys.size - 1)
        if not source.size or not at.size:
            continue
        known = vm_keys[at] == part.targets
        zones = zone_keys[at]
        for chosen, turned in ((known & (zones >= source), False), (known & (zones <= source), True)):
            positions = np.flatnonzero(chosen)
            if not positions.size:
                continue
            taken, words = part.stats.take(positions), part.sketches.take(positions)
            low, high = np.minimum(source, zones[positions]), np.maximum(source, zones[positions])
            if turned:
                taken, words = _without_round_trips(taken.reversed(), words.reversed(), low == high)
            pairs.append(low << 32 | high)
            # Source ports of different pairs are no flows of one path.
            stats.append(replace(taken, by_flow=np.empty((3, 2, 0), np.int32)))
            sketches.append(words)
    return _merge_pairs(np.concatenate(pairs), stats, sketches) if pairs else []


def _without_round_trips(stats: Stats, sketches: Sketches, those: npt.NDArray[np.bool_]) -> tuple[Stats, Sketches]:
    """Return stats and sketches without the round trips of `those`, which were counted before."""
    stats.columns[:, ROUND_TRIP, those] = 0
    stats.columns[SENT : LOST + 1, ROUND_TRIP, those] = -1
    kept = np.ones(sketches.lengths.shape, bool)
    kept[ROUND_TRIP, those] = False
    words = sketches.words[np.repeat(kept.reshape(-1), sketches.lengths.reshape(-1))]
    return stats, Sketches(np.where(kept, sketches.lengths, 0), words)


def _merge_pairs(pairs: Ints, stats: Sequence[Stats], sketches: Sequence[Sketches]) -> list[Frame]:
    """Return one frame per source; `pairs` are source << 32 | target of every entry of all parts."""
    keys, groups = np.unique(pairs, return_inverse=True)
    merged_stats, merged_sketches = merge_groups(stats, sketches, groups.reshape(-1), keys.size)
    assert merged_sketches is not None
    return cut(keys, merged_stats, merged_sketches)


def cut(keys: Ints, stats: Stats, sketches: Sketches) -> list[Frame]:
    """Return one frame per source; `keys` are source << 32 | target of every entry, ascending."""
    vms, targets = keys >> 32, keys & 0xFFFFFFFF
    bounds = np.flatnonzero(np.concatenate(([True], vms[1:] != vms[:-1], [True])))
    merged = []
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        part = slice(start, end)
        merged.append(Frame(int(vms[start]), targets[part], stats.take(part), sketches.take(part)))
    return merged


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
