"""Matrices: from the windows of pairs to a value, a code and a state for every ordered path of a mesh.

Cells are those of VM x VM; `zone_cells` merges them to zone x zone. `measure` reads one metric and statistic out of
either. A cell without a value is never zero: its state says why.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import sinemora_native as native

from sinemora.measurements.aggregate import rollup
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import (
    CLOCK_ERROR,
    COUNT,
    HARDWARE,
    LOST,
    M2,
    MAX,
    MEAN,
    MIN,
    QUANTILES,
    ROUND_TRIP,
    SENT,
    Codes,
    Columns,
    Sketches,
    Stats,
)
from sinemora.measurements.codec.llq16 import Ints

Flags = npt.NDArray[np.bool_]
Positions = Ints
NONE = -1
LOSS_STEPS = 10_000
ASYMMETRY_ZERO = 32_768
# Keys of an axis lie close together: they are looked up in a table where that is no longer than this.
_LOOKED_UP_MAX = 1 << 22
_BINARY_HEADER = struct.Struct("<4sIIIq")


class Metric(StrEnum):
    """A measured quantity of a path. All but loss are in nanoseconds."""

    ONE_WAY_DELAY = "one_way_delay"
    ROUND_TRIP = "round_trip"
    ASYMMETRY = "asymmetry"
    LOSS = "loss"
    CLOCK_ERROR = "clock_error"
    JITTER = "jitter"


class Statistic(StrEnum):
    """A number that sums up a distribution of delays. Loss and clock error have one number only."""

    MIN = "min"
    MEAN = "mean"
    P50 = "p50"
    P90 = "p90"
    P99 = "p99"
    P999 = "p999"
    MAX = "max"
    SD = "sd"

    @property
    def quantile(self) -> float | None:
        """The quantile this is, None for the others."""
        return _QUANTILE_OF.get(self)


class CellState(IntEnum):
    """Why a cell has a value or none.

    Readers see more: `baselines.NO_BASELINE`, `EARLIER`, `ESTIMATED` and `NO_SERVICE`.
    """

    MEASURED = 0
    NOT_PLANNED = 1
    NO_DATA = 2
    STALE = 3
    LOST = 4


EARLIER = 6
"""State, as readers see it, of a value from an earlier window of the period. Within this package it is `MEASURED`."""
ESTIMATED = 7
"""State, as readers who ask for estimates see it, of a path without a window."""
NO_SERVICE = 8
"""State, as readers see it, of a path whose IEEE 1588 responder serves nothing. Within this package: no window."""


_QUANTILE_OF = dict(zip((Statistic.P50, Statistic.P90, Statistic.P99, Statistic.P999), QUANTILES, strict=True))
_COLUMN_OF = {Statistic.MIN: MIN, Statistic.MEAN: MEAN, Statistic.MAX: MAX}


@dataclass(frozen=True, slots=True)
class Pairs:
    """One window of each of n client-peer pairs; clients and targets are VM keys, times are Unix seconds."""

    clients: Ints
    targets: Ints
    ended_at_s: Ints
    window_s: Ints
    stats: Stats


@dataclass(frozen=True, slots=True)
class DistributionTable:
    """Columns of k distributions, shape (8, k), and their quantile codes, shape (4, k)."""

    columns: Columns
    quantiles: Codes


@dataclass(frozen=True, slots=True)
class Cells:
    """All measurements of every ordered path [source][target] of a square axis, or of one axis by step before these.

    `at` is each path's position in `one_way`, `round_at` its pair's in `round_trip`; `NONE` where there is no window.
    `sources` are the origins of its one-way delays (`frame.ASSUMED` …), the weakest one in a merged cell.
    """

    one_way: DistributionTable
    round_trip: DistributionTable
    at: Positions
    round_at: Positions
    planned: Flags
    stale: Flags
    sources: Positions


@dataclass(frozen=True, slots=True)
class Matrix:
    """Values, bounds of the clocks' error and states, all [source][target]; a value counts where `valued` says so.

    `sources` are the origins of one-way delays (`frame.ASSUMED` …), `NONE` where a value needs none.
    """

    metric: Metric
    values: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    clock_error_ns: Ints
    states: npt.NDArray[np.uint8]
    valued: Flags
    sources: Positions

    def codes(self) -> Codes:
        """16-bit codes for the canvas: 0 no value; delays LLQ16 bin + 1, loss 1 + ratio x 10,000, asymmetry signed."""
        if self.metric is Metric.LOSS:
            codes = 1 + np.rint(self.values * LOSS_STEPS).astype(np.int64)
        elif self.metric is Metric.ASYMMETRY:
            codes = ASYMMETRY_ZERO + np.sign(self.values).astype(np.int64) * llq16.bins_of(np.abs(self.values))
        else:
            values = np.asarray(self.values, np.int64)
            return native.bin_codes(values, self.valued.view(np.uint8)).reshape(values.shape)
        return np.where(self.valued, codes, 0).astype(np.uint16)

    def binary(self, revision: int, ended_at_ms: int) -> bytes:
        """Return the matrix as bytes.

        0 4 "SNM1" · 4 4 rows · 8 4 columns · 12 4 revision of the mesh · 16 8 end of the newest window, Unix ms ·
        24 codes, 16 bits each, row by row · then states, 8 bits each. Little-endian.
        """
        return binary_of(self.codes(), self.states, revision, ended_at_ms)


def binary_of(codes: Codes, states: npt.NDArray[np.uint8], revision: int, ended_at_ms: int) -> bytes:
    """Codes and states in the layout of `Matrix.binary`."""
    header = _BINARY_HEADER.pack(b"SNM1", *states.shape, revision, ended_at_ms)
    return header + codes.astype("<u2").tobytes() + states.tobytes()


def vm_cells(axis: Ints, planned: Flags, pairs: Pairs, now_s: float | None, stale_windows: int) -> Cells:
    """Cells of the VMs `axis` (keys, in the order of the roster): for each path the newest window among `pairs`.

    `planned` says which paths are meant to be measured. A window is stale when it ended more than `stale_windows` of
    its lengths before `now_s`; None: never.
    """
    n, size = pairs.clients.size, axis.size
    rows, columns = positions_of(axis, pairs.clients), positions_of(axis, pairs.targets)
    at = native.newest_windows(rows, columns, pairs.ended_at_s, size)
    old = np.zeros(n, bool) if now_s is None else now_s - pairs.ended_at_s > stale_windows * pairs.window_s
    round_at, stale, sources = native.describe_cells(at, old.view(np.uint8), pairs.stats.asymmetry_source)
    return Cells(
        *_tables(pairs.stats),
        at,
        round_at.reshape(at.shape),
        planned,
        stale.view(bool).reshape(at.shape),
        sources.reshape(at.shape),
    )


def zone_cells(vms: Cells, zone_of: Positions, zones: int, sketches: Sketches | None) -> Cells:
    """Cells of zones, diagonal included, each merged from the paths between its VMs; `zone_of` each VM of the axis.

    A cell is made of its fresh windows, or of its stale ones when it has no other. `sketches` are those of the pairs
    the cells were made of, all of them in the same order; without them there are no quantiles.
    """
    cells = zone_of[:, None] * zones + zone_of[None, :]
    size = zones * zones
    known = vms.at != NONE
    fresh = np.zeros(size, bool)
    fresh[cells[known & ~vms.stale]] = True
    used = known & (~vms.stale | ~fresh[cells])
    one_way = _merged(vms.one_way, vms.at[used], cells[used], size, sketches, 0)
    upper = used & np.triu(np.ones(used.shape, bool), 1)
    low, high = (order(zone_of[:, None], zone_of[None, :]) for order in (np.minimum, np.maximum))
    pair_cells = (low * zones + high)[upper]
    both = vms.round_trip.columns.shape[1] * ROUND_TRIP
    round_trip = _merged(vms.round_trip, vms.round_at[upper], pair_cells, size, sketches, both)
    zone = np.arange(zones)
    present = np.bincount(cells[used], minlength=size).astype(bool).reshape(zones, zones)
    sources = np.full(size, HARDWARE, np.int64)
    np.minimum.at(sources, cells[used], vms.sources[used])
    mirror = np.minimum(zone[:, None], zone) * zones + np.maximum(zone[:, None], zone)
    planned = np.bincount(cells[vms.planned], minlength=size).astype(bool).reshape(zones, zones)
    return Cells(
        one_way,
        round_trip,
        np.where(present, np.arange(size).reshape(zones, zones), NONE),
        np.where(present, mirror, NONE),
        planned,
        present & ~fresh.reshape(zones, zones),
        np.where(present, sources.reshape(zones, zones), NONE),
    )


def zone_pair_cells(
    axis: Ints, zone_of: Positions, planned: Flags, source_keys: Ints, target_keys: Ints, stats: Stats
) -> Cells:
    """Cells of the zones `axis` (keys) from merged pairs of zones; `zone_of` each VM, `planned`: its paths."""
    zones = axis.size
    sources, targets = positions_of(axis, source_keys), positions_of(axis, target_keys)
    known = np.flatnonzero((sources != NONE) & (targets != NONE))
    at = np.full((zones, zones), NONE, np.int64)
    at[targets[known], sources[known]] = sources.size + known
    at[sources[known], targets[known]] = known
    cells = zone_of[:, None] * zones + zone_of[None, :]
    return Cells(
        *_tables(stats),
        at,
        np.where(at == NONE, NONE, at % max(sources.size, 1)),
        np.bincount(cells[planned], minlength=zones * zones).astype(bool).reshape(zones, zones),
        np.zeros((zones, zones), bool),
        np.append(np.tile(stats.asymmetry_source, 2).astype(np.int64), NONE)[at],
    )


def zone_step_cells(steps: int, zones: int, clients: Positions, targets: Positions, stats: Stats) -> Cells:
    """Cells of zones by step, of shape [step][source][target], from merged pairs of zones.

    A client is step x `zones` + the place of the zone, a target the place of its zone. What was measured was planned.
    """
    n = clients.size
    step, sources = np.divmod(clients, max(zones, 1))
    at = np.full((steps, zones, zones), NONE, np.int64)
    at[step, targets, sources] = n + np.arange(n)
    at[step, sources, targets] = np.arange(n)
    return Cells(
        *_tables(stats),
        at,
        np.where(at == NONE, NONE, at % max(n, 1)),
        at != NONE,
        np.zeros(at.shape, bool),
        np.append(np.tile(stats.asymmetry_source, 2).astype(np.int64), NONE)[at],
    )


def _tables(stats: Stats) -> tuple[DistributionTable, DistributionTable]:
    """Both directions of all pairs, outbound first, and their round trips (which follow in the first one too)."""
    one_way = DistributionTable(stats.columns.reshape(8, -1), stats.quantiles.reshape(len(QUANTILES), -1))
    return one_way, DistributionTable(stats.columns[:, ROUND_TRIP], stats.quantiles[:, ROUND_TRIP])


def measure(cells: Cells, metric: Metric, statistic: Statistic) -> Matrix:
    """Return the matrix of one metric and statistic, [source][target]: ns, for loss a ratio."""
    plain = _measured(cells, metric, statistic)
    if metric is Metric.LOSS:
        return _losses(cells, plain.states)
    if metric is Metric.ASYMMETRY:
        return _asymmetries(cells, plain)
    return plain


def _measured(cells: Cells, metric: Metric, statistic: Statistic) -> Matrix:
    """Return what the metric is of each path by itself: of loss its states only, of asymmetry the one-way delays."""
    table, at = (cells.round_trip, cells.round_at) if metric is Metric.ROUND_TRIP else (cells.one_way, cells.at)
    quantile = statistic.quantile
    column = -1 if statistic is Statistic.SD else _COLUMN_OF.get(statistic, CLOCK_ERROR)
    if metric in (Metric.CLOCK_ERROR, Metric.LOSS):
        column, quantile = CLOCK_ERROR, None
    values, errors, states, valued = native.measure_cells(
        table.columns,
        table.quantiles,
        at,
        cells.one_way.columns[SENT : LOST + 1],
        cells.at,
        cells.round_trip.columns[SENT : LOST + 1],
        cells.round_at,
        cells.planned.view(np.uint8),
        cells.stale.view(np.uint8),
        None if quantile is None else QUANTILES.index(quantile),
        column,
        # Delay above the smallest one (RFC 5481, 4.2): the clocks' constant offset is in both and cancels.
        metric is Metric.JITTER and statistic is not Statistic.SD,
    )
    flags = valued.view(bool).reshape(at.shape)
    timed = flags if metric is not Metric.ROUND_TRIP else np.zeros_like(flags)
    return Matrix(
        metric,
        values.reshape(at.shape),
        errors.reshape(at.shape),
        states.reshape(at.shape),
        flags,
        np.where(timed, cells.sources, NONE),
    )


def _asymmetries(cells: Cells, plain: Matrix) -> Matrix:
    """Return how much longer each path takes than its way back."""
    values = plain.values - plain.values.swapaxes(-1, -2)
    clock_error = plain.clock_error_ns + plain.clock_error_ns.swapaxes(-1, -2)
    states = worse(plain.states, plain.states.swapaxes(-1, -2))
    valued = plain.valued & plain.valued.swapaxes(-1, -2)
    states[~valued & (states == CellState.MEASURED)] = CellState.NO_DATA
    # A zone against itself is symmetric by construction, not by measure.
    itself = np.arange(states.shape[-1])
    states[..., itself, itself] = CellState.NOT_PLANNED
    valued[..., itself, itself] = False
    return Matrix(plain.metric, values, clock_error, states, valued, np.where(valued, cells.sources, NONE))


def nullable(values: npt.NDArray[Any], valued: Flags) -> list[Any]:
    """Values as (nested) lists with None where there is none."""
    found = values.astype(object)
    found[~valued] = None
    lists: list[Any] = found.tolist()
    return lists


def packets(cells: Cells) -> tuple[Ints, Ints, Flags]:
    """Return packets sent and lost by path, and the mask of paths with both counts known."""
    sent, lost = (_gather(cells.one_way.columns[which], cells.at) for which in (SENT, LOST))
    return sent, lost, (cells.at != NONE) & (sent > 0) & (lost >= 0) & cells.planned


def _losses(cells: Cells, states: npt.NDArray[np.uint8]) -> Matrix:
    """Loss is measured wherever both counts are known; a path that lost everything has the value 1."""
    sent, lost, valued = packets(cells)
    states = states.copy()
    states[valued & ~cells.stale] = CellState.MEASURED
    states[~valued & (states == CellState.MEASURED)] = CellState.NO_DATA
    ratio = np.minimum(lost / np.maximum(sent, 1), 1.0)
    no_clock = np.zeros(states.shape, np.int64)
    return Matrix(Metric.LOSS, ratio, no_clock, states, valued, np.full(states.shape, NONE))


def shown_states(
    states: npt.NDArray[np.uint8], earlier: Flags | None, no_service: Flags | None = None
) -> npt.NDArray[np.uint8]:
    """Return the states as readers see them.

    `earlier`: paths whose value is from an earlier window of the period. `no_service`: paths whose responder serves
    nothing since their newest window.
    """
    if earlier is not None:
        states = np.where(earlier & (states == CellState.MEASURED), np.uint8(EARLIER), states)
    if no_service is not None:
        silent = (states == CellState.NO_DATA) | (states == CellState.STALE)
        states = np.where(no_service & silent, np.uint8(NO_SERVICE), states)
    return states


def of_zones(flags: Flags, planned: Flags, zone_of: Positions, zones: int) -> Flags:
    """Return the zone pairs all of whose planned paths have the flag, and that have some; `zone_of` each VM."""
    cells = zone_of[:, None] * zones + zone_of[None, :]
    all_of, flagged = (np.bincount(cells[mask], minlength=zones * zones) for mask in (planned, planned & flags))
    whole: Flags = ((all_of > 0) & (flagged == all_of)).reshape(zones, zones)
    return whole


def worse(one: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """State of what needs two values."""
    rank = np.array([0, 4, 2, 1, 3], np.uint8)  # measured, stale, no data, lost, not planned
    return np.where(rank[one] >= rank[other], one, other)


def statistic_of(table: DistributionTable, statistic: Statistic) -> Ints:
    """Return the statistic of every distribution of a table in ns; meaningless where the count is 0.

    Quantiles are those of `llq16.values_within`.
    """
    if statistic is Statistic.SD:
        m2 = table.columns[M2].view(np.float32).astype(np.float64)
        deviation: Ints = np.rint(np.sqrt(m2 / np.maximum(table.columns[COUNT], 1))).astype(np.int64)
        return deviation
    quantile = statistic.quantile
    if quantile is None:
        column: Ints = table.columns[_COLUMN_OF[statistic]].astype(np.int64)
        return column
    codes = table.quantiles[QUANTILES.index(quantile)]
    return llq16.values_within(codes, table.columns[MIN], table.columns[MAX])


def has_statistic(table: DistributionTable, statistic: Statistic) -> Flags:
    """Return flags of the distributions that have the statistic. Frames written before p99.9 was stored lack it."""
    found: Flags = table.columns[COUNT] > 0
    if statistic.quantile is not None:
        found = found & (table.quantiles[QUANTILES.index(statistic.quantile)] > 0)
    return found


def _gather(column: npt.NDArray[np.integer], at: Positions) -> Ints:
    """Entries of a column by position, 0 for `NONE`."""
    found: Ints = np.append(column, column.dtype.type(0)).astype(np.int64)[at]
    return found


def positions_of(axis: Ints, keys: Ints) -> Ints:
    """Return the position of each key on the axis, `NONE` for a key that is not on it."""
    if not axis.size:
        return np.full(keys.shape, NONE, np.int64)
    least, most = int(axis.min()), int(axis.max())
    if most - least < min(_LOOKED_UP_MAX, 16 * keys.size):
        table = np.full(most - least + 3, NONE, np.int64)  # one more on either side for all keys beyond
        table[axis - least + 1] = np.arange(axis.size)
        found: Positions = table[np.clip(keys, least - 1, most + 1) - least + 1]
        return found
    order = np.argsort(axis)
    nearest = order[np.minimum(np.searchsorted(axis[order], keys), axis.size - 1)]
    return np.where(axis[nearest] == keys, nearest, NONE)


def _merged(
    table: DistributionTable, at: Positions, groups: Positions, size: int, sketches: Sketches | None, first: int
) -> DistributionTable:
    """Entries `at` of a table merged into `size` groups; `first` is the position of the table's first sketch."""
    columns = rollup.merge_columns(table.columns[:, at], groups, size)
    if sketches is None:
        return DistributionTable(columns, np.zeros((len(QUANTILES), size), np.uint16))
    owner = np.full(sketches.lengths.size, NONE, np.int64)
    owner[first + at] = groups
    merged = llq16.merge_groups(sketches.words, sketches.lengths.reshape(-1), owner, size, QUANTILES, words_too=False)
    return DistributionTable(columns, (merged.bins + 1).astype(np.uint16))
