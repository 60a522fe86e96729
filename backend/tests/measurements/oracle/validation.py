"""Columns of reports read by the protobuf library and checked in numpy, to compare the native module with."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    INT32_MAX,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    QUANTILES,
    ROUND_TRIP,
    SENT,
    Sketches,
)
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.ingest.agent_pb2 import Columns, MeshWindow
from sinemora.measurements.ingest.payload import MalformedReport
from tests.measurements.oracle import llq16

DIRECTIONS = ("outbound", "inbound", "round_trip")
INTEGERS = ((COUNT, "count"), (SENT, "sent"), (LOST, "lost"), (MIN, "min_ns"), (MEAN, "mean_ns"), (MAX, "max_ns"))


class _Table(NamedTuple):
    """Columns of a window towards n peers, as they were sent."""

    targets: Ints
    flows: Ints
    values: Ints
    m2: npt.NDArray[np.float64]
    lengths: Ints
    words: npt.NDArray[np.uint16]


class Checked(NamedTuple):
    """Columns of a window as they are stored."""

    targets: Ints
    columns: npt.NDArray[np.int32]
    quantiles: frame.Codes
    flows: frame.Codes
    sketches: Sketches
    clamped: int


def checked(message: MeshWindow, path: str, own_key: int) -> Checked:
    """Read and check the columns of a window with peers. MalformedReport."""
    return _checked(_table(message, path), path, own_key)


def _summarise(sketches: Sketches) -> tuple[Ints, frame.Codes]:
    totals, bins = llq16.summarise(sketches.words, sketches.lengths.reshape(-1), QUANTILES)
    shape = sketches.lengths.shape
    return totals.reshape(shape), (bins + 1).astype(np.uint16).reshape(len(QUANTILES), *shape)


def _table(message: MeshWindow, path: str) -> _Table:
    """Return the columns of a window. MalformedReport."""
    targets = np.array(message.peer_keys, np.int64)
    n = targets.size
    if len(message.flows) != n:
        raise MalformedReport(f"{path}.flows", f"{len(message.flows)} entries for {n} peers")
    values, m2 = np.empty((7, 3, n), np.int64), np.empty((3, n), np.float64)
    lengths = np.empty((3, n), np.int64)
    words = [
        _read(getattr(message, name), f"{path}.{name}", values[:, direction], m2[direction], lengths[direction])
        for direction, name in enumerate(DIRECTIONS)
    ]
    return _Table(targets, np.array(message.flows, np.int64), values, m2, lengths, np.concatenate(words))


def _checked(table: _Table, path: str, own_key: int) -> Checked:
    """Check a window and cut its numbers. MalformedReport names the first rule that is broken."""
    targets, values, m2, n = table.targets, table.values, table.m2, table.targets.size
    if targets[0] <= 0 or targets[-1] > INT32_MAX or not (targets[1:] > targets[:-1]).all():
        raise MalformedReport(f"{path}.peer_keys", "keys of VMs are above 0 and strictly ascending")
    if (targets == own_key).any():
        raise MalformedReport(f"{path}.peer_keys", f"{own_key} is the reporting VM itself")
    sketches = Sketches(table.lengths, table.words)
    flat = table.lengths.reshape(-1)
    if int(flat.max()) >= 1 << 16 or not llq16.is_ordered(table.words, flat):
        words, flat = llq16.canonical(table.words, flat)
        sketches = Sketches(flat.reshape(3, n), words)
    totals, quantiles = _summarise(sketches)
    for wrong, name, complaint in _complaints(values, m2, totals, _ends(sketches)):
        if wrong.any():
            direction, i = np.argwhere(wrong)[0].tolist()
            raise MalformedReport(f"{path}.{DIRECTIONS[direction]}.{name}", f"{complaint} (peer {targets[i]})")
    columns = np.empty((8, 3, n), np.int32)
    columns[:M2] = np.clip(values, -INT32_MAX, INT32_MAX)
    columns[M2] = frame.m2_bits(m2)
    clamped = int(np.count_nonzero(columns[:M2] != values))
    return Checked(targets, columns, quantiles, np.minimum(table.flows, 0xFFFF).astype(np.uint16), sketches, clamped)


def _read(
    columns: Columns, path: str, values: Ints, m2: npt.NDArray[np.float64], lengths: Ints
) -> npt.NDArray[np.uint16]:
    """Copy one direction's columns into `values` (7, n), `m2` (n) and `lengths` (n); returns its words."""
    n = m2.size
    # Repeated fields offer their memory to numpy, so no number becomes a Python object.
    for name, target in (*((name, values[which]) for which, name in INTEGERS), ("m2", m2), ("sketch_words", lengths)):
        column = getattr(columns, name)
        if len(column) != n:
            raise MalformedReport(f"{path}.{name}", f"{len(column)} entries for {n} peers")
        target[:] = np.asarray(column)
    if len(columns.clock_error_ns) != n:
        raise MalformedReport(f"{path}.clock_error_ns", f"{len(columns.clock_error_ns)} entries for {n} peers")
    # Unsigned 64 bits: cut before they become signed.
    values[CLOCK_ERROR] = np.minimum(np.asarray(columns.clock_error_ns), np.uint64(INT32_MAX + 1))
    if 2 * int(lengths.sum()) != len(columns.sketch):
        raise MalformedReport(
            f"{path}.sketch", f"{len(columns.sketch)} bytes, but sketch_words add up to {int(lengths.sum())} words"
        )
    return np.frombuffer(columns.sketch, "<u2")


