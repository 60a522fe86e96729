"""Frames: one agent's window towards all its peers, as two columns of bytes; and evidence of spikes.

`stats` and `sketch` are stored apart because most queries need only one of them. All numbers are little-endian.
Directions are in the order outbound, inbound, round trip. The layouts of stats and sketches are those of the crate
`sinemora-native` (`agent/native/src/frame/mod.rs`), which writes and reads them.

    0  1  codec version: 3 for stats, 2 for sketch, 1 for evidence
    1  1  kind: 0 stats, 1 sketch, 2 evidence
    2  2  n, the number of targets (1 … 256) in the order of the frame's roster, or of exchanges
    4     evidence: one zstd frame (level 1, content size and checksum included)
          others: 4 bytes of checksum of the body and the four bytes before; from 8 on the body

  evidence, 24 * n bytes: the exchanges around a spike
    0        24 n  3 x n signed numbers of 64 bits, shuffled (all first bytes, then all second bytes …): ns from the
                   start of the window, then the delays outbound and inbound, ns

Delay columns of an entry with count 0 hold 0 and mean nothing.
"""

import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import sinemora_native as native
import zstandard
from sinemora_native import FrameError

from sinemora.measurements.codec import llq16
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
from sinemora.measurements.codec.llq16 import Ints, Words

__all__ = [  # of the codec, for all modules that read frames
    "CLOCK_ERROR", "COUNT", "INBOUND", "LOST", "M2", "MAX", "MEAN", "MIN", "OUTBOUND", "ROUND_TRIP", "SENT",
    "FrameError",
]  # fmt: skip

TARGETS_MAX = 256
ASSUMED, MESH, HARDWARE = range(3)
FLOW_COUNT, FLOW_MIN, FLOW_P50 = range(3)
QUANTILES = (0.5, 0.9, 0.99, 0.999)
INT32_MAX = (1 << 31) - 1
M2_MAX = 3.4e38
"""The largest sum of squares that is stored; a float32 holds a little more."""

_EVIDENCE, _EVIDENCE_VERSION = 2, 1
_REVERSED = [INBOUND, OUTBOUND, ROUND_TRIP]
_HEADER = struct.Struct("<BBH")
BODY_AT = 8
_local = threading.local()  # zstd contexts are costly to make and must not be shared between threads

