"""Whether a window of each path is a breach of a condition."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinemora.alerts.evaluation.baseline import LONG, SHORT, Baseline, Flags, Floats
from sinemora.alerts.evaluation.rule import Condition, Kind, Timescale
from sinemora.measurements.aggregate.matrix import Metric, Statistic

Values = Callable[[Metric, Statistic], Floats]
"""One number of every path [source][target] of a window (ns, or a ratio), float32, NaN where there is none."""


@dataclass(frozen=True, slots=True)
class Season:
    """Usual value of each path at an hour of the week, from the same hour in earlier weeks; NaN where too few are
    known. `highest` includes the neighbouring hours: weekly events are not exact to the minute.
    """

    level: Floats
    highest: Floats


Seasons = Callable[[Metric, Statistic], Season | None]
"""The season of a metric and statistic now; None where nothing is known of any path."""

_USUAL = 3.5
_HINT = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """Of every path: in breach, known at all, and whether it looks bad although it may not be in breach."""

    breach: Flags
    known: Flags
    bad: Flags


def least_spread(metric: Metric) -> float:
    """Return the floor of a metric's spread in `Baseline`: 1 for nanoseconds, 0.01 for ratios."""
    return 2e-5 if metric is Metric.LOSS else 1.0


def judge(condition: Condition, values: Values, baseline: Baseline | None, season: Season | None = None) -> Judged:
    """Compare; `baseline` and `season` are those of the condition's metric and statistic, before they have learnt from
    this window.
    """
    if condition.kind is Kind.BASELINE:
        if baseline is None:
            raise ValueError("a condition on what is usual needs a baseline")
        seen = magnitude(condition.metric, condition.statistic, values)
        return _above_usual(condition, seen, baseline, season)
    if condition.kind is Kind.SPIKE:
        largest, median = (values(condition.metric, one) for one in (Statistic.MAX, Statistic.P50))
        rise = largest - median
        breach = rise >= condition.rise_ns
        return Judged(breach, np.isfinite(rise), breach)
    seen = magnitude(condition.metric, condition.statistic, values)
    breach = seen > condition.above
    return Judged(breach, np.isfinite(seen), breach)


def magnitude(metric: Metric, statistic: Statistic, values: Values) -> Floats:
    """Return the value a condition compares: of asymmetry its magnitude, whatever its sign."""
    found = values(metric, statistic)
    return np.abs(found) if metric is Metric.ASYMMETRY else found


def limit(condition: Condition, values: Values, baseline: Baseline | None, season: Season | None = None) -> Floats:
    """Return the value above which a window of each path is a breach; NaN where that is still unknown."""
    seen = magnitude(condition.metric, condition.statistic, values)
    if condition.kind is Kind.SPIKE:
        above_median: Floats = values(condition.metric, Statistic.P50) + np.float32(condition.rise_ns)
        return above_median
    if condition.kind is not Kind.BASELINE or baseline is None:
        return np.full(seen.shape, condition.above, np.float32)
    memory, floor = condition.memory, least_spread(condition.metric)
    level = _level(condition, baseline, season, seen.shape)
    found: Floats = baseline.reach(level, condition.deviations, memory, floor=floor)
    found = np.maximum(found, level + np.float32(condition.rise_ns))
    if memory == SHORT:
        found = np.fmax(found, baseline.reach(baseline.level[LONG], _USUAL, LONG, floor=floor))
    if season is not None and condition.timescale is not Timescale.WEEKLY:
        found = np.fmax(found, baseline.reach(season.highest, _USUAL, LONG, floor=floor))
    found[~np.isfinite(baseline.deviations_from(level, level, memory, floor=floor))] = np.nan
    return found


def _level(condition: Condition, baseline: Baseline, season: Season | None, shape: tuple[int, ...]) -> Floats:
    """Return the level that a baseline condition compares with."""
    if condition.timescale is not Timescale.WEEKLY:
        level: Floats = baseline.level[condition.memory]
        return level
    return np.full(shape, np.nan, np.float32) if season is None else season.level


def _above_usual(condition: Condition, seen: Floats, baseline: Baseline, season: Season | None) -> Judged:
    memory, floor = condition.memory, least_spread(condition.metric)
    level = _level(condition, baseline, season, seen.shape)
    z = baseline.deviations_from(level, seen, memory, floor=floor)
    rise = seen - level
    usual = np.zeros(seen.shape, np.bool_)
    if memory == SHORT:
        # Ordinary for the last days: a dip has ended, nothing has begun.
        usual |= baseline.deviations(seen, LONG, floor=floor) < _USUAL
    if season is not None and condition.timescale is not Timescale.WEEKLY:
        # Ordinary for this hour of the week: it comes every week.
        usual |= baseline.deviations_from(season.highest, seen, LONG, floor=floor) < _USUAL
    breach = (z > condition.deviations) & (rise > condition.rise_ns) & ~usual
    bad = (z > _HINT * condition.deviations) & (rise > _HINT * condition.rise_ns) & ~usual
    return Judged(breach, np.isfinite(z), bad)
