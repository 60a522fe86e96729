"""Cells of matrices in numpy, to compare the native module with."""

import numpy as np
import numpy.typing as npt

from sinemora.measurements.aggregate.matrix import (
    ASYMMETRY_ZERO,
    LOSS_STEPS,
    NONE,
    Cells,
    CellState,
    DistributionTable,
    Flags,
    Matrix,
    Metric,
    Pairs,
    Positions,
    Statistic,
    has_statistic,
    positions_of,
    statistic_of,
    worse,
)
from sinemora.measurements.codec.frame import CLOCK_ERROR, COUNT, LOST, MIN, QUANTILES, ROUND_TRIP, SENT, Codes, Stats
from sinemora.measurements.codec.llq16 import Ints
from tests.measurements.oracle import llq16


def codes(measured: Matrix) -> Codes:
    """Return the codes of a matrix."""
    if measured.metric is Metric.LOSS:
        numbers = 1 + np.rint(measured.values * LOSS_STEPS).astype(np.int64)
    elif measured.metric is Metric.ASYMMETRY:
        numbers = ASYMMETRY_ZERO + np.sign(measured.values).astype(np.int64) * llq16.bins_of(np.abs(measured.values))
    else:
        numbers = 1 + llq16.bins_of(measured.values)
    return np.where(measured.valued, numbers, 0).astype(np.uint16)


def vm_cells(axis: Ints, planned: Flags, pairs: Pairs, now_s: float | None, stale_windows: int) -> Cells:
    """Cells of the VMs `axis` (keys, in the order of the roster): for each path the newest window among `pairs`.

    `planned` says which paths are meant to be measured. A window is stale when it ended more than `stale_windows` of
    its lengths before `now_s`; None: never.
    """
    n, size = pairs.clients.size, axis.size
    rows, columns = positions_of(axis, pairs.clients), positions_of(axis, pairs.targets)
    at = newest(rows, columns, pairs.ended_at_s, size)
    old = np.zeros(n, bool) if now_s is None else now_s - pairs.ended_at_s > stale_windows * pairs.window_s
    return Cells(
        *_tables(pairs.stats),
        at,
        np.where(at == NONE, NONE, at % max(n, 1)),
        planned,
        (at != NONE) & np.append(np.tile(old, 2), False)[at],
        np.append(np.tile(pairs.stats.asymmetry_source, 2).astype(np.int64), NONE)[at],
    )


def newest(rows: Positions, columns: Positions, ended_at_s: Ints, size: int) -> Positions:
    """Return the position of the newest window of each path among n pairs, outbound first; the last of equals."""
    at = np.full((size, size), NONE, np.int64)
    sources, targets = np.concatenate((rows, columns)), np.concatenate((columns, rows))
    newest_last = np.argsort(np.tile(ended_at_s, 2), kind="stable")
    newest_last = newest_last[((sources != NONE) & (targets != NONE) & (sources != targets))[newest_last]]
    at[sources[newest_last], targets[newest_last]] = newest_last
    return at


def _tables(stats: Stats) -> tuple[DistributionTable, DistributionTable]:
    """Both directions of all pairs, outbound first, and their round trips (which follow in the first one too)."""
    one_way = DistributionTable(stats.columns.reshape(8, -1), stats.quantiles.reshape(len(QUANTILES), -1))
    return one_way, DistributionTable(stats.columns[:, ROUND_TRIP], stats.quantiles[:, ROUND_TRIP])


def measure(cells: Cells, metric: Metric, statistic: Statistic) -> Matrix:
    """Return the matrix of one metric and statistic."""
    table, at = (cells.round_trip, cells.round_at) if metric is Metric.ROUND_TRIP else (cells.one_way, cells.at)
    count = _gather(table.columns[COUNT], at)
    states = _states(cells, count, _unanswered(cells))
    valued = ((states == CellState.MEASURED) | (states == CellState.STALE)) & (count > 0)
    clock_error = _gather(table.columns[CLOCK_ERROR], at)
    if metric is Metric.LOSS:
        return _losses(cells, states)
    if metric is not Metric.CLOCK_ERROR:
        valued &= _gather(has_statistic(table, statistic).view(np.uint8), at) > 0
    values = clock_error if metric is Metric.CLOCK_ERROR else _gather(statistic_of(table, statistic), at)
    if metric is Metric.JITTER:
        # Delay above the smallest one (RFC 5481, 4.2): the clocks' constant offset is in both and cancels.
        values = values if statistic is Statistic.SD else values - _gather(table.columns[MIN], at)
    if metric is Metric.ASYMMETRY:
        values, clock_error = values - values.T, clock_error + clock_error.T
        states, valued = worse(states, states.T), valued & valued.T
        states[~valued & (states == CellState.MEASURED)] = CellState.NO_DATA
        np.fill_diagonal(
            states, CellState.NOT_PLANNED
        )  # a zone against itself is symmetric by construction, not by measure
        np.fill_diagonal(valued, False)
    timed = valued if metric is not Metric.ROUND_TRIP else np.zeros_like(valued)
    return Matrix(metric, values, clock_error, states, valued, np.where(timed, cells.sources, NONE))


def _losses(cells: Cells, states: npt.NDArray[np.uint8]) -> Matrix:
    """Loss is measured wherever both counts are known; a path that lost everything has the value 1."""
    sent, lost = (_gather(cells.one_way.columns[which], cells.at) for which in (SENT, LOST))
    valued = (cells.at != NONE) & (sent > 0) & (lost >= 0) & cells.planned
    states = states.copy()
    states[valued & ~cells.stale] = CellState.MEASURED
    states[~valued & (states == CellState.MEASURED)] = CellState.NO_DATA
    ratio = np.minimum(lost / np.maximum(sent, 1), 1.0)
    no_clock = np.zeros(states.shape, np.int64)
    return Matrix(Metric.LOSS, ratio, no_clock, states, valued, np.full(states.shape, NONE))


def _states(cells: Cells, count: Ints, unanswered: Flags) -> npt.NDArray[np.uint8]:
    states = np.full(cells.at.shape, CellState.NO_DATA, np.uint8)
    states[unanswered] = CellState.LOST
    states[count > 0] = CellState.MEASURED
    states[cells.stale] = CellState.STALE
    states[~cells.planned] = CellState.NOT_PLANNED
    return states


def _unanswered(cells: Cells) -> Flags:
    """Return whether packets were sent and some are not known to have arrived, which explains a path without delay.

    If one direction does not know, an exchange without response counts for both. If all packets arrived and there is no
    delay (a machine without usable timestamps), nothing was lost.
    """
    sent, lost = (_gather(cells.one_way.columns[which], cells.at) for which in (SENT, LOST))
    exchanges, unfinished = (_gather(cells.round_trip.columns[which], cells.round_at) for which in (SENT, LOST))
    result: Flags = ((sent > 0) | ((sent < 0) & (exchanges > 0))) & ((lost != 0) | (unfinished != 0))
    return result


def _gather(column: npt.NDArray[np.integer], at: Positions) -> Ints:
    """Entries of a column by position, 0 for `NONE`."""
    result: Ints = np.append(column, column.dtype.type(0)).astype(np.int64)[at]
    return result