Columns = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers of three directions towards n targets.

    `columns` has shape (8, 3, n), indexed by `COUNT` … `M2` (the last as float32 bits); `quantiles` has shape
    (4, 3, n): `QUANTILES` as LLQ16 bin + 1, 0 for no value; `flows` and `asymmetry_source` (`ASSUMED` …) have
    shape (n,). `by_flow` has shape (3, 2, m), indexed by `FLOW_COUNT` … and direction: the flows of all targets that
    have more than one, in their order, or m = 0 without single flows.
    """

    columns: Columns
    quantiles: Codes
    flows: Codes
    asymmetry_source: Bytes
    by_flow: Columns

    @property
    def targets(self) -> int:
        return int(self.columns.shape[2])

    @property
    def m2(self) -> npt.NDArray[np.float32]:
        """Sum of squared deviations from the mean, ns^2, shape (3, n)."""
        bits: Columns = self.columns[M2]
        return bits.view(np.float32)

    def take(self, positions: npt.NDArray[np.integer] | slice) -> "Stats":
        """Return the same for some of the targets."""
        by_flow = self.by_flow
        if by_flow.shape[2]:
            widths = widths_of(self.flows)
            firsts = (np.cumsum(widths) - widths)[positions]
            taken = widths[positions]
            within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
            by_flow = by_flow[:, :, np.repeat(firsts, taken) + within]
        return Stats(
            np.ascontiguousarray(self.columns[:, :, positions]),
            self.quantiles[:, :, positions],
            self.flows[positions],
            self.asymmetry_source[positions],
            by_flow,
        )

    def reversed(self) -> "Stats":
        """Return the same as the targets see it: outbound and inbound change places."""
        return Stats(
            self.columns[:, _REVERSED],
            self.quantiles[:, _REVERSED],
            self.flows,
            self.asymmetry_source,
            self.by_flow[:, ::-1],
        )


@dataclass(frozen=True, slots=True)
class Sketches:
    """Sketches of three directions towards n targets: `lengths` in words, shape (3, n), and all words in that order."""

    lengths: Ints
    words: Words

    def take(self, positions: npt.NDArray[np.integer] | slice) -> "Sketches":
        """Return the same for some of the targets."""
        kept = np.zeros(self.lengths.shape, bool)
        kept[:, positions] = True
        return Sketches(self.lengths[:, positions], self.words[np.repeat(kept.ravel(), self.lengths.ravel())])

    def split(self, bounds: Sequence[int]) -> "Iterator[Sketches]":
        """Yield the sketches between consecutive bounds: `take` of many slices, in one pass over the words."""
        ends = np.cumsum(self.lengths).reshape(self.lengths.shape)
        firsts = ends - self.lengths
        for first, last in pairwise(bounds):
            parts = [
                self.words[firsts[direction, first] : ends[direction, last - 1]]
                for direction in range(self.lengths.shape[0])
            ]
            yield Sketches(self.lengths[:, first:last], np.concatenate(parts))

    def reversed(self) -> "Sketches":
        """Return the same as the targets see it: outbound and inbound change places."""
        cut = np.cumsum(self.lengths.sum(axis=1)).tolist()
        words = (self.words[cut[0] : cut[1]], self.words[: cut[0]], self.words[cut[1] :])
        return Sketches(self.lengths[_REVERSED], np.concatenate(words))


@dataclass(frozen=True, slots=True)
class Frame:
    """Measurements of one VM towards `targets` (VM keys, ascending) in one window."""

    vm_key: int
    targets: Ints
    stats: Stats
    sketches: Sketches

    def blocks(self) -> "Iterable[Frame]":
        """Return the same in pieces of at most `TARGETS_MAX` targets."""
        if self.targets.size <= TARGETS_MAX:
            yield self
            return
        for start in range(0, self.targets.size, TARGETS_MAX):
            part = slice(start, start + TARGETS_MAX)
            yield Frame(self.vm_key, self.targets[part], self.stats.take(part), self.sketches.take(part))

    def encoded(self) -> "list[tuple[Ints, bytes, bytes]]":
        """Targets, stats and sketches of its `blocks`, as they are stored."""
        if not self.targets.size:
            return []
        blocks = encode(self.stats, self.sketches, [self.targets.size])
        cuts = range(0, self.targets.size, TARGETS_MAX)
        return [(self.targets[cut : cut + TARGETS_MAX], *block) for cut, block in zip(cuts, blocks, strict=True)]


def widths_of(flows: Codes) -> Ints:
    """Return the number of entries of `by_flow` of each target."""
    return np.where(flows > 1, flows, 0).astype(np.int64)


def quantile_codes(sketches: Sketches) -> Codes:
    """Return `QUANTILES` of every sketch as bin + 1, 0 for an empty one: the `quantiles` of `Stats`."""
    return summarise(sketches)[1]


def summarise(sketches: Sketches) -> tuple[Ints, Codes]:
    """Return the number of values of each sketch, shape (3, n), and the `quantile_codes`."""
    totals, bins = llq16.summarise(sketches.words, sketches.lengths.reshape(-1), QUANTILES)
    shape = sketches.lengths.shape
    return totals.reshape(shape), (bins + 1).astype(np.uint16).reshape(len(QUANTILES), *shape)


def nothing(n: int) -> Stats:
    """Return stats of n targets of which nothing is known: count 0, sent and lost not known."""
    columns = np.zeros((8, 3, n), np.int32)
    columns[[SENT, LOST]] = -1
    return Stats(
        columns,
        np.zeros((len(QUANTILES), 3, n), np.uint16),
        np.zeros(n, np.uint16),
        np.zeros(n, np.uint8),
        np.empty((3, 2, 0), np.int32),
    )


def concatenate(parts: Iterable[Stats]) -> Stats:
    """Stats of all targets of all parts, in their order."""
    stats = list(parts)
    if not stats:
        return nothing(0)
    return Stats(
        np.concatenate([part.columns for part in stats], axis=2),
        np.concatenate([part.quantiles for part in stats], axis=2),
        np.concatenate([part.flows for part in stats]),
        np.concatenate([part.asymmetry_source for part in stats]),
        flows_together(stats),
    )


def flows_together(stats: list[Stats]) -> Columns:
    """`by_flow` of all parts; a part that does not tell its flows apart has none of them (count 0) if others do."""
    if not any(part.by_flow.shape[2] for part in stats):
        return np.empty((3, 2, 0), np.int32)
    return np.concatenate(
        [
            part.by_flow if part.by_flow.shape[2] else np.zeros((3, 2, int(widths_of(part.flows).sum())), np.int32)
            for part in stats
        ],
        axis=2,
    )


def concatenate_sketches(parts: Iterable[Sketches]) -> Sketches:
    """Sketches of all targets of all parts, in their order."""
    sketches = list(parts)
    if not sketches:
        return Sketches(np.empty((3, 0), np.int64), np.empty(0, np.uint16))
    cuts = [(0, *np.cumsum(part.lengths.sum(axis=1)).tolist()) for part in sketches]
    words = [
        part.words[cut[direction] : cut[direction + 1]]
        for direction in (OUTBOUND, INBOUND, ROUND_TRIP)
        for part, cut in zip(sketches, cuts, strict=True)
    ]
    return Sketches(np.concatenate([part.lengths for part in sketches], axis=1), np.concatenate(words))


def m2_bits(m2: npt.NDArray[np.float64]) -> Columns:
    """Sums of squares as they stand in `columns`: float32 rounded to 16 bits of precision, since more is noise.

    The standard deviation is right within one part in 10^5; the byte saved is one in twelve.
    """
    bits = np.minimum(m2, M2_MAX).astype(np.float32).view(np.int32)
    rounded: Columns = (bits + 0x80) & ~0xFF
    return rounded


def encode(stats: Stats, sketches: Sketches, sizes: Sequence[int]) -> list[tuple[bytes, bytes]]:
    """Return the bytes of stats and of sketches of clients that have `sizes` targets each.

    A block has at most `TARGETS_MAX` targets, and none of two clients. FrameError.
    """
    return native.encode(*_arrays(stats), sketches.lengths, sketches.words, sizes)


def encode_stats(stats: Stats) -> bytes:
    """Return the bytes of the stats of at most `TARGETS_MAX` targets. FrameError."""
    return native.encode_stats(*_arrays(stats))


def decode_stats(blob: bytes) -> Stats:
    """Invert `encode_stats`. FrameError."""
    return Stats(*native.decode_stats([blob]))


def encode_sketches(sketches: Sketches, stats: Stats) -> bytes:
    """Return the bytes of the sketches of at most `TARGETS_MAX` targets, to be read with the same stats only."""
    return native.encode_sketches(sketches.lengths, sketches.words, stats.columns)


def decode_sketches(blob: bytes, stats: Stats) -> Sketches:
    """Invert `encode_sketches`. FrameError."""
    return Sketches(*native.decode_sketches([blob], stats.columns, (True,) * 3, np.empty(0, np.int64)))


def _arrays(stats: Stats) -> tuple[Columns, Codes, Codes, Bytes, Columns]:
    return stats.columns, stats.quantiles, stats.flows, stats.asymmetry_source, stats.by_flow


def encode_evidence(exchanges: Ints) -> bytes:
    """Encode exchanges of shape (3, n): start, outbound and inbound delay."""
    n = exchanges.shape[1]
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
    planes = exchanges.astype("<i8", copy=False).reshape(-1).view(np.uint8).reshape(-1, 8).T.tobytes()
    if not 0 < n <= TARGETS_MAX:
        raise FrameError(f"a frame holds 1 to {TARGETS_MAX} targets, not {n}")
    return _HEADER.pack(_EVIDENCE_VERSION, _EVIDENCE, n) + bytes(_local.compressor.compress(planes))


def decode_evidence(blob: bytes) -> Ints:
    """Invert `encode_evidence`. FrameError."""
    if len(blob) < _HEADER.size:
        raise FrameError("too short for a header")
    version, kind, n = _HEADER.unpack_from(blob)
    if version != _EVIDENCE_VERSION or kind != _EVIDENCE or not 0 < n <= TARGETS_MAX:
        raise FrameError(f"unknown header: version {version}, kind {kind}, {n} targets")
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    try:
        body = np.frombuffer(_local.decompressor.decompress(blob[_HEADER.size :]), np.uint8)
    except zstandard.ZstdError as error:
        raise FrameError(str(error)) from error
    if body.size != 24 * n:
        raise FrameError(f"{n} exchanges take {24 * n} bytes, found {body.size}")
    return np.ascontiguousarray(body.reshape(8, -1).T).view("<i8").reshape(3, n)


def targets_in(blob: bytes) -> int:
    """Return how many targets a block has by its header."""
    return int.from_bytes(blob[2 : _HEADER.size], "little")
