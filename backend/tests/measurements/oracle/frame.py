"""Blocks of stats and sketches in numpy, to compare the native module with."""

import numpy as np

from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    INT32_MAX,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    SENT,
    TARGETS_MAX,
    Columns,
    Frame,
    Sketches,
    Stats,
    m2_bits,
)
from sinemora.measurements.codec.llq16 import Ints
from tests.measurements.oracle import columns, rice

_VERSIONS = (3, 2)


def encode(stats: Stats, sketches: Sketches) -> list[tuple[bytes, bytes]]:
    """Return blocks of stats and sketches, of 256 targets after the other."""
    blocks = Frame(0, np.arange(stats.targets), stats, sketches).blocks()
    return [(encode_stats(block.stats), encode_sketches(block.sketches, block.stats)) for block in blocks]


def encode_stats(stats: Stats) -> bytes:
    """Return a block of stats."""
    arrays = stats.columns, stats.quantiles, stats.flows, stats.asymmetry_source, stats.by_flow
    return _sealed(0, stats.targets, columns.pack_stats(*map(np.ascontiguousarray, arrays)))


def encode_sketches(sketches: Sketches, stats: Stats) -> bytes:
    """Return a block of sketches."""
    body = columns.pack_sketches(np.ascontiguousarray(sketches.lengths), sketches.words, stats.columns)
    return _sealed(1, sketches.lengths.shape[1], body)


def decode_stats(blob: bytes) -> Stats:
    """Return the stats of a block that is whole."""
    return Stats(*columns.unpack_stats(blob[8:], blob[2] | blob[3] << 8))


def decode_sketches(blob: bytes, stats: Stats) -> Sketches:
    """Return the sketches of a block that is whole."""
    return Sketches(*columns.unpack_sketches(blob[8:], blob[2] | blob[3] << 8, stats.columns))


def merge_columns(columns: Columns, groups: Ints, size: int) -> Columns:
    """Merged columns of `size` groups, shape (8, size), from columns of shape (8, m) and the group of each.

    A group without members comes out as count 0 with sent and lost not known.
    """
    merged = np.zeros((8, size), np.int32)
    merged[SENT] = merged[LOST] = -1
    order = np.argsort(groups, kind="stable")
    if not order.size:
        return merged
    grouped = groups[order]
    starts = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
    present = grouped[starts]
    part = columns[:, order]
    count = part[COUNT].astype(np.int64)
    total = np.add.reduceat(count, starts)
    some = total > 0
    divisor = np.where(some, total, 1)
    mean = np.add.reduceat(count * part[MEAN], starts) / divisor
    deviation = part[MEAN] - np.repeat(mean, np.diff(np.append(starts, order.size)))
    m2 = np.add.reduceat(part[M2].view(np.float32) + count * deviation**2, starts, dtype=np.float64)
    full = count > 0
    merged[COUNT, present] = np.minimum(total, INT32_MAX)
    merged[MIN, present] = np.where(some, np.minimum.reduceat(np.where(full, part[MIN], INT32_MAX), starts), 0)
    merged[MEAN, present] = np.where(some, np.rint(mean), 0)
    merged[MAX, present] = np.where(some, np.maximum.reduceat(np.where(full, part[MAX], -INT32_MAX), starts), 0)
    merged[CLOCK_ERROR, present] = np.maximum.reduceat(np.where(full, part[CLOCK_ERROR], 0), starts)
    merged[M2, present] = m2_bits(np.where(some, m2, 0))
    merged[SENT, present], merged[LOST, present] = _losses(part[SENT], part[LOST], starts)
    return merged


def _losses(sent: Columns, lost: Columns, starts: Ints) -> tuple[Ints, Ints]:
    """Packets sent and lost of each group over the windows that know both; else sent alone, where it is known."""
    known = (sent >= 0) & (lost >= 0)
    both = np.logical_or.reduceat(known, starts)
    either = np.logical_or.reduceat(sent >= 0, starts)
    sent_known = np.add.reduceat(np.where(known, sent, 0), starts, dtype=np.int64)
    sent_alone = np.add.reduceat(np.maximum(sent, 0), starts, dtype=np.int64)
    lost_known = np.add.reduceat(np.where(known, lost, 0), starts, dtype=np.int64)
    return np.where(both, sent_known, np.where(either, sent_alone, -1)), np.where(both, lost_known, -1)


def _sealed(kind: int, n: int, body: bytes) -> bytes:
    assert 0 < n <= TARGETS_MAX
    head = bytes([_VERSIONS[kind], kind]) + n.to_bytes(2, "little")
    return head + rice.checksum(int.from_bytes(head, "little"), body).to_bytes(4, "little") + body
