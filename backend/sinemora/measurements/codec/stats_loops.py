"""Compiled loops of stats in `layouts.py`; frames to be read stand as `layout_loops` says."""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.coding_loops import get, pack, put, unpack, unpack_at
from sinemora.measurements.codec.columns import (
    CLOCK_ERROR,
    COUNT,
    FEWER,
    INBOUND,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    OUTBOUND,
    ROUND_TRIP,
    SENT,
    STATS_SIGNED,
)
from sinemora.measurements.codec.loops import bin_of
from sinemora.measurements.codec.rice import MASK

Array = Any

STATS_COLUMNS = len(STATS_SIGNED)
_SIGNED = np.array(STATS_SIGNED)
_UNSIGNED = np.zeros(6, np.bool_)
_FEWER = np.array((0, *FEWER))


@compiled
def pack_stats(
    columns: Array, quantiles: Array, flows: Array, sources: Array, by_flow: Array, low: Any, high: Any, told_from: Any,
    told_to: Any, words: Array,
) -> Any:  # fmt: skip
    """Write `layouts.pack_stats` of the targets `low` … `high`-1 into words of 0; how many bytes it has.

    Their flows are `told_from` … `told_to`-1 of `by_flow`.
    """
    n, m = high - low, told_to - told_from
    flat, near = np.empty(STATS_COLUMNS * n, np.int64), np.empty(n, np.float32)
    for p in range(n):
        i = low + p
        for direction in range(3):
            count, least = np.int64(columns[COUNT, direction, i]), np.int64(columns[MIN, direction, i])
            mean, most = np.int64(columns[MEAN, direction, i]), np.int64(columns[MAX, direction, i])
            lost = np.int64(columns[LOST, direction, i])
            if direction == OUTBOUND:
                flat[p] = count
            else:
                flat[direction * n + p] = count - columns[COUNT, direction - 1, i]
            flat[(3 + direction) * n + p] = lost
            flat[(6 + direction) * n + p] = columns[SENT, direction, i] - count - lost
            if direction == ROUND_TRIP:
                flat[13 * n + p] = mean - columns[MEAN, OUTBOUND, i] - columns[MEAN, INBOUND, i]
                flat[14 * n + p] = mean - least
            else:
                flat[(9 + direction) * n + p] = least
                flat[(11 + direction) * n + p] = mean - least
            flat[(15 + direction) * n + p] = most - mean
            error = np.int64(columns[CLOCK_ERROR, direction, i])
            flat[(18 + direction) * n + p] = error - (columns[CLOCK_ERROR, OUTBOUND, i] if direction == INBOUND else 0)
            middle = bin_of(mean) + 1 if count > 0 else 0
            largest = bin_of(most) + 1 if count > 0 else 0
            flat[(24 + direction) * n + p] = np.int64(quantiles[0, direction, i]) - middle
            for q in range(1, 4):
                code = np.int64(quantiles[q, direction, i])
                few = count < _FEWER[q]
                flat[(24 + 3 * q + direction) * n + p] = (
                    largest - code if few else code - np.int64(quantiles[q - 1, direction, i])
                )
        flat[36 * n + p] = flows[i]
        flat[37 * n + p] = sources[i]
    for direction in range(3):
        _squares(columns, direction, low, near)
        squares = near.view(np.uint32)
        for p in range(n):
            bits = np.int64(columns[M2, direction, low + p]) & MASK
            flat[(21 + direction) * n + p] = (bits >> 8 | (bits & 0xFF) << 24) - (np.int64(squares[p]) >> 8)
    put(words, 0, 1 if m else 0, 8)
    at = pack(flat, np.arange(STATS_COLUMNS + 1) * n, _SIGNED, words, 8)
    if m:
        told = np.empty(6 * m, np.int64)
        for which in range(3):
            for direction in range(2):
                for f in range(m):
                    number = np.int64(by_flow[which, direction, told_from + f])
                    if which == 2:
                        number -= by_flow[1, direction, told_from + f]
                    told[(2 * which + direction) * m + f] = number
        at = pack(told, np.arange(7) * m, _UNSIGNED, words, at)
    return at // 8


