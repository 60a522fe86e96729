"""Columns of blocks in numpy, to compare the native module with."""

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.columns import (
    CLOCK_ERROR,
    COUNT,
    INBOUND,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    OUTBOUND,
    ROUND_TRIP,
    SENT,
)
from tests.measurements.oracle import llq16
from tests.measurements.oracle.llq16 import Words
from tests.measurements.oracle.rice import MASK, Ints, Unpacker, pack, wrapped

# A quantile is the largest value where there are fewer values than this: p90, p99, p99.9.
FEWER = (10, 100, 1000)
STATS_SIGNED = tuple(at in {1, 2, 6, 7, 8, 13, 19, 21, 22, 23, 24, 25, 26} for at in range(38))
"""Which columns of stats are signed, in the order of `stats_columns`."""
FLOWS_SIGNED = (False,) * 6
WORDS, VALUES, RUNS = range(3)
"""Ways to write sketches: as their words, value by value, or as bins with their counts."""
ENDS_TOLD = 4
"""Stats tell the first and last bins."""
_SIGNED_BY_WAY = ((False, False, False), (False, False), (False, False, True))

Codes = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]
Columns = npt.NDArray[np.int32]


def pack_stats(columns: Columns, quantiles: Codes, flows: Codes, sources: Bytes, by_flow: Columns) -> bytes:
    """Return the body of stats."""
    body = bytes([by_flow.shape[2] > 0]) + pack(_stats_columns(columns, quantiles, flows, sources), STATS_SIGNED)
    if not by_flow.shape[2]:
        return body
    counts, low, median = by_flow.astype(np.int64)
    return body + pack([*counts, *low, *(median - low)], FLOWS_SIGNED)


def unpack_stats(body: bytes, n: int) -> tuple[Columns, Codes, Codes, Bytes, Columns]:
    """Return the arguments of `pack_stats`; `n` targets. coding.Exhausted."""
    read = Unpacker(body)
    flags = read.number(1)
    result = read.columns([n] * len(STATS_SIGNED), STATS_SIGNED)
    columns = np.empty((8, 3, n), np.int64)
    columns[COUNT] = np.cumsum(result[0:3], axis=0)
    columns[LOST] = result[3:6]
    columns[SENT] = np.array(result[6:9]) + columns[COUNT] + columns[LOST]
    columns[MIN, :ROUND_TRIP] = result[9:11]
    columns[MEAN, :ROUND_TRIP] = np.array(result[11:13]) + columns[MIN, :ROUND_TRIP]
    columns[MEAN, ROUND_TRIP] = wrapped(result[13] + columns[MEAN, OUTBOUND] + columns[MEAN, INBOUND])
    columns[MIN, ROUND_TRIP] = columns[MEAN, ROUND_TRIP] - result[14]
    columns = wrapped(columns)
    columns[MAX] = wrapped(np.array(result[15:18]) + columns[MEAN])
    columns[CLOCK_ERROR] = result[18], wrapped(result[19] + result[18]), result[20]
    turned = np.array(result[21:24]) + _squares(columns) & MASK
    columns[M2] = wrapped(turned << 8 | turned >> 24)
    middle, largest = _codes(columns)
    quantiles = np.empty((4, 3, n), np.int64)
    quantiles[0] = np.array(result[24:27]) + middle
    for q, fewer in enumerate(FEWER, 1):
        left = np.array(result[24 + 3 * q : 27 + 3 * q])
        quantiles[q] = np.where(columns[COUNT] < fewer, largest - left, quantiles[q - 1] + left) & 0xFFFF
    flows, by_flow = result[36].astype(np.uint16), np.empty((3, 2, 0), np.int32)
    if flags:
        each = int(flows[flows > 1].sum(dtype=np.int64))
        by_flow = np.array(read.columns([each] * 6, FLOWS_SIGNED)).reshape(3, 2, each).astype(np.int32)
        by_flow[2] += by_flow[1]
    return columns.astype(np.int32), quantiles.astype(np.uint16), flows, result[37].astype(np.uint8), by_flow


