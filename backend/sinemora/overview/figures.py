"""Figures of an overview, computed from cells, versions and performances. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from packaging.version import InvalidVersion, Version

from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import Cells, Flags, Metric, State, Statistic
from sinemora.measurements.codec.llq16 import Ints


@dataclass(frozen=True, slots=True)
class PathFigures:
    """Figures of the paths of a mesh. `clock_errors_ns`: median of each VM's paths, -1 where none is current."""

    states: dict[State, int]
    loss: float | None
    clock_errors_ns: Ints


def path_figures(cells: Cells) -> PathFigures:
    """Return the figures of the newest windows of all paths."""
    delays = matrix.measure(cells, Metric.ONE_WAY_DELAY, Statistic.P50)
    losses = matrix.measure(cells, Metric.LOSS, Statistic.P50)
    errors = matrix.measure(cells, Metric.CLOCK_ERROR, Statistic.P50)
    counts = np.bincount(delays.states[cells.planned], minlength=len(State)).tolist()
    current = losses.valued & ~cells.stale
    return PathFigures(
        {state: counts[state] for state in State},
        float(losses.values[current].mean()) if current.any() else None,
        _medians(errors.values, errors.valued & ~cells.stale),
    )


def _medians(values: np.ndarray, known: Flags) -> Ints:
    """Return the median of each row's known values, -1 for a row without any."""
    medians = np.full(len(values), -1, np.int64)
    rows = np.flatnonzero(known.any(axis=1))
    if rows.size:
        medians[rows] = np.rint(np.nanmedian(np.where(known, values, np.nan)[rows], axis=1)).astype(np.int64)
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
