"""Frames: one agent's window towards all its peers, as two compressed columns of bytes; and evidence of spikes.

`stats` and `sketch` are stored apart because most questions need only one of them. Both begin with the same four
bytes and go on with one zstd frame (level 1, content size and checksum included). All numbers are little-endian.
*Shuffled* means that the first bytes of all numbers come first, then all second bytes, and so on: equal high bytes
then stand together and vanish under zstd. Directions are in the order outbound, inbound, round trip.

    0  1  codec version: 2 for stats, 1 for the others
    1  1  kind: 0 stats, 1 sketch, 2 evidence
    2  2  n, the number of targets (1 … 256) in the order of the frame's roster, or of exchanges
    4     zstd of

  stats, 123 * n + 24 * m bytes; m the sum of flows of targets with more than one, or 0 where flows are not told apart
    0        96 n  8 x 3 x n numbers of 32 bits, shuffled: count, sent, lost, min_ns, mean_ns, max_ns, clock_error_ns
                   (signed; sent and lost are -1 when not known) and m2 (float, ns^2), each for the three directions
    96 n     26 n  13 x n unsigned numbers of 16 bits, shuffled: p50, p90, p99, p99.9 as LLQ16 bin + 1 (0: no value),
                   each for the three directions, then the number of source ports used
    122 n       n  unsigned numbers of 8 bits: what one-way delays stand on (0 assumed, 1 mesh, 2 hardware clocks)
    123 n    24 m  3 x 2 x m signed numbers of 32 bits, shuffled: count, min_ns, p50_ns of each flow, each for outbound
                   and inbound

    Numbers that follow from one another are stored as differences (of two's complement, without carry), marked ±
    where they are zigzag coded so that small negative ones stay small:
      mean_ns   less min_ns;         of the round trip: ± less the means of both directions
      min_ns    as it is;            of the round trip: its mean less its minimum
      max_ns    less mean_ns         clock_error_ns of the inbound direction: ± less that of the outbound one
      p90       less p50             p99 less p90, p99.9 less p99
      p50_ns of a flow less its min_ns

  Version 1 of stats, still read, has 116 * n bytes: no p99.9, nothing after the source ports. With less than 1,000
  values the p99.9 is the largest one; with more it is not known and comes out as no value.

  sketch, 6 * n bytes and 2 bytes a word
    0         6 n  3 x n unsigned numbers of 16 bits, shuffled: words of each sketch
    6 n            the LLQ16 words of all sketches, one after the other, shuffled; in place of its bin each word has
                   that bin less the bin of the word before it in the same sketch (11 bits, without carry)

  evidence, 24 * n bytes: the exchanges around a spike
    0        24 n  3 x n signed numbers of 64 bits, shuffled: ns from the start of the window, then the delays
                   outbound and inbound, ns

Delay columns of an entry with count 0 hold 0 and mean nothing.
"""

import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.measurements import fast, sketch
from sinemora.measurements.sketch import Ints, Words

CODEC_VERSION = 1
STATS_VERSION = 2
TARGETS_MAX = 256
OUTBOUND, INBOUND, ROUND_TRIP = range(3)
COUNT, SENT, LOST, MIN, MEAN, MAX, CLOCK_ERROR, M2 = range(8)
ASSUMED, MESH, HARDWARE = range(3)
FLOW_COUNT, FLOW_MIN, FLOW_P50 = range(3)
QUANTILES = (0.5, 0.9, 0.99, 0.999)
INT32_MAX = (1 << 31) - 1

STATS, SKETCH, _EVIDENCE = range(3)
_REVERSED = [INBOUND, OUTBOUND, ROUND_TRIP]
_HEADER = struct.Struct("<BBH")
HEAD_SIZE = _HEADER.size
_M2_MAX = 3.4e38
_local = threading.local()  # zstd contexts are costly to make and must not be shared between threads

Number = TypeVar("Number", np.int32, np.int64, np.uint16)
Columns = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]


class FrameError(ValueError):
    """These bytes are no frame this version can read."""


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


def widths_of(flows: Codes) -> Ints:
    """How many entries of `by_flow` each target has, where flows are told apart."""
    return np.where(flows > 1, flows, 0).astype(np.int64)


def quantile_codes(sketches: Sketches) -> Codes:
    """`QUANTILES` of every sketch as bin + 1, 0 for an empty one: the `quantiles` of `Stats`."""
    return summarise(sketches)[1]


def summarise(sketches: Sketches) -> tuple[Ints, Codes]:
    """How many values each sketch holds, shape (3, n), and their `quantile_codes`."""
    totals, bins = sketch.summarise(sketches.words, sketches.lengths.reshape(-1), QUANTILES)
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
    bits = np.minimum(m2, _M2_MAX).astype(np.float32).view(np.int32)
    rounded: Columns = (bits + 0x80) & ~0xFF
    return rounded