def _stats_columns(columns: Columns, quantiles: Codes, flows: Codes, sources: Bytes) -> list[Ints]:
    whole, codes = columns.astype(np.int64), quantiles.astype(np.int64)
    counts, low, mean, high, errors = (whole[at] for at in (COUNT, MIN, MEAN, MAX, CLOCK_ERROR))
    middle, largest = _codes(whole)
    later = [np.where(counts < fewer, largest - codes[q], codes[q] - codes[q - 1]) for q, fewer in enumerate(FEWER, 1)]
    turned = (whole[M2] & MASK) >> 8 | (whole[M2] & 0xFF) << 24
    return [
        *(counts[OUTBOUND], counts[INBOUND] - counts[OUTBOUND], counts[ROUND_TRIP] - counts[INBOUND]),
        *whole[LOST],
        *(whole[SENT] - counts - whole[LOST]),
        *low[:ROUND_TRIP],
        *(mean - low)[:ROUND_TRIP],
        mean[ROUND_TRIP] - mean[OUTBOUND] - mean[INBOUND],
        mean[ROUND_TRIP] - low[ROUND_TRIP],
        *(high - mean),
        *(errors[OUTBOUND], errors[INBOUND] - errors[OUTBOUND], errors[ROUND_TRIP]),
        *(turned - _squares(whole)),
        *(codes[0] - middle),
        *later[0],
        *later[1],
        *later[2],
        flows.astype(np.int64),
        sources.astype(np.int64),
    ]


def _codes(columns: Ints) -> tuple[Ints, Ints]:
    """Codes of the means and the largest values: what quantiles are near to."""
    some = columns[COUNT] > 0
    return np.where(some, llq16.bins_of(columns[MEAN]) + 1, 0), np.where(some, llq16.bins_of(columns[MAX]) + 1, 0)


def _squares(columns: Ints) -> Ints:
    """Return the prediction of m2 up to a factor: count · range², as the upper 24 bits of a float32."""
    span = columns[MAX].astype(np.float64) - columns[MIN]
    near: Ints = (span * span * columns[COUNT]).astype(np.float32).view(np.uint32).astype(np.int64) >> 8
    return near


def pack_sketches(lengths: Ints, words: Words, columns: Columns) -> bytes:
    """Return the body of sketches; `lengths` has shape (3, n), `columns` are those of their stats."""
    size = lengths.reshape(-1)
    way, bins, sizes, further = _written(size, words)
    least, most, n = llq16.bins_of(columns[MIN]).reshape(-1), llq16.bins_of(columns[MAX]).reshape(-1), size.size // 3
    some, ends = sizes > 0, np.cumsum(sizes)
    firsts, lasts = (ends - sizes)[some], (ends - 1)[some]
    ends_stored = bool((bins[firsts] == least[some]).all() and (bins[lasts] == most[some]).all())
    heads = [*lengths] if way == WORDS else [*lengths, *sizes.reshape(3, n)]
    parts = [bytes([way | ENDS_TOLD * ends_stored]), pack(heads, (False,) * len(heads))]
    gaps, stays = np.diff(bins, prepend=0) & llq16.BINS - 1, np.ones(bins.size, bool)
    stays[firsts] = False
    stays[lasts] &= not ends_stored
    cuts = [0, *np.cumsum(sizes.reshape(3, n).sum(axis=1)).tolist()]
    for direction in range(3):
        mine = slice(cuts[direction], cuts[direction + 1])
        known = firsts[(firsts >= mine.start) & (firsts < mine.stop)]
        result = pack(
            [bins[known][: 0 if ends_stored else None], gaps[mine][stays[mine]], *further[mine][None][: way != VALUES]],
            _SIGNED_BY_WAY[way],
        )
        parts += [len(result).to_bytes(4, "little"), result]
    return b"".join(parts)


