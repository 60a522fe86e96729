"""Frames: one agent's window towards all its peers, as two columns of bytes; and evidence of spikes.

`stats` and `sketch` are stored apart because most questions need only one of them. All numbers are little-endian.
Directions are in the order outbound, inbound, round trip.

    0  1  codec version: 3 for stats, 2 for sketch, 1 for evidence
    1  1  kind: 0 stats, 1 sketch, 2 evidence
    2  2  n, the number of targets (1 … 256) in the order of the frame's roster, or of exchanges
    4     evidence: one zstd frame (level 1, content size and checksum included)
          others: 4 bytes of checksum (`coding.checksum`) of the body and the four bytes before; from 8 on the body

  The bodies of stats and sketch are packs of columns, each in as few bits as its numbers need: see `coding.py`. In
  each column stands what is left of a number once others that were read before say where to look for it. *Code* stands
  for an LLQ16 bin + 1, 0 for no value; the codes of mean and max are 0 where count is.

  stats: 1 byte that is 1 where flows are told apart, a pack, and then one more pack. Columns (± signed):
    count of the outbound direction, ± what inbound has more, ± what round trip has more than that
    lost; ± sent less count and lost, each x 3 directions (-1 when not known)
    min_ns of outbound and inbound; their mean_ns less min_ns
    ± mean_ns of the round trip less both; that mean less min_ns of the round trip
    max_ns less mean_ns, x 3
    clock_error_ns of the outbound direction, ± what inbound has more; of the round trip
    ± m2 x 3, bits of a float32 (ns^2) rotated right by 8, less the upper 24 bits of (max_ns - min_ns)^2 * count
    ± p50 less the code of mean_ns, x 3
    p90, p99, p99.9, each x 3: where count is below 10, 100, 1,000 the code of max_ns less it, else it less the one
    before
    number of source ports used; what one-way delays stand on (0 assumed, 1 mesh, 2 hardware clocks)
  The other pack has a number for each flow of each target with more than one:
    count x 2 directions, min_ns x 2, p50_ns less min_ns x 2

  sketch: 1 byte, the mode; a pack; then for each direction 4 bytes that say how long it is, and a pack
    Modes: 0 words as they are; 1 value by value, for canonical sketches of one word a bin (at most 16 values) and at
    most two values a word on average; 2 bins with their counts, for other canonical ones. 4 more where the first and
    last bin of each sketch are those of its min_ns and max_ns, as they should be.
    The first pack has the number of words of each sketch, x 3 directions; in modes 1 and 2 that of values or bins too.
    Those of directions have the first bins of sketches that are not empty, unless 4 is told; how far each further bin
    is from the one before it, of 2048 (but for the last ones, where 4 is told); and in mode 0 the codes of all words,
    in mode 2 ± what each count is more than the one before it, the first ones more than 1.

  evidence, 24 * n bytes: the exchanges around a spike
    0        24 n  3 x n signed numbers of 64 bits, shuffled: ns from the start of the window, then the delays
                   outbound and inbound, ns

Delay columns of an entry with count 0 hold 0 and mean nothing.
"""

import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.measurements.codec import columns as column_layouts
from sinemora.measurements.codec import fast, llq16, rice
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

__all__ = [  # of the layouts, for all who read frames
    "CLOCK_ERROR", "COUNT", "INBOUND", "LOST", "M2", "MAX", "MEAN", "MIN", "OUTBOUND", "ROUND_TRIP", "SENT",
    "FrameError",
]  # fmt: skip

VERSIONS = (3, 2, 1)
"""The codec version of each kind."""
TARGETS_MAX = 256
ASSUMED, MESH, HARDWARE = range(3)
FLOW_COUNT, FLOW_MIN, FLOW_P50 = range(3)
QUANTILES = (0.5, 0.9, 0.99, 0.999)
INT32_MAX = (1 << 31) - 1
M2_MAX = 3.4e38
"""The largest sum of squares that is told; a float32 holds a little more."""

STATS, SKETCH, _EVIDENCE = range(3)
_REVERSED = [INBOUND, OUTBOUND, ROUND_TRIP]
_HEADER = struct.Struct("<BBH")
HEAD_SIZE = _HEADER.size
BODY_AT = 8
_local = threading.local()  # zstd contexts are costly to make and must not be shared between threads

Columns = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]


