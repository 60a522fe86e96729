"""Compiled loops of `layouts.py`: bodies of stats and sketches, many frames at once.

Frames to be read stand in words of 64 bits, each from a word of its own on, `at`; `sizes` are their numbers of bytes,
heads and checksums left out, `targets` their numbers of targets, `first` the position of the first of these among all
N. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.coding import MASK
from sinemora.measurements.coding_loops import checksum, get, pack, put, unpack, unpack_at
from sinemora.measurements.frame import NEWEST, STATS
from sinemora.measurements.layouts import (
    CLOCK_ERROR,
    COUNT,
    ENDS_TOLD,
    FEWER,
    INBOUND,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    OUTBOUND,
    ROUND_TRIP,
    RUNS,
    SENT,
    STATS_SIGNED,
    VALUES,
    WORDS,
)
from sinemora.measurements.loops import bin_of, write
from sinemora.measurements.sketch import BINS, COUNT_OF_CODE

Array = Any

_SIGNED = np.array(STATS_SIGNED)
_UNSIGNED = np.zeros(6, np.bool_)
_COLUMNS = len(STATS_SIGNED)
_FEWER = np.array((0, *FEWER))
_BESIDE = np.array((False, False, True))
_COUNTS = COUNT_OF_CODE.astype(np.int64)


@compiled
def first_harmed(words: Array, at: Array, sizes: Array) -> Any:
    """The first frame that does not fit the checksum in the word before it, beside its head; or -1."""
    for f in range(at.size):
        before = words[at[f] - 1]
        head, told = np.int64(before & np.uint64(MASK)), np.int64(before >> np.uint64(32))
        if checksum(words, at[f], sizes[f], head) != told:
            return np.int64(f)
    return np.int64(-1)


@compiled
def seal(
    columns: Array, quantiles: Array, flows: Array, sources: Array, by_flow: Array, lengths: Array, words: Array,
    block: int, out: Array, found: Array,
) -> None:  # fmt: skip
    """Write stats and sketches of all targets as frames of at most `block` of them, heads and checksums included.

    `out` are words of 0, `sealed_words` of them; where in it the two of each frame begin and how many bytes they have
    is told in `found` (frames, 2, 2).
    """
    n = columns.shape[2]
    to: Any = np.int64(0)
    told: Any = np.int64(0)
    for f in range(found.shape[0]):
        low, high, told_from = f * block, min((f + 1) * block, n), told
        if by_flow.shape[2]:
            for i in range(low, high):
                told += flows[i] if flows[i] > 1 else 0
        for kind in range(2):
            body = out[to + 1 :]
            if kind == STATS:
                size = pack_stats(columns, quantiles, flows, sources, by_flow, low, high, told_from, told, body)
            else:
                size = pack_sketches(words, lengths, columns, low, high, body)
            head = NEWEST[kind] | kind << 8 | (high - low) << 16
            out[to] = np.uint64(head) | np.uint64(checksum(body, 0, size, head)) << np.uint64(32)
            found[f, kind, 0], found[f, kind, 1] = 8 * to, 8 + size
            to += 1 + (size + 7) // 8


@compiled
def sealed_words(columns: Array, by_flow: Array, words: Array, blocks: int) -> Any:
    """Words that `seal` needs for so many frames."""
    n, m = columns.shape[2], by_flow.shape[2]
    size = n * 8 * _COLUMNS + 48 * m + 144 * n + 16 * words.size
    return size // 8 + blocks * (64 + 12 * _COLUMNS + 48 + 256) // 8 + 8


@compiled
def pack_stats(
    columns: Array, quantiles: Array, flows: Array, sources: Array, by_flow: Array, low: Any, high: Any, told_from: Any,
    told_to: Any, words: Array,
) -> Any:  # fmt: skip
    """Write `layouts.pack_stats` of the targets `low` … `high`-1 into words of 0; how many bytes it has.

    Their flows are `told_from` … `told_to`-1 of `by_flow`.
    """
    n, m = high - low, told_to - told_from
    flat, near = np.empty(_COLUMNS * n, np.int64), np.empty(n, np.float32)
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
    at = pack(flat, np.arange(_COLUMNS + 1) * n, _SIGNED, words, 8)
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
        flat, near = np.empty(_COLUMNS * n, np.int64), np.empty(n, np.float32)
        read = unpack(words, start + 8, start + 8 * sizes[f], np.arange(_COLUMNS + 1) * n, _SIGNED, flat)
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
    flat, near = np.empty(_COLUMNS, np.int64), np.empty(1, np.float32)
    for f in range(low, high):
        n, start = targets[f], 64 * at[f]
        end = start + 8 * sizes[f]
        if n == 0 or get(words, start, 8):
            return np.int64(f)
        if not unpack_at(words, start + 8, end, n, _SIGNED, places[f], flat):
            whole = np.empty(_COLUMNS * n, np.int64)
            if unpack(words, start + 8, end, np.arange(_COLUMNS + 1) * n, _SIGNED, whole) < 0:
                return np.int64(f)
            for c in range(_COLUMNS):
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


@compiled
def _squares(columns: Array, direction: Any, to: Any, near: Array) -> None:
    """`layouts._squares` of the targets from `to` on, as float32."""
    for p in range(near.size):
        span = np.float64(columns[MAX, direction, to + p]) - np.float64(columns[MIN, direction, to + p])
        near[p] = np.float32(span * span * np.float64(columns[COUNT, direction, to + p]))
