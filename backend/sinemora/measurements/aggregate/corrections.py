"""Clocks of a mesh as agents report them, and the corrections stored and applied. Pure: numpy and zstd only.

An agent reports its clocks with each window; only the newest are stored. `symmetry` computes corrections from all of
them, which hold for a limited time. Frames store delays as reported; every reader corrects them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import zstandard

from sinemora.measurements.aggregate import symmetry
from sinemora.measurements.aggregate.symmetry import Ints
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.codec.frame import (
    ASSUMED,
    CLOCK_ERROR,
    COUNT,
    FLOW_COUNT,
    FLOW_MIN,
    FLOW_P50,
    HARDWARE,
    INBOUND,
    INT32_MAX,
    MAX,
    MEAN,
    MESH,
    MIN,
    OUTBOUND,
    Stats,
)

# Offsets of one agent's clock from those of its targets at the end of a window: client minus target. `error_ns` is one
# standard deviation without asymmetry.
CLOCKS = np.dtype(
    [
        ("target", "<i4"),
        ("offset_ns", "<i8"),
        ("error_ns", "<i8"),
        ("skew_ppb", "<i4"),
        ("outbound_min_ns", "<i4"),
        ("inbound_min_ns", "<i4"),
        ("bound_ns", "<i4"),
        ("source", "u1"),
    ]
)
# Corrections of a mesh, by client and target: `shift_ns` is added to outbound delays and taken from inbound ones.
SHIFTS = np.dtype(
    [("client", "<i4"), ("target", "<i4"), ("shift_ns", "<i4"), ("bound_ns", "<i4"), ("deviation_ns", "<i4")]
)
# Clocks start with it as stored. Those that earlier versions stored do not; their offsets have the opposite sign.
_CLIENT_MINUS_TARGET = b"o"
# A window is corrected by corrections that ended at most this long before it, s.
HOLDS_S = 120
# Corrections are stored again when one of them has moved by this much, ns, and by this share of its bound.
_MOVED_NS = 2_000
_MOVED_SHARE = 0.05

Records = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class ClockReport:
    """Clocks that one agent reported: its VM, the end of its window (Unix s), and `CLOCKS`."""

    vm_key: int
    ended_at_s: int
    clocks: Records


@dataclass(frozen=True, slots=True)
class Corrections:
    """Corrections that hold for windows starting in [started_at_s, ended_at_s); `shifts` by client, then target."""

    started_at_s: int
    ended_at_s: int
    shifts: Records


def table_of(targets: Ints, offset_ns: Ints, error_ns: Ints, skew_ppb: Ints, stats: Stats) -> Records:
    """Return the `CLOCKS` of the targets with known clocks (`error_ns` not negative) and measured delays."""
    columns = stats.columns
    known = np.flatnonzero((error_ns >= 0) & (columns[COUNT, :2] > 0).all(axis=0))
    table = np.zeros(known.size, CLOCKS)
    table["target"], table["offset_ns"], table["error_ns"] = targets[known], offset_ns[known], error_ns[known]
    table["skew_ppb"] = skew_ppb[known]
    table["outbound_min_ns"] = columns[MIN, OUTBOUND, known]
    table["inbound_min_ns"] = columns[MIN, INBOUND, known]
    table["bound_ns"] = columns[CLOCK_ERROR, OUTBOUND, known]
    table["source"] = stats.asymmetry_source[known]
    return table


def compute_shifts(reports: Sequence[ClockReport]) -> tuple[Records, symmetry.Floats]:
    """Return the `SHIFTS` of all pairs that can be corrected, and the sums of offsets around loops (ns)."""
    sizes = [report.clocks.size for report in reports]
    clocks = np.concatenate([report.clocks for report in reports]) if reports else np.zeros(0, CLOCKS)
    clients = np.repeat(np.array([report.vm_key for report in reports], np.int64), sizes)
    ended = np.repeat(np.array([report.ended_at_s for report in reports], np.float64), sizes)
    targets = clocks["target"].astype(np.int64)
    vms, ends = np.unique(np.concatenate((clients, targets)), return_inverse=True)
    places = ends.reshape(2, -1)
    at = ended.max() if ended.size else 0.0
    pairs = symmetry.OffsetEstimates(
        vms.size,
        places[0],
        places[1],
        # All at one time; clocks drift by microseconds between windows.
        clocks["offset_ns"] + clocks["skew_ppb"] * (at - ended),
        clocks["error_ns"].astype(np.float64),
        clocks["bound_ns"].astype(np.float64),
        clocks["outbound_min_ns"].astype(np.float64),
        clocks["inbound_min_ns"].astype(np.float64),
        clocks["source"] == HARDWARE,
    )
    corrections = symmetry.correct(pairs)
    kept = np.flatnonzero(corrections.decided)
    shifts = np.zeros(kept.size, SHIFTS)
    shifts["client"], shifts["target"] = clients[kept], targets[kept]
    for name in ("shift_ns", "bound_ns", "deviation_ns"):
        shifts[name] = np.clip(np.rint(getattr(corrections, name)[kept]), -INT32_MAX, INT32_MAX)
    return np.sort(shifts, order=["client", "target"]), corrections.loops_ns


def agrees(known: Records, fresh: Records) -> bool:
    """Return whether both correct the same pairs, and no correction has moved by more than matters."""
    if known.size != fresh.size or (_keys(known) != _keys(fresh)).any():
        return False
    moved = np.maximum(_MOVED_NS, _MOVED_SHARE * known["bound_ns"])
    shift = np.abs(known["shift_ns"].astype(np.int64) - fresh["shift_ns"])
    bound = fresh["bound_ns"].astype(np.int64) - known["bound_ns"]
    return not ((shift > moved) | (bound > moved)).any()


def encode(table: Records) -> bytes:
    """Compress a table."""
    return zstandard.ZstdCompressor(level=1).compress(table.tobytes())


def decode(blob: bytes, kind: np.dtype[np.void]) -> Records:
    """Invert `encode`."""
    return np.frombuffer(zstandard.ZstdDecompressor().decompress(blob), kind)


def encode_clocks(clocks: Records) -> bytes:
    """Compress `CLOCKS`."""
    return _CLIENT_MINUS_TARGET + encode(clocks)


def decode_clocks(blob: bytes) -> Records:
    """Invert `encode_clocks`. Clocks that earlier versions stored are left out: the next window replaces them."""
    if not blob.startswith(_CLIENT_MINUS_TARGET):
        return np.zeros(0, CLOCKS)
    return decode(blob.removeprefix(_CLIENT_MINUS_TARGET), CLOCKS)


def at(known: Sequence[Corrections], started_at_s: int) -> Records | None:
    """Return the shifts of windows that start at a time, or None; `known` is oldest first."""
    for correction in reversed(known):
        if correction.started_at_s <= started_at_s:
            holds = started_at_s < correction.ended_at_s + HOLDS_S
            return correction.shifts if holds and correction.shifts.size else None
    return None


@dataclass(frozen=True, slots=True)
class Shifting:
    """Shifts of the delays of n pairs, and the bounds of their clock errors after it, ns; both only where `found`."""

    shift_ns: Ints
    bound_ns: Ints
    found: npt.NDArray[np.bool_]

    def by(self, stats: Stats) -> Ints:
        """Return the shift of each pair of these stats: none with hardware clocks."""
        return np.where(self.found & (stats.asymmetry_source == ASSUMED), self.shift_ns, 0)


def shifting(
    known: Sequence[Corrections], started_at_s: Sequence[int], sizes: Sequence[int], clients: Ints, targets: Ints
) -> Shifting | None:
    """Return the shifts of the pairs of blocks of `sizes` targets that started at these times; None without any."""
    row_of = {start: at(known, start) for start in set(started_at_s)}
    tables = {id(table): table for table in row_of.values() if table is not None}
    if not tables:
        return None
    rows = np.repeat(np.array([id(row_of[start]) for start in started_at_s]), sizes)
    n = clients.size
    whole = Shifting(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, bool))
    for key, table in tables.items():
        those = np.flatnonzero(rows == key)
        shift, bound, found = _lookup(clients[those], targets[those], table)
        whole.shift_ns[those], whole.bound_ns[those], whole.found[those] = shift, bound, found
    return whole


def corrected(stats: Stats, shifts: Shifting | None) -> Stats:
    """Return stats with one-way delays shifted, and the bound and source of the shift.

    Pairs with hardware clocks, or without a correction, stay as they are.
    """
    if shifts is None:
        return stats
    shift, bound = shifts.shift_ns, shifts.bound_ns
    found = shifts.found & (stats.asymmetry_source == ASSUMED)
    if not found.any():
        return stats
    columns, quantiles = stats.columns.copy(), stats.quantiles.copy()
    by_flow = stats.by_flow.copy()
    widths = frame.widths_of(stats.flows) if by_flow.shape[2] else np.zeros(found.size, np.int64)
    for direction, sign in ((OUTBOUND, 1), (INBOUND, -1)):
        measured = found & (columns[COUNT, direction] > 0)
        by = np.where(measured, sign * shift, 0)
        for column in (MIN, MEAN, MAX):
            columns[column, direction] = _clipped(columns[column, direction].astype(np.int64) + by)
        columns[CLOCK_ERROR, direction] = np.where(measured, bound, columns[CLOCK_ERROR, direction])
        quantiles[:, direction] = _shifted_codes(quantiles[:, direction], by)
        if by_flow.shape[2]:
            of_flow = np.where(by_flow[FLOW_COUNT, direction] > 0, np.repeat(by, widths), 0)
            for column in (FLOW_MIN, FLOW_P50):
                by_flow[column, direction] = _clipped(by_flow[column, direction].astype(np.int64) + of_flow)
    source = np.where(found, MESH, stats.asymmetry_source).astype(np.uint8)
    return Stats(columns, quantiles, stats.flows, source, by_flow)


def _lookup(clients: Ints, targets: Ints, shifts: Records) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Return shift and bound of each pair, and whether it has any."""
    keys, pairs = _keys(shifts), clients.astype(np.int64) << 32 | targets.astype(np.int64)
    place = np.minimum(np.searchsorted(keys, pairs), keys.size - 1)
    found = keys[place] == pairs
    return shifts["shift_ns"][place].astype(np.int64), shifts["bound_ns"][place].astype(np.int64), found


def _keys(shifts: Records) -> Ints:
    keys: Ints = shifts["client"].astype(np.int64) << 32 | shifts["target"].astype(np.int64)
    return keys


def _shifted_codes(codes: frame.Codes, by: Ints) -> frame.Codes:
    known = (codes > 0) & (by != 0)
    bins = llq16.bins_of(llq16.values_of(np.maximum(codes.astype(np.int64) - 1, 0)) + by)
    return np.where(known, bins + 1, codes).astype(np.uint16)


def _clipped(values: Ints) -> npt.NDArray[np.int32]:
    return np.clip(values, -INT32_MAX, INT32_MAX).astype(np.int32)
