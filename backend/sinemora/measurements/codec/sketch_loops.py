"""Compiled loops of sketches in `layouts.py`; frames to be read stand as `layout_loops` says."""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.coding_loops import get, pack, put, unpack
from sinemora.measurements.codec.columns import ENDS_TOLD, MAX, MIN, OUTBOUND, ROUND_TRIP, RUNS, VALUES, WORDS
from sinemora.measurements.codec.llq16 import BINS, COUNT_OF_CODE
from sinemora.measurements.codec.loops import bin_of, write

Array = Any

_UNSIGNED = np.zeros(6, np.bool_)
_BESIDE = np.array((False, False, True))
_COUNTS = COUNT_OF_CODE.astype(np.int64)


@compiled
def pack_sketches(words: Array, lengths: Array, columns: Array, low: Any, high: Any, body: Array) -> Any:
    """Write `layouts.pack_sketches` of the targets `low` … `high`-1 into words of 0; how many bytes it has.

    `words` and `lengths` (3, N) are those of all targets.
    """
    n = high - low
    held, starts = np.empty(3 * n, np.int64), np.zeros(3, np.int64)
    total: Any = np.int64(0)
    for direction in range(3):
        for target in range(lengths.shape[1]):
            if target == low:
                starts[direction] = total
            total += lengths[direction, target]
    way, told = _way(words, lengths, starts, columns, low, held)
    put(body, 0, way | (ENDS_TOLD if told else 0), 8)
    heads = 3 if way == WORDS else 6
    flat = np.empty(6 * n, np.int64)
    for direction in range(3):
        for p in range(n):
            flat[direction * n + p] = lengths[direction, low + p]
    flat[3 * n :] = held
    at = pack(flat, np.arange(heads + 1) * n, _UNSIGNED[:heads], body, 8)
    bounds = np.zeros(4, np.int64)
    for direction in range(3):
        columns_of(held, direction * n, n, way, told, bounds)
        each = np.empty(bounds[3], np.int64)
        one, gap, beside = np.int64(0), bounds[1], bounds[2]
        i: Any = starts[direction]
        for p in range(n):
            s = direction * n + p
            before: Any = np.int64(-1)
            least: Any = np.int64(1)
            written: Any = np.int64(0)
            stop = i + lengths[direction, low + p]
            while i < stop:
                place, code = np.int64(words[i] >> 5), np.int64(words[i] & 31)
                i += 1
                count: Any = _COUNTS[code]
                if way == RUNS:
                    while i < stop and np.int64(words[i] >> 5) == place:
                        count += _COUNTS[np.int64(words[i] & 31)]
                        i += 1
                    each[beside] = count - least
                    beside += 1
                    least = count
                elif way == WORDS:
                    each[beside] = code
                    beside += 1
                for _ in range(count if way == VALUES else 1):
                    written += 1
                    if written == 1:
                        if not told:
                            each[one] = place
                            one += 1
                    elif not told or written < held[s]:
                        each[gap] = (place - before) & (BINS - 1)
                        gap += 1
                    before = place
        parts = 2 if way == VALUES else 3
        signed = _BESIDE if way == RUNS else _UNSIGNED[:3]
        end = pack(each, bounds[: parts + 1], signed[:parts], body, at + 32)
        put(body, at, (end - at - 32) // 8, 32)
        at = end
    return at // 8


@compiled
def unpack_lengths(words: Array, at: Array, sizes: Array, targets: Array, first: Array, lengths: Array) -> Any:
    """Words of each sketch into `lengths` (3, N); the first frame that says more than it has bytes, or -1."""
    for f in range(at.size):
        n, start = targets[f], 64 * at[f]
        flat = np.empty(6 * n, np.int64)
        heads = 6 if get(words, start, 8) & ~ENDS_TOLD else 3
        if unpack(words, start + 8, start + 8 * sizes[f], np.arange(heads + 1) * n, _UNSIGNED[:heads], flat) < 0:
            return np.int64(f)
        for direction in range(3):
            lengths[direction, first[f] : first[f] + n] = flat[direction * n : (direction + 1) * n]
    return np.int64(-1)


@compiled
def unpack_words(
    words: Array, at: Array, sizes: Array, targets: Array, first: Array, low: int, high: int, columns: Array,
    starts: Array, shifts: Array, values: Array, found: Array,
) -> Any:  # fmt: skip
    """Words of the sketches of the frames `low` … `high`-1 into `found`, each sketch from its `starts` (3, N) on.

    A direction whose sketches start at -1 is passed over. `columns` (8, 3, N) are those of their stats. `shifts` (N, or
    empty), ns, are added to outbound delays and taken from inbound ones: each word moves to the bin its value (`values`
    by bin) is in then. Returns the first frame that says more than it has bytes, or -1.
    """
    bounds = np.zeros(4, np.int64)
    for f in range(low, high):
        n, to, start = targets[f], first[f], 64 * at[f]
        end, mode = start + 8 * sizes[f], get(words, start, 8)
        way, told = mode & ~ENDS_TOLD, mode & ENDS_TOLD != 0
        heads = 3 if way == WORDS else 6
        flat = np.empty(6 * n, np.int64)
        read = unpack(words, start + 8, end, np.arange(heads + 1) * n, _UNSIGNED[:heads], flat)
        if read < 0:
            return np.int64(f)
        for direction in range(3):
            if read + 32 > end:
                return np.int64(f)
            began = read + 32
            read = began + 8 * get(words, read, 32)
            if n == 0 or starts[direction, to] < 0:
                continue
            base = (direction if way == WORDS else direction + 3) * n
            columns_of(flat, base, n, way, told, bounds)
            each = np.empty(bounds[3], np.int64)
            parts = 2 if way == VALUES else 3
            signed = _BESIDE if way == RUNS else _UNSIGNED[:3]
            if unpack(words, began, end, bounds[: parts + 1], signed[:parts], each) < 0:
                return np.int64(f)
            one, gap, beside = np.int64(0), bounds[1], bounds[2]
            for p in range(n):
                size = flat[base + p]
                if size == 0:
                    continue
                by: Any = np.int64(0)
                if shifts.size and direction != ROUND_TRIP:
                    by = shifts[to + p] if direction == OUTBOUND else -shifts[to + p]
                target = starts[direction, to + p]
                stop = target + flat[direction * n + p]
                place: Any = np.int64(0)
                last: Any = np.int64(-1)
                if told:
                    place = bin_of(np.int64(columns[MIN, direction, to + p]))
                    last = bin_of(np.int64(columns[MAX, direction, to + p]))
                else:
                    place = each[one]
                    one += 1
                held: Any = np.int64(1)
                for w in range(size):
                    if w:
                        if told and w == size - 1:
                            step = (last - place) & (BINS - 1)
                        else:
                            step = each[gap]
                            gap += 1
                        if way == VALUES and step == 0:
                            held += 1
                            continue
                        if way == VALUES:
                            if target >= stop:
                                return np.int64(f)
                            moved = place if by == 0 else bin_of(values[place] + by)
                            found[target] = np.uint16(moved << 5 | (held - 1))
                            target += 1
                            held = np.int64(1)
                        place = (place + step) & (BINS - 1)
                    if way == VALUES:
                        continue
                    moved = place if by == 0 else bin_of(values[place] + by)
                    if way == WORDS:
                        found[target] = np.uint16(moved << 5 | each[beside])
                        target += 1
                    else:
                        held += each[beside]
                        if held < 1 or target + words_of(held) > stop:
                            return np.int64(f)
                        target = write(found, target, moved, held)
                    beside += 1
                if way == VALUES:
                    if target >= stop:
                        return np.int64(f)
                    moved = place if by == 0 else bin_of(values[place] + by)
                    found[target] = np.uint16(moved << 5 | (held - 1))
    return np.int64(-1)


@compiled
def columns_of(held: Array, low: Any, n: Any, way: Any, told: Any, bounds: Array) -> None:
    """Where columns of a direction end whose sketches write `held` bins each: firsts, gaps, and what is beside."""
    many: Any = np.int64(0)
    some: Any = np.int64(0)
    inner: Any = np.int64(0)
    for s in range(low, low + n):
        many += held[s]
        some += held[s] > 0
        inner += max(held[s] - 2, 0)
    bounds[1] = 0 if told else some
    bounds[2] = inner if told else many
    bounds[3] = bounds[2] + (0 if way == VALUES else many)


@compiled
def words_of(count: Any) -> Any:
    """Words that `write` makes of a bin."""
    made: Any = np.int64(0)
    if count >= 1 << 21:
        made = (count - (1 << 20)) >> 20
        count -= made << 20
    high = count >> 5
    while high:
        made += high & 1
        high >>= 1
    rest = count & 31
    return made + (rest > 0) + (rest > 16)


@compiled
def _way(words: Array, lengths: Array, starts: Array, columns: Array, low: Any, held: Array) -> Any:
    """How sketches are written (`layouts._written`), whether stats tell their ends; how many bins each writes."""
    values: Any = np.int64(0)
    size: Any = np.int64(0)
    canonical: Any = True
    small: Any = True
    told: Any = True
    runs, n = np.empty(held.size, np.int64), held.size // 3
    for direction in range(3):
        i: Any = starts[direction]
        for p in range(n):
            stop, first = i + lengths[direction, low + p], i
            before: Any = np.int64(-1)
            total: Any = np.int64(0)
            run: Any = np.int64(0)
            while i < stop and canonical:
                place = np.int64(words[i] >> 5)
                begun, count = i, np.int64(0)
                while i < stop and np.int64(words[i] >> 5) == place:
                    count += _COUNTS[np.int64(words[i] & 31)]
                    i += 1
                small &= count <= 16
                canonical = place > before and is_canonical(words, begun, i, count)
                before = place
                total += count
                run += 1
            i = stop
            if stop > first:
                told &= np.int64(words[first] >> 5) == bin_of(np.int64(columns[MIN, direction, low + p]))
                told &= np.int64(words[stop - 1] >> 5) == bin_of(np.int64(columns[MAX, direction, low + p]))
            held[direction * n + p], runs[direction * n + p] = total, run
            values += total
            size += stop - first
    if not canonical:
        for direction in range(3):
            for p in range(n):
                held[direction * n + p] = lengths[direction, low + p]
        return WORDS, told
    if size and small and values <= 2 * size:
        return VALUES, told
    held[:] = runs
    return RUNS, told


@compiled
def is_canonical(words: Array, low: Any, high: Any, count: Any) -> bool:
    """Whether the words `low` … `high`-1 are those `write` makes of a bin."""
    if words_of(count) != high - low:
        return False
    if count <= 16:
        return True
    made = np.empty(high - low, np.uint16)
    write(made, np.int64(0), np.int64(words[low] >> 5), count)
    return np.array_equal(made, words[low:high])
