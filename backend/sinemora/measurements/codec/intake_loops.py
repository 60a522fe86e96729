"""Compiled loops of intake: what a report's columns and sketches say.

Nothing is decided here: rules are those of `report.py`. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    INT32_MAX,
    LOST,
    M2,
    M2_MAX,
    MAX,
    MEAN,
    MIN,
    QUANTILES,
    ROUND_TRIP,
    SENT,
)
from sinemora.measurements.codec.llq16 import COUNT_OF_CODE
from sinemora.measurements.codec.loops import bin_of

Array = Any

_AT = np.array(QUANTILES)
_COUNTS = COUNT_OF_CODE.astype(np.int64)
_WORDS_MAX = 1 << 16


@compiled
def settle(
    own_key: int, targets: Array, flows: Array, values: Array, m2: Array, lengths: Array, words: Array, columns: Array,
    quantiles: Array, flows_kept: Array,
) -> Any:  # fmt: skip
    """Check a window and write what is stored of it: `columns` (8, 3, n), `quantiles` (4, 3, n) and `flows_kept` (n).

    How many numbers did not fit 32 bits; -1 where a rule is broken or the words of a sketch are not in order.
    """
    n = targets.size
    clamped: Any = np.int64(0)
    if lengths.size != 3 * n or values.shape[2] != n or flows.size != n:
        return np.int64(-1)
    for i in range(n):
        key = targets[i]
        if key <= (targets[i - 1] if i else 0) or key > INT32_MAX or key == own_key:
            return np.int64(-1)
        flows_kept[i] = np.uint16(min(flows[i], 0xFFFF))
    start: Any = np.int64(0)
    for direction in range(3):
        for i in range(n):
            if lengths[direction, i] >= _WORDS_MAX:
                return np.int64(-1)
            end = start + lengths[direction, i]
            if not _read(words, start, end, values, direction, i, quantiles):
                return np.int64(-1)
            start = end
            if not (m2[direction, i] >= 0 and np.isfinite(m2[direction, i])):
                return np.int64(-1)
    for column in range(M2):
        for direction in range(3):
            for i in range(n):
                number = values[column, direction, i]
                kept = min(max(number, -INT32_MAX), INT32_MAX)
                clamped += kept != number
                columns[column, direction, i] = np.int32(kept)
    near = np.empty(n, np.float32)
    bits = near.view(np.int32)
    for direction in range(3):
        for i in range(n):
            near[i] = np.float32(min(m2[direction, i], M2_MAX))
        for i in range(n):
            columns[M2, direction, i] = (bits[i] + np.int32(0x80)) & np.int32(~0xFF)
    return clamped


@compiled
def _read(words: Array, start: Any, end: Any, values: Array, direction: Any, i: Any, quantiles: Array) -> bool:
    """Whether a path's columns are sound beside its sketch, the words `start` … `end`-1; its quantiles as codes."""
    count, sent, lost = values[COUNT, direction, i], values[SENT, direction, i], values[LOST, direction, i]
    low, mean, high = values[MIN, direction, i], values[MEAN, direction, i], values[MAX, direction, i]
    total: Any = np.int64(0)
    before: Any = np.int64(-1)
    for w in range(start, end):
        place = np.int64(words[w] >> 5)
        if place < before:
            return False
        before = place
        total += _COUNTS[words[w] & 31]
    if total != count or count > INT32_MAX or low > mean or mean > high:
        return False
    if sent < -1 or sent > INT32_MAX or lost < -1 or (lost > sent and lost >= 0):
        return False
    if direction == ROUND_TRIP and values[CLOCK_ERROR, direction, i] != 0:
        return False
    if count == 0:
        quantiles[:, direction, i] = 0
        return bool(low == 0 and high == 0)
    if np.int64(words[start] >> 5) != bin_of(low) or before != bin_of(high):
        return False
    running: Any = np.int64(0)
    at: Any = start
    for q in range(_AT.size):
        rank = max(np.int64(1), np.int64(np.ceil(_AT[q] * total)))
        while at < end and running < rank:
            running += _COUNTS[words[at] & 31]
            at += 1
        quantiles[q, direction, i] = np.uint16((words[at - 1] >> 5) + 1)
    return True
