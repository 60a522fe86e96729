"""Compiled loops of intake: what a report's columns and sketches say, and frames made of them.

Nothing is decided here: rules are those of `report.py`, layouts those of `frame.py`; the results are the same, byte by
byte. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.frame import (
    CLOCK_ERROR,
    COUNT,
    FLOW_MIN,
    FLOW_P50,
    INBOUND,
    INT32_MAX,
    LOST,
    MAX,
    MEAN,
    MIN,
    OUTBOUND,
    ROUND_TRIP,
    SENT,
)
from sinemora.measurements.loops import bin_of

Array = Any


@compiled
def summarise(
    words: Array, lengths: Array, counts: Array, at: Array, totals: Array, codes: Array, firsts: Array, lasts: Array
) -> bool:
    """Whether bins ascend in every sketch of `lengths` words; their totals, quantiles `at` as codes, and end bins."""
    ordered = True
    start: Any = 0
    running: Any
    rank: Any
    for s in range(lengths.size):
        end = start + lengths[s]
        total: Any = np.int64(0)
        before: Any = np.int64(-1)
        for i in range(start, end):
            place = np.int64(words[i] >> 5)
            ordered &= place >= before
            before = place
            total += counts[words[i] & 31]
        totals[s] = total
        firsts[s] = np.int64(words[start] >> 5) if end > start else 0
        lasts[s] = max(before, 0)
        q, i, running = 0, start, np.int64(0)
        for q in range(at.size):
            rank = max(np.int64(1), np.int64(np.ceil(at[q] * total)))
            while i < end and running < rank:
                running += counts[words[i] & 31]
                i += 1
            codes[q, s] = np.uint16((words[i - 1] >> 5) + 1) if total > 0 else np.uint16(0)
        start = end
    return ordered


@compiled
def sound(values: Array, m2: Array, totals: Array, firsts: Array, lasts: Array) -> bool:
    """Whether no rule of a window's columns (7, 3, n) is broken; which one is, and how it is said: `report.py`."""
    for direction in range(3):
        for i in range(m2.shape[1]):
            count, sent, lost = values[COUNT, direction, i], values[SENT, direction, i], values[LOST, direction, i]
            low, mean, high = values[MIN, direction, i], values[MEAN, direction, i], values[MAX, direction, i]
            if count > INT32_MAX or sent < -1 or sent > INT32_MAX or lost < -1 or (lost > sent and lost >= 0):
                return False
            if low > mean or mean > high or totals[direction, i] != count:
                return False
            if not (m2[direction, i] >= 0 and np.isfinite(m2[direction, i])):
                return False
            if count == 0 and (low != 0 or high != 0):
                return False
            if count != 0 and (firsts[direction, i] != bin_of(low) or lasts[direction, i] != bin_of(high)):
                return False
            if direction == ROUND_TRIP and values[CLOCK_ERROR, direction, i] != 0:
                return False
    return True


@compiled
def pack_stats(columns: Array, quantiles: Array, flows: Array, sources: Array, by_flow: Array, body: Array) -> None:
    """The body of `frame.encode_stats`."""
    n, m = columns.shape[2], by_flow.shape[2]
    number: Any
    for which in range(8):
        for direction in range(3):
            for p in range(n):
                number = np.int64(columns[which, direction, p])
                if which == MIN and direction == ROUND_TRIP:
                    number = np.int64(columns[MEAN, direction, p]) - number
                elif which == MEAN and direction == ROUND_TRIP:
                    number = number - columns[MEAN, OUTBOUND, p] - columns[MEAN, INBOUND, p]
                    number = _zigzag(number)
                elif which == MEAN:
                    number = number - columns[MIN, direction, p]
                elif which == MAX:
                    number = number - columns[MEAN, direction, p]
                elif which == CLOCK_ERROR and direction == INBOUND:
                    number = _zigzag(number - columns[CLOCK_ERROR, OUTBOUND, p])
                _put(body, (which * 3 + direction) * n + p, 24 * n, 4, number)
    base, planes = 96 * n, 13 * n
    for q in range(4):
        for direction in range(3):
            for p in range(n):
                number = np.int64(quantiles[q, direction, p])
                if q > 0:
                    number -= quantiles[q - 1, direction, p]
                _put(body, base + (q * 3 + direction) * n + p, planes, 2, number)
    for p in range(n):
        _put(body, base + 12 * n + p, planes, 2, np.int64(flows[p]))
        body[122 * n + p] = sources[p]
    for which in range(3):
        for direction in range(2):
            for f in range(m):
                number = np.int64(by_flow[which, direction, f])
                if which == FLOW_P50:
                    number -= by_flow[FLOW_MIN, direction, f]
                _put(body, 123 * n + (which * 2 + direction) * m + f, 6 * m, 4, number)


@compiled
def pack_sketches(words: Array, lengths: Array, body: Array) -> None:
    """The body of `frame.encode_sketches`; `lengths` of all sketches (3 n)."""
    size, at = lengths.size, 0
    for s in range(size):
        _put(body, s, size, 2, np.int64(lengths[s]))
        before: Any = np.int64(0)
        for i in range(at, at + lengths[s]):
            place = np.int64(words[i] >> 5)
            _put(body, 2 * size + i, words.size, 2, (place - before) << 5 | np.int64(words[i] & 31))
            before = place
        at += lengths[s]


@compiled
def _put(body: Array, at: Any, planes: Any, size: int, number: Any) -> None:
    """The low `size` bytes of a number, each in its plane."""
    for byte in range(size):
        body[at + byte * planes] = np.uint8(number >> (8 * byte) & 255)


@compiled
def _zigzag(number: Any) -> Any:
    wrapped = np.int64(np.int32(number))
    return wrapped << 1 ^ wrapped >> 63
