"""Compiled loops of intake: what a report's columns and sketches say.

Nothing is decided here: rules are those of `report.py`. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.frame import (
    CLOCK_ERROR,
    COUNT,
    INT32_MAX,
    LOST,
    MAX,
    MEAN,
    MIN,
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
