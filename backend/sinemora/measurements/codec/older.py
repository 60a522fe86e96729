"""Frames as they were written before: planes of bytes under zstd. They are read, and no longer written.

Heads are those of `frame.py`; what follows them is one zstd frame with checksum. *Shuffled* means that the first bytes
of all numbers come first, then all second bytes, and so on. Numbers are little-endian, ± marks zigzag coded ones.

  stats 2, 123 * n + 24 * m bytes; m the sum of flows of targets with more than one, or 0 where flows are not told apart
    0        96 n  8 x 3 x n numbers of 32 bits, shuffled: count, sent, lost, min_ns, mean_ns, max_ns, clock_error_ns
                   (signed; sent and lost are -1 when not known) and m2 (float, ns^2), each for the three directions
    96 n     26 n  13 x n unsigned numbers of 16 bits, shuffled: p50, p90, p99, p99.9 as LLQ16 bin + 1 (0: no value),
                   each for the three directions, then the number of source ports used
    122 n       n  unsigned numbers of 8 bits: what one-way delays stand on (0 assumed, 1 mesh, 2 hardware clocks)
    123 n    24 m  3 x 2 x m signed numbers of 32 bits, shuffled: count, min_ns, p50_ns of each flow, each for outbound
                   and inbound

    Numbers that follow from one another are stored as differences (of two's complement, without carry):
      mean_ns   less min_ns;         of the round trip: ± less the means of both directions
      min_ns    as it is;            of the round trip: its mean less its minimum
      max_ns    less mean_ns         clock_error_ns of the inbound direction: ± less that of the outbound one
      p90       less p50             p99 less p90, p99.9 less p99
      p50_ns of a flow less its min_ns

  stats 1 has 116 * n bytes: no p99.9, nothing after the source ports. With less than 1,000 values the p99.9 is the
  largest one; with more it is not known and comes out as no value.

  sketch 1, 6 * n bytes and 2 bytes a word
    0         6 n  3 x n unsigned numbers of 16 bits, shuffled: words of each sketch
    6 n            the LLQ16 words of all sketches, one after the other, shuffled; in place of its bin each word has
                   that bin less the bin of the word before it in the same sketch (11 bits, without carry)
"""

import threading
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.columns import (
    CLOCK_ERROR,
    COUNT,
    INBOUND,
    MAX,
    MEAN,
    MIN,
    OUTBOUND,
    ROUND_TRIP,
    Bytes,
    Codes,
    Columns,
)
from sinemora.measurements.codec.llq16 import Ints, Words

Number = TypeVar("Number", np.int32, np.int64, np.uint16)

_local = threading.local()  # zstd contexts are costly to make and must not be shared between threads


class FrameError(ValueError):
    """These bytes are no frame this version can read."""


def zstd_body(packed: bytes) -> Bytes:
    """What is inside a zstd frame. FrameError."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    try:
        return np.frombuffer(_local.decompressor.decompress(packed), np.uint8)
    except zstandard.ZstdError as error:
        raise FrameError(str(error)) from error


def stats_of(version: int, n: int, packed: bytes) -> tuple[Columns, Codes, Codes, Bytes, Columns]:
    """Columns, quantiles, flows, asymmetry sources and `by_flow` of stats of version 1 or 2. FrameError."""
    body = zstd_body(packed)
    quantiled = 3 if version == 1 else 4
    size = 96 * n + 2 * (3 * quantiled + 1) * n + (0 if version == 1 else n)
    if body.size != size if version == 1 else (body.size - size) % 24 or body.size < size:
        raise FrameError(f"stats of {n} targets take {size} bytes and 24 a flow, found {body.size}")
    columns = unshuffled(body[: 96 * n], np.int32).reshape(8, 3, n)
    short = unshuffled(body[96 * n : 96 * n + 2 * (3 * quantiled + 1) * n], np.uint16)
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
        codes = np.where((columns[COUNT] > 0) & (columns[COUNT] < 1000), llq16.bins_of(columns[MAX]) + 1, 0)
        whole = np.concatenate((quantiles, codes.astype(np.uint16)[None]))
        return columns, whole, flows, np.zeros(n, np.uint8), np.empty((3, 2, 0), np.int32)
    return columns, quantiles, flows, body[size - n : size].copy(), flows_of(body[size:], flows)


def flows_of(tail: Bytes, flows: Codes) -> Columns:
    """`by_flow` from the end of the body of stats of version 2. FrameError."""
    by_flow = unshuffled(tail, np.int32).copy().reshape(3, 2, -1)
    told = int(flows[flows > 1].sum(dtype=np.int64))
    if by_flow.shape[2] not in (0, told):
        raise FrameError(f"{by_flow.shape[2]} flows of targets that have {told}")
    by_flow[2] += by_flow[1]
    return by_flow


def sketches_of(n: int, packed: bytes) -> tuple[Ints, Words]:
    """Lengths (3, n) and words of sketches of version 1. FrameError."""
    body = zstd_body(packed)
    if body.size < 6 * n or body.size % 2:
        raise FrameError(f"sketches of {n} targets do not fit {body.size} bytes")
    lengths = unshuffled(body[: 6 * n], np.uint16).astype(np.int64)
    words = unshuffled(body[6 * n :], np.uint16)
    ends = np.cumsum(lengths)
    if int(ends[-1]) != words.size:
        raise FrameError(f"sketches of {int(ends[-1])} words, found {words.size}")
    running = np.zeros(words.size + 1, np.uint16)
    np.cumsum(words >> 5, out=running[1:], dtype=np.uint16)
    bins = running[1:] - np.repeat(running[ends - lengths], lengths)
    return lengths.reshape(3, n), bins << 5 | words & 31


def unshuffled(planes: npt.NDArray[np.uint8], dtype: type[Number]) -> npt.NDArray[Number]:
    """Numbers from their planes of bytes."""
    size = np.dtype(dtype).itemsize
    return np.ascontiguousarray(planes.reshape(size, -1).T).view(np.dtype(dtype).newbyteorder("<")).reshape(-1)


def _unzigzag(numbers: Columns) -> Columns:
    return (numbers.view(np.uint32) >> 1).view(np.int32) ^ -(numbers & 1)