def encode_stats(stats: Stats) -> bytes:
    """Bytes of at most `TARGETS_MAX` targets."""
    told = stats.by_flow.shape[2]
    if told not in (0, int(widths_of(stats.flows).sum())):
        raise FrameError(f"{told} flows of targets that have {int(widths_of(stats.flows).sum())}")
    if packing := fast.packing():
        packed = np.empty(123 * stats.targets + 24 * told, np.uint8)
        packing.pack_stats(
            *(np.ascontiguousarray(one) for one in (stats.columns, stats.quantiles, stats.flows)),
            np.ascontiguousarray(stats.asymmetry_source), np.ascontiguousarray(stats.by_flow), packed,
        )  # fmt: skip
        return _pack(STATS, stats.targets, packed, STATS_VERSION)
    columns, quantiles = stats.columns.astype("<i4"), stats.quantiles.astype("<u2")
    means, low, high = stats.columns[MEAN], stats.columns[MIN], stats.columns[MAX]
    columns[MEAN] = means - low
    columns[MAX] = high - means
    columns[MEAN, ROUND_TRIP] = _zigzag(means[ROUND_TRIP] - means[OUTBOUND] - means[INBOUND])
    columns[MIN, ROUND_TRIP] = means[ROUND_TRIP] - low[ROUND_TRIP]
    columns[CLOCK_ERROR, INBOUND] = _zigzag(columns[CLOCK_ERROR, INBOUND] - columns[CLOCK_ERROR, OUTBOUND])
    quantiles[1:] -= stats.quantiles[:-1]
    by_flow = stats.by_flow.astype("<i4")
    by_flow[FLOW_P50] -= stats.by_flow[FLOW_MIN]
    short = np.concatenate((quantiles.reshape(-1), stats.flows))
    body = _shuffled(columns) + _shuffled(short) + stats.asymmetry_source.tobytes() + _shuffled(by_flow)
    return _pack(STATS, stats.targets, body, STATS_VERSION)


def decode_stats(blob: bytes) -> Stats:
    """Inverse of `encode_stats`. Raises `FrameError`."""
    version, n, body = _unpack(STATS, blob, STATS_VERSION)
    quantiled = 3 if version == 1 else len(QUANTILES)
    size = 96 * n + 2 * (3 * quantiled + 1) * n + (0 if version == 1 else n)
    if body.size != size if version == 1 else (body.size - size) % 24 or body.size < size:
        raise FrameError(f"stats of {n} targets take {size} bytes and 24 a flow, found {body.size}")
    columns = _unshuffled(body[: 96 * n], np.int32).reshape(8, 3, n)
    short = _unshuffled(body[96 * n : 96 * n + 2 * (3 * quantiled + 1) * n], np.uint16)
    columns[CLOCK_ERROR, INBOUND] = _unzigzag(columns[CLOCK_ERROR, INBOUND]) + columns[CLOCK_ERROR, OUTBOUND]
    means = columns[MEAN]
    means[:ROUND_TRIP] += columns[MIN, :ROUND_TRIP]
    means[ROUND_TRIP] = _unzigzag(means[ROUND_TRIP]) + means[OUTBOUND] + means[INBOUND]
    columns[MIN, ROUND_TRIP] = means[ROUND_TRIP] - columns[MIN, ROUND_TRIP]
    columns[MAX] += means
    quantiles = short[:-n].reshape(quantiled, 3, n)
    for i in range(1, quantiled):
        quantiles[i] += quantiles[i - 1]
    flows = short[-n:]
    if version == 1:
        codes = np.where((columns[COUNT] > 0) & (columns[COUNT] < 1000), sketch.bins_of(columns[MAX]) + 1, 0)
        whole = np.concatenate((quantiles, codes.astype(np.uint16)[None]))
        return Stats(columns, whole, flows, np.zeros(n, np.uint8), np.empty((3, 2, 0), np.int32))
    return Stats(columns, quantiles, flows, body[size - n : size].copy(), flows_of(body[size:], flows))


def flows_of(tail: Bytes, flows: Codes) -> Columns:
    """`by_flow` from the end of the body of stats. Raises `FrameError`."""
    by_flow = _unshuffled(tail, np.int32).copy().reshape(3, 2, -1)
    if by_flow.shape[2] not in (0, int(widths_of(flows).sum())):
        raise FrameError(f"{by_flow.shape[2]} flows of targets that have {int(widths_of(flows).sum())}")
    by_flow[FLOW_P50] += by_flow[FLOW_MIN]
    return by_flow


