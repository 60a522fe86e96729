"""Figures of an overview, computed from cells, versions and performances. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from packaging.version import InvalidVersion, Version

from sinemora.measurements.aggregate import baselines, matrix
from sinemora.measurements.aggregate.baselines import Floats
from sinemora.measurements.aggregate.matrix import Cells, CellState, Flags, Metric, Statistic
from sinemora.measurements.codec.frame import LOST, SENT
from sinemora.measurements.codec.llq16 import Ints

LOSS_MIN = 0.005
"""Smallest loss of a pair of groups that is listed: that of one VM in twenty that loses a packet in ten."""
# Some hundred pairs are compared in each of 720 hours: three spreads, as for one path, would mark half of the hours.
_HOUR_SPREADS = 5


@dataclass(frozen=True, slots=True)
class PathFigures:
    """Figures of the paths of a mesh. `clock_errors_ns`: median of each VM's paths, -1 where none is current."""

    states: dict[CellState, int]
    no_service: int
    loss: float | None
    clock_errors_ns: Ints


def path_figures(cells: Cells, no_service: Flags | None = None) -> PathFigures:
    """Return the figures of the newest windows of all paths.

    `no_service`: paths whose responder serves nothing since their newest window; they count as the heatmap shows them.
    """
    delays = matrix.measure(cells, Metric.ONE_WAY_DELAY, Statistic.P50)
    shown = matrix.shown_states(delays.states, None, no_service)[cells.planned]
    counts = np.bincount(shown, minlength=matrix.NO_SERVICE + 1).tolist()
    return PathFigures(
        {state: counts[state] for state in CellState},
        counts[matrix.NO_SERVICE],
        _loss(cells),
        _medians(delays.clock_error_ns, delays.valued & ~cells.stale),
    )


def _loss(cells: Cells) -> float | None:
    """Return the share of packets lost on the way; None where no packet is known to have been sent."""
    at = cells.at[cells.planned & ~cells.stale & (cells.at != matrix.NONE)]
    sent, lost = (cells.one_way.columns[which][at].astype(np.int64) for which in (SENT, LOST))
    counted = (sent > 0) & (lost >= 0)
    return float(lost[counted].sum() / sent[counted].sum()) if counted.any() else None


def _medians(values: Ints, known: Flags) -> Ints:
    """Return the (lower) median of each row's known values, -1 for a row without any."""
    counts = known.sum(axis=1)
    medians = np.full(counts.size, -1, np.int64)
    rows = np.flatnonzero(counts)
    ordered = np.sort(np.where(known, values, np.iinfo(np.int64).max)[rows], axis=1)
    medians[rows] = ordered[np.arange(rows.size), (counts[rows] - 1) // 2]
    return medians


def losing(cells: Cells, group_of: Ints, without: Flags) -> list[tuple[int, int, float]]:
    """Return the pairs of groups with a path that lost all packets, or that lose `LOSS_MIN` of all, and their loss.

    `group_of`: the group of each VM. VMs `without` are left out: their agents are silent, so all their paths are lost.
    """
    current = cells.planned & ~cells.stale & (cells.at != matrix.NONE) & ~without[:, None] & ~without
    rows, columns = np.nonzero(current)
    size = int(group_of.max(initial=-1)) + 1
    of = group_of[rows] * size + group_of[columns]
    sent, lost = (cells.one_way.columns[which][cells.at[rows, columns]].astype(np.int64) for which in (SENT, LOST))
    counted = (sent > 0) & (lost >= 0)
    all_sent, all_lost, dead = (
        np.bincount(of[counted], one[counted], size * size) for one in (sent, lost, lost >= sent)
    )
    loss = all_lost / np.maximum(all_sent, 1.0)
    return [(*divmod(at, size), float(loss[at])) for at in np.flatnonzero((dead > 0) | (loss >= LOSS_MIN)).tolist()]


@dataclass(frozen=True, slots=True)
class WorstPair:
    """Pair, by position, that differs most from its usual delay or loss in an hour: risen by `change_ns`, or lossy.

    `weight`: the rise in bands of usual variation, or the loss above usual; it compares pairs of one kind.
    """

    weight: float
    pair: int
    usual_ns: int | None
    change_ns: int | None
    loss: float | None


def worst_of_hours(p50_ns: Floats, p90_ns: Floats, loss: Floats) -> list[WorstPair | None]:
    """Return the pair of each hour whose delay rose most, or that loses most; None of an hour in which none did.

    Arguments have the shape (hours, pairs), NaN where unknown. What is usual is the median of all hours. Packets that
    are lost weigh more than a delay.
    """
    known = baselines.estimate(p50_ns, p90_ns, of_zones=True)
    band = np.maximum(baselines.DEAD_BAND_MIN_NS, _HOUR_SPREADS * known.spread_ns)
    rises = np.nan_to_num((p50_ns - known.level_ns) / band)
    filled = np.nan_to_num(loss)
    above = filled - np.median(filled, axis=0)
    found: list[WorstPair | None] = []
    for hour in range(len(p50_ns)):
        rising, losing = int(rises[hour].argmax()), int(above[hour].argmax())
        if above[hour, losing] >= LOSS_MIN:
            found.append(WorstPair(float(above[hour, losing]), losing, None, None, float(filled[hour, losing])))
        elif rises[hour, rising] > 1:
            usual_ns = round(float(known.level_ns[rising]))
            change_ns = round(float(p50_ns[hour, rising])) - usual_ns
            found.append(WorstPair(float(rises[hour, rising]), rising, usual_ns, change_ns, None))
        else:
            found.append(None)
    return found


def is_worse(one: WorstPair, other: WorstPair) -> bool:
    """Return whether a pair differs more than another: packets that are lost weigh more than a delay."""
    return (one.loss is not None, one.weight) > (other.loss is not None, other.weight)


def newest_version(versions: Iterable[str]) -> str | None:
    """Return the newest version; None without any valid one."""
    return max((version for version in versions if _parsed(version)), key=Version, default=None)


def is_older(version: str, newest: str | None) -> bool:
    """Return whether a version is older than another; a version that cannot be compared is not."""
    parsed = _parsed(version)
    return newest is not None and parsed is not None and parsed < Version(newest)


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def worst_first(performances: Sequence[float | None], objectives: Sequence[float | None]) -> list[int]:
    """Return positions: below the objective first, then by performance; unknown performance last."""

    def rank(at: int) -> tuple[bool, bool, float]:
        performance = performances[at]
        return performance is None, not is_below(performance, objectives[at]), performance or 0.0

    return sorted(range(len(performances)), key=rank)


def is_below(performance: float | None, objective: float | None) -> bool:
    """Return whether a known performance misses its objective."""
    return performance is not None and objective is not None and performance < objective
