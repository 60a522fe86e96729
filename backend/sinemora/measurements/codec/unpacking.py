"""Blocks of many frames, decoded at once into arrays of all their targets."""

from collections.abc import Collection, Sequence

import numpy as np
import sinemora_native as native

from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.flows import slowest
from sinemora.measurements.codec.frame import Sketches, Stats
from sinemora.measurements.codec.llq16 import Ints

DIRECTIONS = (frame.OUTBOUND, frame.INBOUND, frame.ROUND_TRIP)
ONE_WAY = (frame.OUTBOUND, frame.INBOUND)
_NO_SHIFTS = np.empty(0, np.int64)
_NO_FLOWS = np.empty((3, 2, 0), np.int32)


def stats_of(blobs: Sequence[bytes]) -> Stats:
    """Return the stats of all targets of all blocks, in their order. FrameError."""
    return Stats(*native.decode_stats(blobs))


def stats_at(blobs: Sequence[bytes], places: Ints) -> Stats:
    """Return the stats of one target of each block, that at the `places` in them. FrameError."""
    if single := native.decode_stats_at(blobs, places):
        return Stats(*single, _NO_FLOWS)
    sizes = np.array([frame.targets_in(blob) for blob in blobs], np.int64)
    return stats_of(blobs).take(np.cumsum(sizes) - sizes + places)


def round_trip_values(blobs: Sequence[bytes], quantile: int) -> Ints:
    """Return one of `frame.QUANTILES`, by its place, of the round trips of all targets of all blocks, in their order.

    Nanoseconds as `llq16.values_within` gives them, -1 for no value. FrameError.
    """
    return native.round_trip_values(blobs, quantile)


def slowest_values(blobs: Sequence[bytes], quantile: int) -> Ints:
    """Return `round_trip_values`, no less than what the slowest flows take where they are stored (`flows.slowest`)."""
    values = round_trip_values(blobs, quantile)
    first = 0
    for blob in blobs:
        n = frame.targets_in(blob)
        if blob[frame.BODY_AT]:  # the body begins with whether flows are stored
            stats = slowest(frame.decode_stats(blob))
            codes = stats.quantiles[quantile, frame.ROUND_TRIP]
            within = llq16.values_within(codes, *stats.columns[[frame.MIN, frame.MAX], frame.ROUND_TRIP])
            values[first : first + n] = np.where(codes > 0, within, -1)
        first += n
    return values


def sketches_of(
    blobs: Sequence[bytes], stats: Stats, directions: Collection[int] = DIRECTIONS, shifts_ns: Ints = _NO_SHIFTS
) -> Sketches:
    """Return the sketches of all targets of all blocks, in their order; empty ones of all but these `directions`.

    `stats` are those of the same blocks, as they are stored. `shifts_ns` of each target are added to outbound delays
    and taken from inbound ones. FrameError.
    """
    wanted = [direction in directions for direction in DIRECTIONS]
    return Sketches(*native.decode_sketches(blobs, stats.columns, wanted, shifts_ns))


def shifted(sketches: Sketches, shifts_ns: Ints) -> Sketches:
    """Move each value to its bin after the shift of its target is added to outbound delays and taken from inbound ones.

    Bins still ascend, but may repeat.
    """
    if not shifts_ns.any():
        return sketches
    by = np.repeat(np.concatenate((shifts_ns, -shifts_ns, np.zeros_like(shifts_ns))), sketches.lengths.reshape(-1))
    bins = llq16.bins_of(llq16.values_of(sketches.words >> 5) + by)
    words = np.where(by != 0, bins << 5 | sketches.words & 31, sketches.words).astype(np.uint16)
    return Sketches(sketches.lengths, words)