def encode_sketches(sketches: Sketches) -> bytes:
    """Bytes of at most `TARGETS_MAX` targets."""
    if packing := fast.packing():
        lengths = np.ascontiguousarray(sketches.lengths).reshape(-1)
        packed = np.empty(2 * (lengths.size + sketches.words.size), np.uint8)
        packing.pack_sketches(np.ascontiguousarray(sketches.words), lengths, packed)
        return _pack(SKETCH, sketches.lengths.shape[1], packed)
    bins = sketches.words >> 5
    before = np.zeros_like(bins)
    before[1:] = bins[:-1]
    firsts = np.cumsum(sketches.lengths.reshape(-1)) - sketches.lengths.reshape(-1)
    before[firsts[firsts < bins.size]] = 0
    words = ((bins - before) << 5 | sketches.words & 31).astype("<u2", copy=False)
    return _pack(SKETCH, sketches.lengths.shape[1], _shuffled(sketches.lengths.astype("<u2")) + _shuffled(words))


def decode_sketches(blob: bytes) -> Sketches:
    """Inverse of `encode_sketches`. Raises `FrameError`."""
    _, n, body = _unpack(SKETCH, blob)
    if body.size < 6 * n or body.size % 2:
        raise FrameError(f"sketches of {n} targets do not fit {body.size} bytes")
    lengths = _unshuffled(body[: 6 * n], np.uint16).astype(np.int64)
    words = _unshuffled(body[6 * n :], np.uint16)
    ends = np.cumsum(lengths)
    if int(ends[-1]) != words.size:
        raise FrameError(f"sketches of {int(ends[-1])} words, found {words.size}")
    running = np.zeros(words.size + 1, np.uint16)
    np.cumsum(words >> 5, out=running[1:], dtype=np.uint16)
    bins = running[1:] - np.repeat(running[ends - lengths], lengths)
    return Sketches(lengths.reshape(3, n), bins << 5 | words & 31)


def encode_evidence(exchanges: Ints) -> bytes:
    """Bytes of exchanges of shape (3, n): start, outbound and inbound delay."""
    return _pack(_EVIDENCE, exchanges.shape[1], _shuffled(exchanges.astype("<i8", copy=False)))


def decode_evidence(blob: bytes) -> Ints:
    """Inverse of `encode_evidence`. Raises `FrameError`."""
    _, n, body = _unpack(_EVIDENCE, blob)
    if body.size != 24 * n:
        raise FrameError(f"{n} exchanges take {24 * n} bytes, found {body.size}")
    return _unshuffled(body, np.int64).reshape(3, n)


def _zigzag(numbers: Columns) -> Columns:
    """0, -1, 1, -2 … as 0, 1, 2, 3 …"""
    return numbers << 1 ^ numbers >> 31


def _unzigzag(numbers: Columns) -> Columns:
    return (numbers.view(np.uint32) >> 1).view(np.int32) ^ -(numbers & 1)


def _shuffled(numbers: npt.NDArray[Number]) -> bytes:
    return numbers.reshape(-1).view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _unshuffled(planes: npt.NDArray[np.uint8], dtype: type[Number]) -> npt.NDArray[Number]:
    size = np.dtype(dtype).itemsize
    return np.ascontiguousarray(planes.reshape(size, -1).T).view(np.dtype(dtype).newbyteorder("<")).reshape(-1)


def _pack(kind: int, n: int, body: bytes | Bytes, version: int = CODEC_VERSION) -> bytes:
    if not 0 < n <= TARGETS_MAX:
        raise FrameError(f"a frame holds 1 to {TARGETS_MAX} targets, not {n}")
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
    return _HEADER.pack(version, kind, n) + bytes(_local.compressor.compress(body))


def heads_of(kind: int, blobs: Sequence[bytes]) -> list[tuple[int, int]]:
    """Versions and numbers of targets. Raises `FrameError`."""
    newest = STATS_VERSION if kind == STATS else CODEC_VERSION
    return [_head(kind, blob, newest) for blob in blobs]


def targets_in(blob: bytes) -> int:
    """How many targets a block says it holds."""
    return int.from_bytes(blob[2:HEAD_SIZE], "little")


def body_of(blob: bytes) -> bytes:
    """What stands behind the head, decompressed. Raises `FrameError`."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    try:
        body: bytes = _local.decompressor.decompress(memoryview(blob)[HEAD_SIZE:])
    except zstandard.ZstdError as error:
        raise FrameError(str(error)) from error
    return body


def _head(kind: int, blob: bytes, newest: int) -> tuple[int, int]:
    if len(blob) < HEAD_SIZE:
        raise FrameError("too short for a header")
    version, found, n = _HEADER.unpack_from(blob)
    if not 0 < version <= newest or found != kind or not 0 < n <= TARGETS_MAX:
        raise FrameError(f"unknown header: version {version}, kind {found}, {n} targets")
    return version, n


def _unpack(kind: int, blob: bytes, newest: int = CODEC_VERSION) -> tuple[int, int, Bytes]:
    """Version, number of targets and body."""
    return *_head(kind, blob, newest), np.frombuffer(body_of(blob), np.uint8)
