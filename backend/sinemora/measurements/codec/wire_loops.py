"""Compiled loops that read the columns of reports where they stand in their bytes (agent.proto).

They read what agents write: packed fields, each once. Of anything else they say so, and the protobuf library reads it.
Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, INT32_MAX, LOST, M2, MAX, MEAN, MIN, SENT

Array = Any

_SEVEN = np.uint64(7)
_BYTE = np.uint64(127)
_LARGEST = np.uint64(INT32_MAX) + np.uint64(1)
# Columns of integers by field number: where they go, whether they are zigzag coded, whether they have 32 bits.
_ROWS = np.array([-1, COUNT, SENT, LOST, MIN, MEAN, MAX, -1, CLOCK_ERROR, M2])
_ZIGZAG = np.array([False, False, True, True, True, True, True, False, False, False])
_SHORT = np.array([False, True, True, True, False, False, False, False, False, True])
_SUMS, _SKETCH = 7, 10


@compiled
def fields(body: Array, low: int, high: int, found: Array) -> Any:
    """Fields of a message in [low, high): number, kind, where the field, its content and what follows begin; how many.

    -1 when there are more than rows of `found` (m, 5), or bytes that make no sense.
    """
    at: Any = np.int64(low)
    count: Any = np.int64(0)
    while at < high:
        if count == found.shape[0]:
            return np.int64(-1)
        key, start = _varint(body, at, high)
        kind = np.int64(key & _SEVEN)
        end = start
        if start < 0:
            return np.int64(-1)
        if kind == 0:
            end = _varint(body, start, high)[1]
        elif kind == 2:
            size, start = _varint(body, start, high)
            if start < 0 or size > np.uint64(high):
                return np.int64(-1)
            end = start + np.int64(size)
        elif kind == 1:
            end += 8
        elif kind == 5:
            end += 4
        else:
            return np.int64(-1)
        if end < 0 or end > high or key > np.uint64(1 << 20):
            return np.int64(-1)
        found[count, 0], found[count, 1], found[count, 2] = np.int64(key >> np.uint64(3)), kind, at
        found[count, 3], found[count, 4] = start, end
        count += 1
        at = end
    return count


@compiled
def outline(body: Array, low: int, high: int, table: Array, parts: Array, others: Array) -> Any:
    """Where in the message MeshWindow in [low, high) the fields `table` stand, `parts` (5, 2), and where all others,
    `others` (m, 2) from the second row on; its first row says how many. How many peers, -1 where it is not as agents
    write it."""
    found = np.empty((others.shape[0] - 1, 5), np.int64)
    count = fields(body, low, high, found)
    parts[:] = -1
    kept: Any = np.int64(0)
    for f in range(count):
        place: Any = -1
        for t in range(table.size):
            if found[f, 0] == table[t]:
                place = t
        if place < 0:
            kept += 1
            others[kept, 0], others[kept, 1] = found[f, 2], found[f, 4]
        elif found[f, 1] != 2 or parts[place, 0] >= 0:
            return np.int64(-1)
        else:
            parts[place, 0], parts[place, 1] = found[f, 3], found[f, 4]
    others[0, 0] = kept
    for place in range(table.size):
        if parts[place, 0] < 0:
            return np.int64(-1)
    peers: Any = np.int64(0)
    for i in range(parts[0, 0], parts[0, 1]):
        peers += body[i] < 128
    return peers if peers else np.int64(-1)


@compiled
def read(
    body: Array, parts: Array, targets: Array, flows: Array, values: Array, sums: Array, lengths: Array, words: Array
) -> Any:
    """Columns of a window whose `parts` are those of `outline`: `targets` and `flows` (n), `values` (7, 3, n), bits of
    `sums` (3, n), `lengths` (3, n) of sketches, and their `words`, which must be room enough.

    How many words there are, -1 where it is not as agents write it.
    """
    total: Any = np.int64(0)
    if not _numbers(body, parts[0, 0], parts[0, 1], False, True, targets):
        return np.int64(-1)
    if not _numbers(body, parts[1, 0], parts[1, 1], False, True, flows):
        return np.int64(-1)
    found = np.empty((10, 5), np.int64)
    for direction in range(3):
        if fields(body, parts[2 + direction, 0], parts[2 + direction, 1], found) != 10:
            return np.int64(-1)
        held: Any = np.int64(0)
        for f in range(10):
            number, kind, start, end = found[f, 0], found[f, 1], found[f, 3], found[f, 4]
            if number != f + 1 or kind != 2:
                return np.int64(-1)
            if number == _SKETCH:
                for i in range(lengths.shape[1]):
                    held += lengths[direction, i]
                if 2 * held != end - start:
                    return np.int64(-1)
                for w in range(held):
                    words[total + w] = np.uint16(body[start + 2 * w]) | np.uint16(body[start + 2 * w + 1]) << np.uint16(
                        8
                    )
                total += held
            elif number == _SUMS:
                if end - start != 8 * sums.shape[1]:
                    return np.int64(-1)
                for i in range(sums.shape[1]):
                    bits = np.uint64(0)
                    for byte in range(8):
                        bits |= np.uint64(body[start + 8 * i + byte]) << np.uint64(8 * byte)
                    sums[direction, i] = bits
            else:
                out = lengths[direction] if _ROWS[number] == M2 else values[_ROWS[number], direction]
                if not _numbers(body, start, end, _ZIGZAG[number], _SHORT[number], out):
                    return np.int64(-1)
    return total


@compiled
def _numbers(body: Array, low: Any, high: Any, zigzag: Any, short: Any, out: Array) -> Any:
    at: Any = np.int64(low)
    for i in range(out.size):
        number, at = _varint(body, at, high)
        if at < 0 or (short and number >> np.uint64(32)):
            return False
        if zigzag:
            out[i] = np.int64(number >> np.uint64(1)) ^ -np.int64(number & np.uint64(1))
        else:  # unsigned 64 bits are clock errors: cut before they become signed
            out[i] = np.int64(number if short else min(number, _LARGEST))
    return at == high


@compiled
def _varint(body: Array, at: Any, high: Any) -> Any:
    """A number, and where it ends: -1 when it does not."""
    number = np.uint64(0)
    shift = np.uint64(0)
    while at < high and shift < np.uint64(64):
        byte = np.uint64(body[at])
        at += 1
        number |= (byte & _BYTE) << shift
        if byte <= _BYTE:
            return number, at
        shift += _SEVEN
    return number, np.int64(-1)