@compiled
def unpack_stats(
    words: Array, at: Array, sizes: Array, targets: Array, first: Array, low: int, high: int, columns: Array,
    quantiles: Array, flows: Array, sources: Array, ends: Array,
) -> None:  # fmt: skip
    """Stats of the frames `low` … `high`-1 into `columns` (8, 3, N) and the others.

    `ends` says how many bytes of a frame were read, where flows are told apart: what follows is theirs; 0 where they
    are not, -1 where the frame says more than it has bytes.
    """
    for f in range(low, high):
        n, to, start = targets[f], first[f], 64 * at[f]
        flat, near = np.empty(STATS_COLUMNS * n, np.int64), np.empty(n, np.float32)
        read = unpack(words, start + 8, start + 8 * sizes[f], np.arange(STATS_COLUMNS + 1) * n, _SIGNED, flat)
        ends[f] = -1 if read < 0 else (read - start) // 8 if get(words, start, 8) else 0
        if read < 0:
            continue
        _restore(flat, n, to, near, columns, quantiles, flows, sources)


@compiled
def unpack_stats_at(
    words: Array, at: Array, sizes: Array, targets: Array, places: Array, low: int, high: int, columns: Array,
    quantiles: Array, flows: Array, sources: Array,
) -> Any:  # fmt: skip
    """Stats of one target (at `places`) of each frame `low` … `high`-1 into `columns` (8, 3, frames) and the others.

    The first frame that tells its flows apart or says more than it has bytes, or -1.
    """
    flat, near = np.empty(STATS_COLUMNS, np.int64), np.empty(1, np.float32)
    for f in range(low, high):
        n, start = targets[f], 64 * at[f]
        end = start + 8 * sizes[f]
        if n == 0 or get(words, start, 8):
            return np.int64(f)
        if not unpack_at(words, start + 8, end, n, _SIGNED, places[f], flat):
            whole = np.empty(STATS_COLUMNS * n, np.int64)
            if unpack(words, start + 8, end, np.arange(STATS_COLUMNS + 1) * n, _SIGNED, whole) < 0:
                return np.int64(f)
            for c in range(STATS_COLUMNS):
                flat[c] = whole[c * n + places[f]]
        _restore(flat, 1, f, near, columns, quantiles, flows, sources)
    return np.int64(-1)


@compiled
def _restore(
    flat: Array, n: Any, to: Any, near: Array, columns: Array, quantiles: Array, flows: Array, sources: Array
) -> None:
    """Stats of `n` targets, from `to` on, out of what their columns hold."""
    for p in range(n):
        i = to + p
        for direction in range(3):
            count, lost = flat[direction * n + p], flat[(3 + direction) * n + p]
            if direction != OUTBOUND:
                count += columns[COUNT, direction - 1, i]
            count = np.int32(count)
            columns[COUNT, direction, i] = count
            columns[LOST, direction, i] = lost
            columns[SENT, direction, i] = flat[(6 + direction) * n + p] + count + lost
            if direction == ROUND_TRIP:
                mean = np.int32(flat[13 * n + p] + columns[MEAN, OUTBOUND, i] + columns[MEAN, INBOUND, i])
                columns[MIN, direction, i] = mean - flat[14 * n + p]
            else:
                least = flat[(9 + direction) * n + p]
                columns[MIN, direction, i] = least
                mean = np.int32(flat[(11 + direction) * n + p] + least)
            columns[MEAN, direction, i] = mean
            most = np.int32(flat[(15 + direction) * n + p] + mean)
            columns[MAX, direction, i] = most
            error = flat[(18 + direction) * n + p]
            if direction == INBOUND:
                error += columns[CLOCK_ERROR, OUTBOUND, i]
            columns[CLOCK_ERROR, direction, i] = error
            code = flat[(24 + direction) * n + p]
            largest: Any = np.int64(0)
            if count > 0:
                code += bin_of(np.int64(mean)) + 1
                largest = bin_of(np.int64(most)) + 1
            code &= 0xFFFF
            quantiles[0, direction, i] = code
            for q in range(1, 4):
                left = flat[(24 + 3 * q + direction) * n + p]
                code = (largest - left if count < _FEWER[q] else code + left) & 0xFFFF
                quantiles[q, direction, i] = code
        flows[i] = flat[36 * n + p]
        sources[i] = flat[37 * n + p]
    for direction in range(3):
        _squares(columns, direction, to, near)
        squares = near.view(np.uint32)
        for p in range(n):
            bits = flat[(21 + direction) * n + p] + (np.int64(squares[p]) >> 8) & MASK
            columns[M2, direction, to + p] = np.int32(bits << 8 | bits >> 24)


@compiled
def _squares(columns: Array, direction: Any, to: Any, near: Array) -> None:
    """`layouts._squares` of the targets from `to` on, as float32."""
    for p in range(near.size):
        span = np.float64(columns[MAX, direction, to + p]) - np.float64(columns[MIN, direction, to + p])
        near[p] = np.float32(span * span * np.float64(columns[COUNT, direction, to + p]))
