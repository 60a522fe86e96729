"""Figures of an overview, computed from cells, versions and performances. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from packaging.version import InvalidVersion, Version

from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import Cells, CellState, Flags, Metric, Statistic
from sinemora.measurements.codec.frame import LOST, SENT
from sinemora.measurements.codec.llq16 import Ints


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
