"""Many stored blocks decoded at once, into arrays of all their targets: compiled loops where they are, else one by one.

Layouts are those of `frame.py`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec import fast, frame, llq16
from sinemora.measurements.codec.flows import slowest
from sinemora.measurements.codec.frame import Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints

DIRECTIONS = (frame.OUTBOUND, frame.INBOUND, frame.ROUND_TRIP)
ONE_WAY = (frame.OUTBOUND, frame.INBOUND)
_NO_SHIFTS = np.empty(0, np.int64)
_PADS = [bytes(size) for size in range(8)]


def stats_of(blobs: Sequence[bytes]) -> Stats:
    """Stats of all targets of all blocks, in their order. FrameError."""
    loops = fast.packing()
    if not loops or not blobs:
        return frame.concatenate(frame.decode_stats(blob) for blob in blobs)
    blocks = _blocks(frame.STATS, blobs)
    n = blocks.all_targets
    columns, quantiles = np.empty((8, 3, n), np.int32), np.empty((4, 3, n), np.uint16)
    flows, sources = np.empty(n, np.uint16), np.empty(n, np.uint8)
    ends = np.zeros(blocks.at.size, np.int64)
    fast.each(
        partial(loops.unpack_stats, *blocks.arrays, low, high, columns, quantiles, flows, sources, ends)
        for low, high in fast.halves(blocks.at.size)
    )
    by_flow = np.empty((3, 2, 0), np.int32)
    for at in np.flatnonzero(ends < 0).tolist():
        frame.decode_stats(blobs[at])  # says what is wrong
    told = {at: frame.decode_stats(blobs[at]) for at in np.flatnonzero(ends > 0).tolist()}
    if any(one.by_flow.shape[2] for one in told.values()):
        none = np.empty((3, 2, 0), np.int32)
        bounds = [*blocks.first, n]
        by_flow = frame.flows_together(
            [
                Stats(columns[:, :, a:b], quantiles[:, :, a:b], flows[a:b], sources[a:b],
                      told[number].by_flow if number in told else none)
                for number, (a, b) in enumerate(pairwise(bounds))
            ]
        )  # fmt: skip
    return Stats(columns, quantiles, flows, sources, by_flow)


def stats_at(blobs: Sequence[bytes], places: Ints) -> Stats:
    """Stats of one target of each block, in their order: that at the `places` in them. FrameError."""
    loops, size = fast.packing(), len(blobs)
    if loops and blobs:
        blocks = _blocks(frame.STATS, blobs)
        if (places < blocks.arrays[3]).all():
            columns, quantiles = np.empty((8, 3, size), np.int32), np.empty((4, 3, size), np.uint16)
            flows, sources = np.empty(size, np.uint16), np.empty(size, np.uint8)
            told = fast.each(
                partial(loops.unpack_stats_at, *blocks.arrays[:4], places, a, b, columns, quantiles, flows, sources)
                for a, b in fast.halves(size)
            )
            if max(told) < 0:
                return Stats(columns, quantiles, flows, sources, np.empty((3, 2, 0), np.int32))
    sizes = np.array([frame.targets_in(blob) for blob in blobs], np.int64)
    return stats_of(blobs).take(np.cumsum(sizes) - sizes + places)


def round_trip_codes(blobs: Sequence[bytes], quantile: int) -> npt.NDArray[np.uint16]:
    """One of `frame.QUANTILES`, by its place, of the round trips of all targets of all blocks, in their order.

    LLQ16 bin + 1, 0 for no value. FrameError.
    """
    loops = fast.picking()
    if not loops or not blobs:
        return _codes_of(blobs, quantile)
    blocks = _blocks(frame.STATS, blobs)
    codes = np.empty(blocks.all_targets, np.uint16)
    ended = fast.each(
        partial(loops.round_trip_codes, *blocks.arrays, low, high, quantile, codes)
        for low, high in fast.halves(blocks.at.size)
    )
    if max(ended) >= 0:
        return _codes_of(blobs, quantile)  # says what is wrong
    return codes


def _codes_of(blobs: Sequence[bytes], quantile: int) -> npt.NDArray[np.uint16]:
    codes: npt.NDArray[np.uint16] = stats_of(blobs).quantiles[quantile, frame.ROUND_TRIP]
    return codes


def slowest_codes(blobs: Sequence[bytes], quantile: int) -> npt.NDArray[np.uint16]:
    """The same, no less than what the slowest flows take where they are told apart (`flows.slowest`). FrameError."""
    codes = round_trip_codes(blobs, quantile)
    first = 0
    for blob, n in zip(blobs, frame.targets_of(frame.STATS, blobs), strict=True):
        if blob[frame.BODY_AT]:  # the block tells flows apart
            codes[first : first + n] = slowest(frame.decode_stats(blob)).quantiles[quantile, frame.ROUND_TRIP]
        first += n
    return codes


def sketches_of(
    blobs: Sequence[bytes], stats: Stats, directions: Collection[int] = DIRECTIONS, shifts_ns: Ints = _NO_SHIFTS
) -> Sketches:
    """Sketches of all targets of all blocks, in their order; of `directions` only, those of the others are empty.

    `stats` are those of the same blocks, as they are stored.

    `shifts_ns` of each target are added to outbound delays and taken from inbound ones. FrameError.
    """
    loops = fast.packing()
    if loops and blobs:
        blocks = _blocks(frame.SKETCH, blobs)
        if blocks.all_targets == stats.targets:
            return _sketches_fast(loops, blocks, stats, directions, shifts_ns) or _sketches(blobs, stats)
    return _without(shifted(_sketches(blobs, stats), shifts_ns), directions)


def _sketches(blobs: Sequence[bytes], stats: Stats) -> Sketches:
    ends = np.cumsum(frame.targets_of(frame.SKETCH, blobs)).tolist()
    return frame.concatenate_sketches(
        frame.decode_sketches(blob, stats.take(slice(a, b)))
        for blob, (a, b) in zip(blobs, pairwise([0, *ends]), strict=True)
    )


def _sketches_fast(
    loops: Any, blocks: "_Blocks", stats: Stats, directions: Collection[int], shifts_ns: Ints
) -> Sketches | None:
    """None when a block is broken: read one by one, it says so itself."""
    lengths = np.empty((3, blocks.all_targets), np.int64)
    if loops.unpack_lengths(*blocks.arrays, lengths) >= 0:
        return None
    left = [direction for direction in DIRECTIONS if direction not in directions]
    lengths[left] = 0
    starts = (np.cumsum(lengths) - lengths.reshape(-1)).reshape(lengths.shape)
    starts[left] = -1
    words, columns = np.empty(int(lengths.sum()), np.uint16), np.ascontiguousarray(stats.columns)
    shifts_ns = np.ascontiguousarray(shifts_ns) if shifts_ns.any() else np.empty(0, np.int64)
    found = fast.each(
        partial(loops.unpack_words, *blocks.arrays, low, high, columns, starts, shifts_ns, llq16.VALUE_OF_BIN, words)
        for low, high in fast.halves(blocks.at.size)
    )
    return Sketches(lengths, words) if max(found) < 0 else None


def shifted(sketches: Sketches, shifts_ns: Ints) -> Sketches:
    """Each value moved to the bin it is in when the shift of its target is added to outbound delays and taken from
    inbound ones; bins still ascend, but may repeat."""
    if not shifts_ns.any():
        return sketches
    by = np.repeat(np.concatenate((shifts_ns, -shifts_ns, np.zeros_like(shifts_ns))), sketches.lengths.reshape(-1))
    bins = llq16.bins_of(llq16.values_of(sketches.words >> 5) + by)
    words = np.where(by != 0, bins << 5 | sketches.words & 31, sketches.words).astype(np.uint16)
    return Sketches(sketches.lengths, words)


def _without(sketches: Sketches, directions: Collection[int]) -> Sketches:
    """Only these directions."""
    kept = np.isin(DIRECTIONS, list(directions))
    if kept.all():
        return sketches
    words = sketches.words[np.repeat(kept, sketches.lengths.sum(axis=1))]
    return Sketches(np.where(kept[:, None], sketches.lengths, 0), words)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks side by side in words of 64 bits: what the compiled loops read.

    `arrays`: the words, and for each block where its body begins, its bytes, its targets and the position of the first
    of these. `first` has these positions as a list.
    """

    arrays: tuple[npt.NDArray[np.uint64], Ints, Ints, Ints, Ints]
    first: list[int]
    all_targets: int

    @property
    def at(self) -> Ints:
        return self.arrays[1]


def _blocks(kind: int, blobs: Sequence[bytes]) -> _Blocks:
    """FrameError where a head or a checksum is wrong."""
    targets = np.array(frame.targets_of(kind, blobs), np.int64)
    lengths = np.array([len(blob) for blob in blobs], np.int64)
    rooms = lengths + 7 & ~7
    joined = b"".join(part for blob in blobs for part in (blob, _PADS[-len(blob) & 7])) + bytes(16)
    words = np.frombuffer(joined, "<u8")
    first, at = np.cumsum(targets) - targets, (np.cumsum(rooms) - rooms + frame.BODY_AT) // 8
    sizes = lengths - frame.BODY_AT
    arrays = words, at, sizes, targets, first
    wrong = int(np.argmax(sizes < 0)) if (sizes < 0).any() else fast.packing().first_harmed(*arrays[:3])
    if wrong >= 0:
        frame.body_of(blobs[wrong])  # says what is wrong
    return _Blocks(arrays, first.tolist(), int(targets.sum()))
