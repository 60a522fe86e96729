"""Breaches: compare a window of every path with a condition."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sinemora.alerts.evaluation.baseline import LONG, SHORT, Baseline, Flags, Floats, Ints
from sinemora.alerts.evaluation.loss_counts import LossCounts
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


@dataclass(frozen=True, slots=True)
class BreachHistory:
    """Earlier windows of the paths, as far as a condition needs them.

    `baseline` and `season` belong to the metric and statistic of a baseline condition, `rises` to the rises of spikes,
    `counts` to loss over many windows; `zone_of` is the zone of each VM, ascending, None of a single path. `deviations`
    of this window are computed once for all conditions with the same baseline, by name.
    """

    baseline: Baseline | None = None
    season: Season | None = None
    rises: Baseline | None = None
    counts: LossCounts | None = None
    zone_of: Ints | None = None
    deviations: dict[str, Floats] = field(default_factory=dict)

    def deviations_of(self, name: str, compute: Callable[[], Floats]) -> Floats:
        """Return the deviations of this window with a name."""
        if name not in self.deviations:
            self.deviations[name] = compute()
        return self.deviations[name]


NO_HISTORY = BreachHistory()

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


def breaches_of(condition: Condition, values: Values, history: BreachHistory = NO_HISTORY) -> Breaches:
    """Compare a window with a condition. Baselines have not learnt from the window yet; counts include it."""
    if condition.kind is Kind.BASELINE:
        if history.baseline is None:
            raise ValueError("a baseline condition needs a baseline")
        compared = magnitude(condition.metric, condition.statistic, values)
        return _above_usual(condition, compared, history.baseline, history)
    if condition.kind is Kind.LOSS:
        if history.counts is None:
            raise ValueError("a loss condition needs counts")
        breach, known = history.counts.above(condition.above)
        return Breaches(breach, known, breach)
    if condition.kind is Kind.SPIKE:
        rise = rise_of(condition, values)
        breach = rise >= condition.rise_ns
        if breach.any():  # seldom: the relative limit takes longer
            breach &= rise >= _least_rise(condition, values, history)
        return Breaches(breach, np.isfinite(rise), breach)
    compared = magnitude(condition.metric, condition.statistic, values)
    breach = compared > condition.above
    return Breaches(breach, np.isfinite(compared), breach)


def magnitude(metric: Metric, statistic: Statistic, values: Values) -> Floats:
    """Return the values a condition compares: of asymmetry the magnitude."""
    matrix_values = values(metric, statistic)
    return np.abs(matrix_values) if metric is Metric.ASYMMETRY else matrix_values


def rise_of(condition: Condition, values: Values) -> Floats:
    """Return the largest value of a window above its median, which a spike condition compares."""
    rise: Floats = values(condition.metric, Statistic.MAX) - values(condition.metric, Statistic.P50)
    return rise


def limit(condition: Condition, values: Values, history: BreachHistory = NO_HISTORY) -> Floats:
    """Return the limit above which a window of each path is a breach; NaN where it is still unknown."""
    compared = magnitude(condition.metric, condition.statistic, values)
    baseline, season = history.baseline, history.season
    if condition.kind is Kind.SPIKE:
        above_median: Floats = values(condition.metric, Statistic.P50) + _least_rise(condition, values, history)
        return above_median
    if condition.kind is Kind.LOSS and history.counts is not None:
        return history.counts.limit(condition.above)
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


def _least_rise(condition: Condition, values: Values, history: BreachHistory) -> Floats:
    """Return the rise from which a window has a spike: absolute, and relative to the path and to its pair of zones.

    A rise that is large on a path of 0.1 ms is usual on one of 150 ms. A path that has learnt nothing yet has the limit
    of its pair of zones; before any has, a spike must double the delay.
    """
    usual: Floats = values(condition.metric, Statistic.P50)
    if history.rises is not None:
        learnt = history.rises.reach(history.rises.level[SHORT], condition.deviations, SHORT)
        if history.zone_of is not None:
            learnt = np.fmax(learnt, _zone_pair_means(learnt, history.zone_of))
        usual = np.where(np.isfinite(learnt), learnt, usual)
    return np.fmax(usual, np.float32(condition.rise_ns))


def _zone_pair_means(values: Floats, zone_of: Ints) -> Floats:
    """Return the mean over each pair of zones, by path; NaN where no path of the pair has a value."""
    starts = np.flatnonzero(np.diff(zone_of, prepend=-1))
    known = np.isfinite(values)
    sums, counts = (
        np.add.reduceat(np.add.reduceat(one, starts, axis=-2), starts, axis=-1)
        for one in (np.where(known, values, 0), known.astype(np.float32))
    )
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).astype(np.float32)
    run_of = np.cumsum(np.diff(zone_of, prepend=zone_of[0]) != 0)
    by_path: Floats = means[..., run_of[:, None], run_of]
    return by_path


def _level(condition: Condition, baseline: Baseline, season: Season | None, shape: tuple[int, ...]) -> Floats:
    """Return the level that a baseline condition compares with."""
    if condition.timescale is not Timescale.WEEKLY:
        level: Floats = baseline.level[condition.memory]
        return level
    return np.full(shape, np.nan, np.float32) if season is None else season.level


def _above_usual(condition: Condition, values: Floats, baseline: Baseline, history: BreachHistory) -> Breaches:
    memory, floor, season = condition.memory, least_spread(condition.metric), history.season
    level = _level(condition, baseline, season, values.shape)

    def deviations(name: str, above: Floats, memory: int) -> Floats:
        return history.deviations_of(name, lambda: baseline.deviations_from(above, values, memory, floor=floor))

    z = deviations(condition.timescale, level, memory)
    rise = values - level
    usual = np.zeros(values.shape, np.bool_)
    if memory == SHORT:
        # Usual for the last days: a dip has ended, no event has begun.
        usual |= deviations(Timescale.LONG, baseline.level[LONG], LONG) < _USUAL
    if season is not None and condition.timescale is not Timescale.WEEKLY:
        # Usual for this hour of the week, or of the day.
        usual |= deviations("season", season.highest, LONG) < _USUAL
    breach = (z > condition.deviations) & (rise > condition.rise_ns) & ~usual
    bad = (z > _HINT * condition.deviations) & (rise > _HINT * condition.rise_ns) & ~usual
    return Breaches(breach, np.isfinite(z), bad)
