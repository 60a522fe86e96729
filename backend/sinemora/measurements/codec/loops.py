"""Loops over frames and sketches, compiled: what `frame`, `sketch` and `rollup` say in numpy, for many frames at once.

Nothing is decided here. Layouts are those of `frame.py`, rules of merging those of `rollup.py` and `sketch.py`; the
results are the same, counts to the last one. Every loop lets go of the interpreter's lock, so two threads can share the
work. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, INT32_MAX, LOST, M2, MAX, MEAN, MIN, SENT
from sinemora.measurements.codec.llq16 import BINS, EMPTY, VALUE_MAX

_MEASURED, _NOT_PLANNED, _NO_DATA, _STALE, _LOST = range(5)  # matrix.State

# Compiled code knows arrays by their element type and shape; their types are checked where they are made, in `fast`.
Array = Any

_BITS_M2 = 3.4e38


@compiled
def merge_columns(columns: Array, groups: Array, merged: Array) -> None:
    """Columns (8, m) merged into `merged` (8, size), by the group of each: `rollup.merge_columns`."""
    m, size = columns.shape[1], merged.shape[1]
    total, weighted = np.zeros(size, np.int64), np.zeros(size, np.int64)
    low, high = np.full(size, INT32_MAX, np.int64), np.full(size, -INT32_MAX, np.int64)
    error = np.full(size, -INT32_MAX - 1, np.int64)
    sent, alone, lost = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    both, either = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    for i in range(m):
        g, count = groups[i], np.int64(columns[COUNT, i])
        if count > 0:
            total[g] += count
            weighted[g] += count * columns[MEAN, i]
            low[g] = min(low[g], columns[MIN, i])
            high[g] = max(high[g], columns[MAX, i])
            error[g] = max(error[g], columns[CLOCK_ERROR, i])
        else:
            error[g] = max(error[g], 0)
        if columns[SENT, i] >= 0:
            either[g] = True
            alone[g] += columns[SENT, i]
            if columns[LOST, i] >= 0:
                both[g] = True
                sent[g] += columns[SENT, i]
                lost[g] += columns[LOST, i]
    squares = np.zeros(size, np.float64)
    deviations = columns[M2].view(np.float32)
    for i in range(m):
        g = groups[i]
        away = columns[MEAN, i] - weighted[g] / max(total[g], 1)
        squares[g] += deviations[i] + columns[COUNT, i] * away * away
    capped = np.empty(size, np.float32)
    for g in range(size):
        some = total[g] > 0
        capped[g] = min(squares[g], _BITS_M2) if some else 0.0
        merged[COUNT, g] = min(total[g], INT32_MAX)
        merged[MIN, g] = low[g] if some else 0
        merged[MEAN, g] = np.rint(weighted[g] / total[g]) if some else 0
        merged[MAX, g] = high[g] if some else 0
        merged[CLOCK_ERROR, g] = error[g] if error[g] >= -INT32_MAX else 0
        merged[SENT, g] = sent[g] if both[g] else alone[g] if either[g] else -1
        merged[LOST, g] = lost[g] if both[g] else -1
    bits = capped.view(np.int32)
    for g in range(size):
        merged[M2, g] = (bits[g] + 0x80) & ~0xFF


@compiled
def group_members(owners: Array, groups: int) -> tuple[Array, Array]:
    """Members of each group in their order, one group after the other, and where each begins; owner -1 is left out."""
    bounds = np.zeros(groups + 1, np.int64)
    for owner in owners:
        if owner >= 0:
            bounds[owner + 1] += 1
    for g in range(groups):
        bounds[g + 1] += bounds[g]
    free, members = bounds[:-1].copy(), np.empty(bounds[groups], np.int64)
    for i in range(owners.size):
        if owners[i] >= 0:
            members[free[owners[i]]] = i
            free[owners[i]] += 1
    return members, bounds


@compiled
def merge_sketches(
    words: Array,
    starts: Array,
    lengths: Array,
    members: Array,
    bounds: Array,
    low: int,
    high: int,
    counts: Array,
    at: Array,
    bins: Array,
    totals: Array,
    merged: Array,
    sizes: Array,
) -> Any:
    """Merge the sketches of the groups `low` … `high`-1; returns how many words were written.

    `bins` (quantiles, groups) and `totals` get the bins at the quantiles `at` and the numbers of values. Canonical
    words go to `merged`, and how many each group has to `sizes`; an empty `merged` means that nobody wants them.
    """
    held = np.zeros(BINS, np.int64)
    written: Any = 0
    least: Any
    most: Any
    total: Any
    running: Any
    place: Any
    rank: Any
    q: Any
    before: Any
    for g in range(low, high):
        least, most, total = BINS, -1, 0
        for m in range(bounds[g], bounds[g + 1]):
            for i in range(starts[members[m]], starts[members[m]] + lengths[members[m]]):
                word = words[i]
                place, count = np.int64(word >> 5), counts[word & 31]
                held[place] += count
                total += count
                least = min(least, place)
                most = max(most, place)
        totals[g] = total
        for q in range(at.size):
            bins[q, g] = EMPTY
        if total == 0:
            continue
        running, q = np.int64(0), 0
        rank = max(np.int64(1), np.int64(np.ceil(at[0] * total))) if at.size else np.int64(-1)
        for place in range(least, most + 1):
            running += held[place]
            while q < at.size and running >= rank:
                bins[q, g] = place
                q += 1
                if q < at.size:
                    rank = max(np.int64(1), np.int64(np.ceil(at[q] * total)))
            if q == at.size:
                break
        before = written
        if merged.size:
            for place in range(least, most + 1):
                if held[place]:
                    written = write(merged, written, place, held[place])
            sizes[g] = written - before
        held[least : most + 1] = 0
    return written


@compiled
def newest_last(sources: Array, targets: Array, ended: Array, at: Array) -> None:
    """Positions into `at` (size, size) of the newest window of each path; of equals the last, inbound after outbound.

    `sources` and `targets` are those of n pairs, -1 off the axis; inbound windows have positions n … 2n-1.
    """
    n = sources.size
    for turn in range(2):
        for i in range(n):
            row, column = (sources[i], targets[i]) if turn == 0 else (targets[i], sources[i])
            if row < 0 or column < 0 or row == column:
                continue
            before = at[row, column]
            if before < 0 or ended[i] >= ended[before % n]:
                at[row, column] = turn * n + i


@compiled
def place_cells(
    at: Array, pairs: int, old: Array, grounds: Array, round_at: Array, stale: Array, sources: Array
) -> None:
    """What `matrix.vm_cells` says of each cell beside `at`: its pair, whether that is `old`, and its ground."""
    for i in range(at.size):
        if at[i] < 0:
            round_at[i], stale[i], sources[i] = -1, False, -1
            continue
        pair = at[i] - pairs if at[i] >= pairs else at[i]
        round_at[i], stale[i], sources[i] = pair, old[pair], grounds[pair]


@compiled
def measure_cells(
    low: int,
    high: int,
    columns: Array,
    squares: Array,
    codes: Array,
    at: Array,
    counted: Array,
    ways: Array,
    exchanged: Array,
    rounds: Array,
    planned: Array,
    stale: Array,
    column: int,
    code: int,
    above_min: bool,
    middles: Array,
    values: Array,
    errors: Array,
    states: Array,
    valued: Array,
) -> None:
    """The cells `low` … `high`-1 of `matrix.measure`: values, clock errors, states, and which values count.

    The statistic is the quantile `code`, or else the `column` (M2: standard deviation; CLOCK_ERROR: known of all that
    is measured). `squares` is M2 as floats; `counted` and `exchanged` are sent and lost packets one way and of
    exchanges, (2, k).
    """
    for i in range(low, high):
        p, w, r = at[i], ways[i], rounds[i]
        count: Any = np.int64(columns[COUNT, p]) if p >= 0 else np.int64(0)
        state = _NO_DATA
        if count > 0:
            state = _MEASURED
        elif w >= 0:
            exchanges = exchanged[0, r] if r >= 0 else 0
            unfinished = exchanged[1, r] if r >= 0 else 0
            left = counted[0, w] > 0 or (counted[0, w] < 0 and exchanges > 0)
            if left and (counted[1, w] != 0 or unfinished != 0):
                state = _LOST
        if stale[i]:
            state = _STALE
        if not planned[i]:
            state = _NOT_PLANNED
        states[i] = state
        value: Any = np.int64(0)
        has = count > 0
        errors[i] = np.int64(columns[CLOCK_ERROR, p]) if p >= 0 else np.int64(0)
        if p >= 0 and code >= 0:
            found = np.int64(codes[code, p])
            has = has and found > 0
            value = max(middles[max(found - 1, 0)], np.int64(columns[MIN, p]))
            value = min(value, np.int64(columns[MAX, p]))
        elif p >= 0 and column == M2:
            value = np.int64(np.rint(np.sqrt(np.float64(squares[p]) / max(count, 1))))
        elif p >= 0:
            value = np.int64(columns[column, p])
        if above_min and p >= 0:
            value -= columns[MIN, p]
        values[i] = value
        valued[i] = has and state in (_MEASURED, _STALE)


@compiled
def bin_codes(values: Array, valued: Array, codes: Array) -> None:
    """Bin + 1 of each value that counts, 0 of the others."""
    for i in range(values.size):
        codes[i] = np.uint16(bin_of(values[i]) + 1) if valued[i] else np.uint16(0)


@compiled
def bin_of(value: Any) -> Any:
    """The bin of a value, ns: `sketch.bins_of`."""
    value = min(max(value, 0), VALUE_MAX)
    # The exponent and six bits of a float64 hold the bin of every integer below 2^53.
    return value if value < 128 else (np.float64(value).view(np.int64) >> 46) - 65792


@compiled
def write(merged: Array, written: Any, place: Any, count: Any) -> Any:
    """Canonical words of one bin; the position after them."""
    while count >= 1 << 21:
        merged[written] = np.uint16(place << 5 | 31)
        written += 1
        count -= 1 << 20
    code = 31
    while count > 16 and code > 15:
        if count >= 1 << (code - 11):
            merged[written] = np.uint16(place << 5 | code)
            written += 1
            count -= 1 << (code - 11)
        code -= 1
    if count > 16:
        merged[written] = np.uint16(place << 5 | 15)
        written += 1
        count -= 16
    if count > 0:
        merged[written] = np.uint16(place << 5 | (count - 1))
        written += 1
    return written
