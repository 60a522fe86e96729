"""Compiled loops that read one number of each target from stats, and of the other columns what it stands on only.

Blocks stand as `layout_loops` says. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.coding_loops import get, unpack
from sinemora.measurements.codec.columns import FEWER, STATS_SIGNED
from sinemora.measurements.codec.loops import bin_of
from sinemora.measurements.codec.rice import BASE, MASK, REST, RESTS_MAX, K

Array = Any

_SIGNED = np.array(STATS_SIGNED)
_COLUMNS = len(STATS_SIGNED)
_FEWER = np.array((0, *FEWER))
# Columns of stats: three counts, what the mean of a round trip is made of, how far its maximum is, its p50.
_COUNTS, _MEAN, _MAX, _P50 = (0, 1, 2), (9, 10, 11, 12, 13), 17, 26
_STANDS_ON = np.array([at in {*_COUNTS, *_MEAN, _P50} for at in range(_COLUMNS)])
_ONE = np.uint64(1)


@compiled
def round_trip_codes(
    words: Array, at: Array, sizes: Array, targets: Array, first: Array, low: int, high: int, quantile: int,
    codes: Array,
) -> Any:  # fmt: skip
    """A quantile of the round trips of the frames `low` … `high`-1 into `codes` (N); the first frame that says more
    than it has bytes, or -1."""
    wanted = _STANDS_ON.copy()
    for q in range(1, quantile + 1):
        wanted[_MAX] = wanted[_P50 + 3 * q] = True
    for f in range(low, high):
        n, to, start = targets[f], first[f], 64 * at[f]
        end = start + 8 * sizes[f]
        flat = np.empty(_COLUMNS * n, np.int64)
        read = pick(words, start + 8, end, n, _SIGNED, wanted, flat)
        if read > 0:
            read = unpack(words, start + 8, end, np.arange(_COLUMNS + 1) * n, _SIGNED, flat)
        if read < 0:
            return np.int64(f)
        for p in range(n):
            count = np.int32(flat[p] + flat[n + p] + flat[2 * n + p])
            mean: Any = np.int64(0)
            for column in _MEAN:
                mean += flat[column * n + p]
            mean = np.int64(np.int32(mean))
            code = flat[_P50 * n + p]
            largest: Any = np.int64(0)
            if count > 0:
                code += bin_of(mean) + 1
                if quantile:
                    largest = bin_of(np.int64(np.int32(flat[_MAX * n + p] + mean))) + 1
            code &= 0xFFFF
            for q in range(1, quantile + 1):
                left = flat[(_P50 + 3 * q) * n + p]
                code = (largest - left if count < _FEWER[q] else code + left) & 0xFFFF
            codes[to + p] = code
    return np.int64(-1)


@compiled
def pick(words: Array, at: Any, end: Any, n: Any, signed: Array, wanted: Array, flat: Array) -> Any:
    """Read the `wanted` of the columns of a pack, `n` numbers each, into their places of `flat`, and pass by others.

    -1 when they go beyond `end`, 1 when one of them has a rest that stands elsewhere: `coding_loops.unpack` finds it.
    """
    columns = signed.size
    low: Any = at + 8 * columns
    if low > end:
        return np.int64(-1)
    bases: Any = low
    needed: Any = np.int64(0)
    last: Any = np.int64(0)
    for c in range(columns):
        param = get(words, at + 8 * c, 8)
        low += 32 if param & BASE else 0
        needed += (param & K) * n
        if wanted[c]:
            last = c
    to: Any = low + needed
    if to > end:
        return np.int64(-1)
    for c in range(last + 1):
        param = get(words, at + 8 * c, 8)
        k, rests = param & K, param & REST
        base: Any = np.int64(0)
        if param & BASE:
            base = get(words, bases, 32)
            bases += 32
        if not wanted[c]:
            low += k * n
            if rests:
                to = passed(words, to, end, n)
                if to < 0:
                    return np.int64(-1)
            continue
        for i in range(c * n, c * n + n):
            number: Any = np.int64(0)
            if k:
                number = get(words, low, k)
                low += k
            if rests:
                rest: Any = np.int64(0)
                word = words[to >> 6] >> np.uint64(to & 63)
                while word & _ONE == 0:
                    rest += 1
                    to += 1
                    word >>= _ONE
                    if rest >= RESTS_MAX:
                        return np.int64(1)
                    if to & 63 == 0:
                        word = words[to >> 6]
                to += 1
                if to > end:
                    return np.int64(-1)
                number += rest << k
            if signed[c]:
                number = number >> 1 ^ -(number & 1)
            flat[i] = (((number + base) & MASK) ^ (1 << 31)) - (1 << 31)
    return np.int64(0)


@compiled
def passed(words: Array, to: Any, end: Any, ones: Any) -> Any:
    """The bit after the next so many ones from the bit `to` on, or -1 when they go beyond `end`."""
    word: Any = words[to >> 6] >> np.uint64(to & 63)
    while True:
        held = ones_of(word)
        if held >= ones:
            break
        ones -= held
        to += 64 - (to & 63)
        if to >= end:
            return np.int64(-1)
        word = words[to >> 6]
    for _ in range(ones - 1):
        word &= word - _ONE
    to += ones_of((word & (~word + _ONE)) - _ONE) + 1
    return to if to <= end else np.int64(-1)


@compiled
def ones_of(word: Any) -> Any:
    """How many bits of a word are 1, by adding neighbours."""
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