class FrameError(ValueError):
    """Bytes that are no frame."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers of three directions towards n targets.

    `columns` has shape (8, 3, n), indexed by `COUNT` … `M2` (the last as float32 bits); `quantiles` has shape
    (4, 3, n): `QUANTILES` as LLQ16 bin + 1, 0 for no value; `flows` and `asymmetry_source` (`ASSUMED` …) have
    shape (n,). `by_flow` has shape (3, 2, m), indexed by `FLOW_COUNT` … and direction: the flows of all targets that
    have more than one, in their order, or m = 0 where flows are not told apart.
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
        """The same for some of the targets."""
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
        """The same as the targets see it: outbound and inbound change places."""
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
        """The same for some of the targets."""
        kept = np.zeros(self.lengths.shape, bool)
        kept[:, positions] = True
        return Sketches(self.lengths[:, positions], self.words[np.repeat(kept.ravel(), self.lengths.ravel())])

    def reversed(self) -> "Sketches":
        """The same as the targets see it: outbound and inbound change places."""
        cut = np.cumsum(self.lengths.sum(axis=1)).tolist()
        words = (self.words[cut[0] : cut[1]], self.words[: cut[0]], self.words[cut[1] :])
        return Sketches(self.lengths[_REVERSED], np.concatenate(words))


@dataclass(frozen=True, slots=True)
class Frame:
    """What one VM measured towards `targets` (VM keys, ascending) in one window."""

    vm_key: int
    targets: Ints
    stats: Stats
    sketches: Sketches

    def blocks(self) -> "Iterable[Frame]":
        """The same in pieces of at most `TARGETS_MAX` targets."""
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
        sealed = encode(self.stats, self.sketches)
        cuts = range(0, self.targets.size, TARGETS_MAX)
        return [(self.targets[cut : cut + TARGETS_MAX], *made) for cut, made in zip(cuts, sealed, strict=True)]


def widths_of(flows: Codes) -> Ints:
    """How many entries of `by_flow` each target has, where flows are told apart."""
    return np.where(flows > 1, flows, 0).astype(np.int64)


def quantile_codes(sketches: Sketches) -> Codes:
    """`QUANTILES` of every sketch as bin + 1, 0 for an empty one: the `quantiles` of `Stats`."""
    return summarise(sketches)[1]


def summarise(sketches: Sketches) -> tuple[Ints, Codes]:
    """How many values each sketch holds, shape (3, n), and their `quantile_codes`."""
    totals, bins = llq16.summarise(sketches.words, sketches.lengths.reshape(-1), QUANTILES)
    shape = sketches.lengths.shape
    return totals.reshape(shape), (bins + 1).astype(np.uint16).reshape(len(QUANTILES), *shape)


def nothing(n: int) -> Stats:
    """Stats of n targets of which nothing is known: count 0, sent and lost not known."""
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


def encode(stats: Stats, sketches: Sketches) -> list[tuple[bytes, bytes]]:
    """Bytes of stats and of sketches, of `TARGETS_MAX` targets after the other."""
    n = stats.targets
    if not n:
        return []
    if not (loops := fast.packing()):
        blocks = Frame(0, np.arange(n), stats, sketches).blocks()
        return [(encode_stats(block.stats), encode_sketches(block.sketches, block.stats)) for block in blocks]
    _check_flows(stats)
    columns, words = np.ascontiguousarray(stats.columns), np.ascontiguousarray(sketches.words)
    by_flow, lengths = np.ascontiguousarray(stats.by_flow), np.ascontiguousarray(sketches.lengths)
    others = [np.ascontiguousarray(one) for one in (stats.quantiles, stats.flows, stats.asymmetry_source)]
    found = np.empty((-(-n // TARGETS_MAX), 2, 2), np.int64)
    # Made once a thread, and always left as it was made: in 0.
    size = loops.sealed_words(columns, by_flow, words, len(found))
    if (room := getattr(_local, "room", None)) is None or room.size < size:
        room = _local.room = np.zeros(size, np.uint64)
    loops.seal(columns, *others, by_flow, lengths, words, TARGETS_MAX, room, found)
    written = room.data.cast("B")
    spans = found.tolist()
    made = [(bytes(written[a : a + one]), bytes(written[b : b + other])) for (a, one), (b, other) in spans]
    room[: (sum(spans[-1][1]) + 7) // 8] = 0
    return made


def _check_flows(stats: Stats) -> None:
    told = stats.by_flow.shape[2]
    if told and told != int(widths_of(stats.flows).sum()):
        raise FrameError(f"{told} flows of targets that have {int(widths_of(stats.flows).sum())}")


def encode_stats(stats: Stats) -> bytes:
    """Bytes of the stats of at most `TARGETS_MAX` targets, by numpy: `encode` makes the same."""
    _check_flows(stats)
    arrays: list[Any] = [
        np.ascontiguousarray(one)
        for one in (stats.columns, stats.quantiles, stats.flows, stats.asymmetry_source, stats.by_flow)
    ]
    return _checked(STATS, stats.targets, column_layouts.pack_stats(*arrays) if stats.targets else b"")


def decode_stats(blob: bytes) -> Stats:
    """Inverse of `encode_stats`. Raises `FrameError`."""
    n = _head(STATS, blob)
    try:
        stats = Stats(*column_layouts.unpack_stats(body_of(blob), n))
    except rice.Exhausted:
        raise FrameError(f"stats of {n} targets that go beyond their bytes") from None
    return stats


def encode_sketches(sketches: Sketches, stats: Stats) -> bytes:
    """Bytes of the sketches of at most `TARGETS_MAX` targets, to be read with the same stats only; by numpy."""
    lengths, n = np.ascontiguousarray(sketches.lengths), sketches.lengths.shape[1]
    return _checked(SKETCH, n, column_layouts.pack_sketches(lengths, sketches.words, stats.columns) if n else b"")


def decode_sketches(blob: bytes, stats: Stats) -> Sketches:
    """Inverse of `encode_sketches`. Raises `FrameError`."""
    n = _head(SKETCH, blob)
    if n != stats.targets:
        raise FrameError(f"sketches of {n} targets beside stats of {stats.targets}")
    try:
        sketches = Sketches(*column_layouts.unpack_sketches(body_of(blob), n, stats.columns))
    except rice.Exhausted:
        raise FrameError(f"sketches of {n} targets that go beyond their bytes") from None
    return sketches


def encode_evidence(exchanges: Ints) -> bytes:
    """Bytes of exchanges of shape (3, n): start, outbound and inbound delay."""
    n = exchanges.shape[1]
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
    planes = exchanges.astype("<i8", copy=False).reshape(-1).view(np.uint8).reshape(-1, 8).T.tobytes()
    return _head_of(_EVIDENCE, n) + bytes(_local.compressor.compress(planes))


def decode_evidence(blob: bytes) -> Ints:
    """Inverse of `encode_evidence`. Raises `FrameError`."""
    n = _head(_EVIDENCE, blob)
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    try:
        body = np.frombuffer(_local.decompressor.decompress(blob[HEAD_SIZE:]), np.uint8)
    except zstandard.ZstdError as error:
        raise FrameError(str(error)) from error
    if body.size != 24 * n:
        raise FrameError(f"{n} exchanges take {24 * n} bytes, found {body.size}")
    return np.ascontiguousarray(body.reshape(8, -1).T).view("<i8").reshape(3, n)


def targets_of(kind: int, blobs: Sequence[bytes]) -> list[int]:
    """Return the number of targets of each block. Raises `FrameError`."""
    return [_head(kind, blob) for blob in blobs]


def targets_in(blob: bytes) -> int:
    """How many targets a block says it holds."""
    return int.from_bytes(blob[2:HEAD_SIZE], "little")


def body_of(blob: bytes) -> bytes:
    """The body of stats or sketches that have a checksum. Raises `FrameError`."""
    head, told = blob[:HEAD_SIZE], blob[HEAD_SIZE:BODY_AT]
    body = bytes(blob[BODY_AT:])
    if len(told) < BODY_AT - HEAD_SIZE or rice.checksum(int.from_bytes(head, "little"), body) != int.from_bytes(
        told, "little"
    ):
        raise FrameError("the checksum is another one: these bytes are not as they were written")
    return body


def _checked(kind: int, n: int, body: bytes) -> bytes:
    head = _head_of(kind, n)
    return head + rice.checksum(int.from_bytes(head, "little"), body).to_bytes(4, "little") + body


def _head_of(kind: int, n: int) -> bytes:
    if not 0 < n <= TARGETS_MAX:
        raise FrameError(f"a frame holds 1 to {TARGETS_MAX} targets, not {n}")
    return _HEADER.pack(VERSIONS[kind], kind, n)


def _head(kind: int, blob: bytes) -> int:
    """Return the number of targets. Raises `FrameError`."""
    if len(blob) < HEAD_SIZE:
        raise FrameError("too short for a header")
    version, found, n = _HEADER.unpack_from(blob)
    if version != VERSIONS[kind] or found != kind or not 0 < n <= TARGETS_MAX:
        raise FrameError(f"unknown header: version {version}, kind {found}, {n} targets")
    return int(n)
