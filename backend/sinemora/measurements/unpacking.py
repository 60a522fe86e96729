"""Many stored blocks decoded at once, into arrays of all their targets: compiled loops where they are, else one by one.

Layouts are those of `frame.py`. Decompression is the library's, by as many threads as there are for loops.
"""

import threading
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.measurements import fast, frame, sketch
from sinemora.measurements.frame import FrameError, Sketches, Stats
from sinemora.measurements.sketch import Ints

DIRECTIONS = (frame.OUTBOUND, frame.INBOUND, frame.ROUND_TRIP)
ONE_WAY = (frame.OUTBOUND, frame.INBOUND)
_NO_SHIFTS = np.empty(0, np.int64)
_local = threading.local()


def stats_of(blobs: Sequence[bytes]) -> Stats:
    """Stats of all targets of all blocks, in their order. FrameError."""
    loops = fast.loops()
    if not loops or not blobs:
        return frame.concatenate(frame.decode_stats(blob) for blob in blobs)
    heads = frame.heads_of(frame.STATS, blobs)
    bodies, ends = _bodies(blobs)
    versions, sizes = np.array([head[0] for head in heads], np.uint8), np.array([head[1] for head in heads], np.int64)
    lengths = np.diff(ends, prepend=0)
    told = np.where(versions == 1, 116, 123) * sizes
    flows_bytes = lengths - told
    wrong = (flows_bytes < 0) | (flows_bytes % 24 > 0) | ((versions == 1) & (flows_bytes > 0))
    if wrong.any():
        frame.decode_stats(blobs[int(np.argmax(wrong))])  # says what is wrong
    first, n = np.cumsum(sizes) - sizes, int(sizes.sum())
    columns, quantiles = np.empty((8, 3, n), np.int32), np.empty((4, 3, n), np.uint16)
    flows, sources = np.empty(n, np.uint16), np.empty(n, np.uint8)
    fast.each(
        partial(
            loops.decode_stats, bodies, ends - lengths, versions, sizes, first, low, high, columns, quantiles, flows,
            sources,
        )
        for low, high in fast.halves(len(blobs))
    )  # fmt: skip
    by_flow = np.empty((3, 2, 0), np.int32)
    if flows_bytes.any():
        parts = [Stats(columns[:, :, a:b], quantiles[:, :, a:b], flows[a:b], sources[a:b],
                       frame.flows_of(bodies[end - tail : end], flows[a:b]))
                 for a, b, end, tail in zip(first, first + sizes, ends, flows_bytes, strict=True)]  # fmt: skip
        by_flow = frame.flows_together(parts)
    return Stats(columns, quantiles, flows, sources, by_flow)


def round_trip_codes(blobs: Sequence[bytes], quantile: int) -> npt.NDArray[np.uint16]:
    """One of p50, p90, p99 (by its place in `frame.QUANTILES`) of the round trips of all targets of all blocks, in
    their order: LLQ16 bin + 1, 0 for no value; what `stats_of` says, with nothing else unpacked. FrameError."""
    if not blobs:
        return np.empty(0, np.uint16)
    heads = frame.heads_of(frame.STATS, blobs)
    bodies, ends = _bodies(blobs)
    lows: list[list[Any]] = [[] for _ in range(quantile + 1)]
    highs: list[list[Any]] = [[] for _ in range(quantile + 1)]
    start = 0
    for number, ((version, n), end) in enumerate(zip(heads, ends.tolist(), strict=True)):
        kept = 3 if version == 1 else len(frame.QUANTILES)
        codes, plane = start + 96 * n, (3 * kept + 1) * n
        if codes + 2 * plane > end:
            frame.decode_stats(blobs[number])  # says what is wrong
        for which in range(quantile + 1):
            at = codes + (3 * which + frame.ROUND_TRIP) * n
            lows[which].append(bodies[at : at + n])
            highs[which].append(bodies[at + plane : at + plane + n])
        start = end
    found = np.zeros(sum(n for _, n in heads), np.uint16)
    for low, high in zip(lows, highs, strict=True):  # each is stored as what it has more than the one before
        found += np.concatenate(low) | np.concatenate(high).astype(np.uint16) << np.uint16(8)
    return found


def sketches_of(
    blobs: Sequence[bytes], directions: Collection[int] = DIRECTIONS, shifts_ns: Ints = _NO_SHIFTS
) -> Sketches:
    """Sketches of all targets of all blocks, in their order; of `directions` only, those of the others are empty.

    `shifts_ns` of each target are added to outbound delays and taken from inbound ones. FrameError.
    """
    loops = fast.loops()
    if not loops or not blobs:
        return _without(shifted(frame.concatenate_sketches(map(frame.decode_sketches, blobs)), shifts_ns), directions)
    sizes = np.array([head[1] for head in frame.heads_of(frame.SKETCH, blobs)], np.int64)
    bodies, ends = _bodies(blobs)
    at = ends - np.diff(ends, prepend=0)
    first, n = np.cumsum(sizes) - sizes, int(sizes.sum())
    stored = np.empty((3, n), np.int64)
    wrong = loops.decode_lengths(bodies, at, ends, sizes, first, stored)
    if wrong >= 0:
        frame.decode_sketches(blobs[wrong])  # says what is wrong
    lengths = stored.copy()
    lengths[[direction for direction in DIRECTIONS if direction not in directions]] = 0
    starts = (np.cumsum(lengths) - lengths.reshape(-1)).reshape(3, n)
    starts[[direction for direction in DIRECTIONS if direction not in directions]] = -1
    words = np.empty(int(lengths.sum()), np.uint16)
    shifts_ns = np.ascontiguousarray(shifts_ns) if shifts_ns.any() else np.empty(0, np.int64)
    fast.each(
        partial(
            loops.decode_words, bodies, at, ends, sizes, first, low, high, stored, starts, shifts_ns,
            sketch.VALUE_OF_BIN, words,
        )
        for low, high in fast.halves(len(blobs))
    )  # fmt: skip
    return Sketches(lengths, words)


def shifted(sketches: Sketches, shifts_ns: Ints) -> Sketches:
    """Each value moved to the bin it is in when the shift of its target is added to outbound delays and taken from
    inbound ones; bins still ascend, but may repeat."""
    if not shifts_ns.any():
        return sketches
    by = np.repeat(np.concatenate((shifts_ns, -shifts_ns, np.zeros_like(shifts_ns))), sketches.lengths.reshape(-1))
    bins = sketch.bins_of(sketch.values_of(sketches.words >> 5) + by)
    words = np.where(by != 0, bins << 5 | sketches.words & 31, sketches.words).astype(np.uint16)
    return Sketches(sketches.lengths, words)


def _without(sketches: Sketches, directions: Collection[int]) -> Sketches:
    """Only these directions."""
    kept = np.isin(DIRECTIONS, list(directions))
    if kept.all():
        return sketches
    words = sketches.words[np.repeat(kept, sketches.lengths.sum(axis=1))]
    return Sketches(np.where(kept[:, None], sketches.lengths, 0), words)


def _bodies(blobs: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], Ints]:
    """What stands behind the heads of all blocks, decompressed and one after the other, and where each ends."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    packed: list[Any] = [blob[frame.HEAD_SIZE :] for blob in blobs]
    try:
        found = _local.decompressor.multi_decompress_to_buffer(packed, threads=fast.THREADS)
    except (zstandard.ZstdError, ValueError) as error:
        for blob in blobs:  # one of them is broken: it says itself
            frame.body_of(blob)
        raise FrameError(str(error)) from error
    parts = [found[i] for i in range(len(found))]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum([len(part) for part in parts], dtype=np.int64)
