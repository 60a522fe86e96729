"""Breaches: compare a window of every path with a condition."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinemora.alerts.evaluation.baseline import LONG, SHORT, Baseline, Flags, Floats
from sinemora.alerts.evaluation.rule import Condition, Kind, Timescale
from sinemora.measurements.aggregate.matrix import Metric, Statistic

Values = Callable[[Metric, Statistic], Floats]
"""Values of a window by path [source][target] (ns, or a ratio), float32, NaN where unknown."""


@dataclass(frozen=True, slots=True)
class Season:
    """Usual value of each path at an hour of the week, from the same hour in earlier weeks; NaN where too few are
    known. `highest` includes the neighbouring hours: weekly events are not exact to the minute.
    """

    level: Floats
    highest: Floats


Seasons = Callable[[Metric, Statistic], Season | None]
"""The season of a metric and statistic now; None if no path has one."""

_USUAL = 3.5
_HINT = 0.5


@dataclass(frozen=True, slots=True)
class Breaches:
    """Masks of paths: in breach, known at all, and bad: elevated, though maybe not in breach."""

    breach: Flags
    known: Flags
    bad: Flags


def least_spread(metric: Metric) -> float:
    """Return the floor of a metric's spread in `Baseline`: 1 for nanoseconds, 0.01 for ratios."""
    return 2e-5 if metric is Metric.LOSS else 1.0


def breaches_of(
    condition: Condition, values: Values, baseline: Baseline | None, season: Season | None = None
) -> Breaches:
    """Compare a window with a condition.

    `baseline` and `season` belong to the condition's metric and statistic, before they learn from this window.
    """
    if condition.kind is Kind.BASELINE:
        if baseline is None:
            raise ValueError("a baseline condition needs a baseline")
        compared = magnitude(condition.metric, condition.statistic, values)
        return _above_usual(condition, compared, baseline, season)
    if condition.kind is Kind.SPIKE:
        largest, median = (values(condition.metric, one) for one in (Statistic.MAX, Statistic.P50))
        rise = largest - median
        breach = rise >= condition.rise_ns
        return Breaches(breach, np.isfinite(rise), breach)
    compared = magnitude(condition.metric, condition.statistic, values)
    breach = compared > condition.above
    return Breaches(breach, np.isfinite(compared), breach)


def magnitude(metric: Metric, statistic: Statistic, values: Values) -> Floats:
    """Return the values a condition compares: of asymmetry the magnitude."""
    matrix_values = values(metric, statistic)
    return np.abs(matrix_values) if metric is Metric.ASYMMETRY else matrix_values


def limit(condition: Condition, values: Values, baseline: Baseline | None, season: Season | None = None) -> Floats:
    """Return the limit above which a window of each path is a breach; NaN where it is still unknown."""
    compared = magnitude(condition.metric, condition.statistic, values)
    if condition.kind is Kind.SPIKE:
        above_median: Floats = values(condition.metric, Statistic.P50) + np.float32(condition.rise_ns)
        return above_median
    if condition.kind is not Kind.BASELINE or baseline is None:
        return np.full(compared.shape, condition.above, np.float32)
    memory, floor = condition.memory, least_spread(condition.metric)
    level = _level(condition, baseline, season, compared.shape)
    limits: Floats = baseline.reach(level, condition.deviations, memory, floor=floor)
    limits = np.maximum(limits, level + np.float32(condition.rise_ns))
    if memory == SHORT:
        limits = np.fmax(limits, baseline.reach(baseline.level[LONG], _USUAL, LONG, floor=floor))
    if season is not None and condition.timescale is not Timescale.WEEKLY:
        limits = np.fmax(limits, baseline.reach(season.highest, _USUAL, LONG, floor=floor))
    limits[~np.isfinite(baseline.deviations_from(level, level, memory, floor=floor))] = np.nan
    return limits


def _level(condition: Condition, baseline: Baseline, season: Season | None, shape: tuple[int, ...]) -> Floats:
    """Return the level that a baseline condition compares with."""
    if condition.timescale is not Timescale.WEEKLY:
        level: Floats = baseline.level[condition.memory]
        return level
    return np.full(shape, np.nan, np.float32) if season is None else season.level


def _above_usual(condition: Condition, values: Floats, baseline: Baseline, season: Season | None) -> Breaches:
    memory, floor = condition.memory, least_spread(condition.metric)
    level = _level(condition, baseline, season, values.shape)
    z = baseline.deviations_from(level, values, memory, floor=floor)
    rise = values - level
    usual = np.zeros(values.shape, np.bool_)
    if memory == SHORT:
        # Usual for the last days: a dip has ended, no event has begun.
        usual |= baseline.deviations(values, LONG, floor=floor) < _USUAL
    if season is not None and condition.timescale is not Timescale.WEEKLY:
        # Usual for this hour of the week.
        usual |= baseline.deviations_from(season.highest, values, LONG, floor=floor) < _USUAL
    breach = (z > condition.deviations) & (rise > condition.rise_ns) & ~usual
    bad = (z > _HINT * condition.deviations) & (rise > _HINT * condition.rise_ns) & ~usual
    return Breaches(breach, np.isfinite(z), bad)