def _ends(sketches: Sketches) -> tuple[Ints, Ints]:
    """Return the first and last bin of every sketch, shape (3, n); undefined for empty ones."""
    flat = sketches.lengths.reshape(-1)
    ends = np.cumsum(flat)
    if not sketches.words.size:
        nothing = np.zeros(sketches.lengths.shape, np.int64)
        return nothing, nothing
    bins = (sketches.words >> 5).astype(np.int64)
    first = bins[np.minimum(ends - flat, bins.size - 1)]
    return first.reshape(sketches.lengths.shape), bins[np.maximum(ends - 1, 0)].reshape(sketches.lengths.shape)


def _complaints(
    values: Ints, m2: npt.NDArray[np.float64], totals: Ints, ends: tuple[Ints, Ints]
) -> Iterator[tuple[npt.NDArray[np.bool_], str, str]]:
    """Yield the possible errors: mask, column, and the broken rule."""
    count, sent, lost = values[COUNT], values[SENT], values[LOST]
    low, mean, high = values[MIN], values[MEAN], values[MAX]
    empty = count == 0
    yield count > INT32_MAX, "count", "more than 2^31 - 1"
    yield (sent < -1) | (sent > INT32_MAX), "sent", "packets sent are -1 (not known), 0 or more"
    yield lost < -1, "lost", "packets lost are -1 (not known), 0 or more"
    yield (lost > sent) & (lost >= 0), "lost", "more packets lost than sent, or lost known and sent not"
    yield empty & ((low | high) != 0), "min_ns", "delays of a peer with count 0 are 0"
    yield low > mean, "mean_ns", "the mean is below the minimum"
    yield mean > high, "mean_ns", "the mean is above the maximum"
    yield ~((m2 >= 0) & np.isfinite(m2)), "m2", "a sum of squares is a finite number, 0 or more"
    yield totals != count, "sketch", "the sketch holds another number of delays than count"
    first, last = ends
    yield ~empty & (first != llq16.bins_of(low)), "sketch", "its smallest delay is not in the bin of min_ns"
    yield ~empty & (last != llq16.bins_of(high)), "sketch", "its largest delay is not in the bin of max_ns"
    clocks = np.zeros(count.shape, bool)
    clocks[ROUND_TRIP] = values[CLOCK_ERROR, ROUND_TRIP] != 0
    yield clocks, "clock_error_ns", "a round trip has no clock error"