def unpack_sketches(body: bytes, n: int, columns: Columns) -> tuple[Ints, Words]:
    """Return the arguments of `pack_sketches`; `n` targets. coding.Exhausted."""
    read = Unpacker(body)
    mode = read.number(1)
    way, ends_stored = mode & ~ENDS_TOLD, bool(mode & ENDS_TOLD)
    result = read.columns([n] * (3 if way == WORDS else 6), (False,) * (3 if way == WORDS else 6))
    words = []
    for direction in range(3):
        read.number(4)
        sizes = result[direction] if way == WORDS else result[direction + 3]
        some = sizes > 0
        many, held = int(sizes.sum()), int(np.count_nonzero(some))
        left = int(np.maximum(sizes - 2, 0).sum()) if ends_stored else many - held
        parts = [0 if ends_stored else held, left] + [many] * (way != VALUES)
        firsts, gaps, *more = read.columns(parts, _SIGNED_BY_WAY[way])
        ends = np.cumsum(sizes)
        starts, lasts = (ends - sizes)[some], (ends - 1)[some]
        stays = np.ones(many, bool)
        stays[starts] = False
        if ends_stored:
            firsts, stays[lasts] = llq16.bins_of(columns[MIN, direction])[some], False
        steps = np.zeros(many, np.int64)
        steps[stays] = gaps
        bins = _running(steps, starts, firsts, sizes[some]) & llq16.BINS - 1
        if ends_stored:
            bins[lasts] = llq16.bins_of(columns[MAX, direction])[some]
        if way == WORDS:
            words.append((bins << 5 | more[0]).astype(np.uint16))
        elif way == VALUES:
            new = np.ones(many, bool)
            new[1:] = bins[1:] != bins[:-1]
            new[starts] = True
            begun = np.flatnonzero(new)
            words.append((bins[begun] << 5 | np.diff(begun, append=many) - 1).astype(np.uint16))
        else:
            words.append(llq16.canonical_words(bins, _running(more[0], starts, more[0][starts], sizes[some]) + 1)[0])
    return np.array(result[:3]), np.concatenate(words)


def _written(size: Ints, words: Words) -> tuple[int, Ints, Ints, Ints]:
    """Return the layout of sketches of `size` words each: its number, the bins, the number of bins of each sketch, and
    the further column (codes, or the difference of each bin to the one before)."""
    bins, codes = words.astype(np.int64) >> 5, words.astype(np.int64) & 31
    again, lengths = llq16.canonical(words, size)
    if not (np.array_equal(lengths, size) and np.array_equal(again, words)):
        return WORDS, bins, size, codes
    owners, counts = llq16.owners_of(size), llq16.COUNT_OF_CODE[codes].astype(np.int64)
    groups = size.size
    keys = owners << 11 | bins
    new = np.ones(keys.size, bool)
    new[1:] = keys[1:] != keys[:-1]
    begun = np.flatnonzero(new)
    sums = np.add.reduceat(counts, begun) if begun.size else counts
    if words.size and int(sums.max()) <= 16 and int(counts.sum()) <= 2 * words.size:
        totals = np.bincount(owners, weights=counts, minlength=groups).astype(np.int64)
        return VALUES, np.repeat(bins, counts), totals, codes
    more = np.diff(sums, prepend=1)
    fresh = np.ones(begun.size, bool)
    fresh[1:] = np.diff(owners[begun]) != 0
    more[fresh] = sums[fresh] - 1
    return RUNS, bins[begun], np.bincount(owners[begun], minlength=groups).astype(np.int64), more


def _running(steps: Ints, starts: Ints, firsts: Ints, sizes: Ints) -> Ints:
    """Running sums in stretches of `sizes` that begin at `starts` with `firsts`."""
    running = np.cumsum(steps)
    return running - np.repeat(running[starts] - firsts, sizes)
