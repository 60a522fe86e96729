"""Verdict on the gain of applied moves: difference in differences with its interval. Times are Unix seconds.

What changed for others too, or would have come by itself, is not a gain of the moves. Two comparisons remove it:

By delays: the VMs that the tasks left are still measured. The control is the same application at its old VMs in the
same windows. Before the moves the two are one, so their difference after them is the difference in differences. A path
that returned by itself and a network that changed for all change both. Weather that lasts for hours moves a whole hour:
how much, the hours before the moves show, in which both placements were measured. The curve turns delays into
performance: an application that does not follow its curve goes unnoticed.

By metric: the application's own metric, after the moves and in hours before them, less the metrics of applications that
did not move. With some days of history an hour is compared with the same hour of earlier days and with their trend,
because an application may have a daily course that others do not share. Only hours count in which the old paths were as
they are now; a move chosen at a bad moment is otherwise credited with the end of that moment (regression to the mean;
Ashenfelter 1978 found such a dip before training programmes).

Neighbouring windows are alike, so intervals of single windows would be too narrow. Times are collapsed into blocks, and
the mean of each counts as one value, with Student's t for few of them (Bertrand, Duflo, Mullainathan 2004, "How much
should we trust differences-in-differences estimates?", section IV; Donald, Lang 2007).
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Floats

Times = npt.NDArray[np.int64]

CONFIDENCE = 0.95
OBSERVED_S = 3600
"""Time after the moves that is compared, after they settled. Of a metric, a block."""
DELAY_BLOCK_S = 600
_DELAY_BLOCKS_MIN = 5
HOURS_MIN = 6
"""Least number of comparable hours before the moves: they show how much one hour differs from another."""
DAYS_MIN = 2
"""Least number of earlier days with a comparable same hour: with fewer, an hour is compared with all hours."""
_DAY = 24
_UNSEEN = 3.0
"""Factor of the error where no hours before the moves are known: weather that remembers one or two hours moves an hour
by two to three times what its blocks of ten minutes show."""
_MINUTES_MIN = 30
"""Least number of minutes of an hour that have the metric and its control."""
_MATCH_US, _MATCH_SHARE = 10.0, 0.10
"""An hour is comparable if the mean round trip of the old paths differs by no more than either."""
_SPREAD_LEAST = 1e-3
"""Floor of the standard deviation of blocks: round trips are stored within 0.8 %."""


class MoveVerdict(StrEnum):
    """Outcome of applied moves."""

    HELD = "held"
    NOT_HELD = "not_held"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean with its `CONFIDENCE` interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Missing:
    """Reason why a gain cannot be estimated. `final`: waiting for more data will not help."""

    reason: str
    final: bool = True


OLD_PATHS_UNKNOWN = Missing(
    "The paths that the tasks left are no longer measured: they may have changed by themselves.", final=False
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Verdict and a sentence that explains it."""

    verdict: MoveVerdict
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class MetricHistory:
    """Values of metrics by minute, and of the paths that the tasks left; times ascend, NaN is unknown.

    `moved` and `control` have a row for each metric of the moved application and of applications that did not move, as
    logarithms in which larger is better: log(rate), -log(duration). `control` may have no rows. `old_path_us` is the
    mean round trip of the links at the old placement in the windows that begin at `path_at_s`.
    """

    at_s: Times
    moved: Floats
    control: Floats
    path_at_s: Times
    old_path_us: Floats


def decide(observed: Interval, promised: Interval) -> Decision:
    """Compare an observed gain with the promised one: held needs a gain, and the promise within its interval."""
    if observed.high < 0:
        return Decision(MoveVerdict.NOT_HELD, "Performance fell.")
    if observed.low <= 0:
        if promised.mean > observed.high:
            return Decision(MoveVerdict.NOT_HELD, "No gain was observed, and the promised one would have been.")
        return Decision(MoveVerdict.CANNOT_TELL, "The interval is too wide: it includes no gain and the promised one.")
    if observed.high < promised.low:
        return Decision(MoveVerdict.NOT_HELD, "The gain is smaller than promised.")
    if observed.low > promised.high:
        return Decision(MoveVerdict.NOT_HELD, "The gain is larger than promised.")
    return Decision(MoveVerdict.HELD, "A gain was observed, and it agrees with the promised one.")


def by_delays(
    at_s: Times, moved: Floats, stayed: Floats, moved_at_s: int, since_s: int, curve_error: float = 0.0
) -> Interval | Missing:
    """Estimate the gain of the new placement over the old one in the same windows, which begin at `at_s`.

    `moved` and `stayed` are the performance of the application at its new and at its old VMs. Windows from `since_s`,
    and no later than `OBSERVED_S` after it, give the gain. Windows before `moved_at_s` show how much the gain of one
    hour differs from that of another. `curve_error` is the standard error of the gain that the curve brings in.
    """
    counts = (at_s >= since_s) & (at_s < since_s + OBSERVED_S)
    if not np.isfinite(moved[counts]).any():
        return Missing("The paths of the new placement were not measured after the moves.", final=False)
    if not np.isfinite(stayed[counts]).any():
        return OLD_PATHS_UNKNOWN
    means = _block_means(at_s, moved - stayed, since_s, DELAY_BLOCK_S, OBSERVED_S // DELAY_BLOCK_S)
    means = means[np.isfinite(means)]
    if means.size < _DELAY_BLOCKS_MIN:
        minutes = DELAY_BLOCK_S // 60
        return Missing(
            f"Too few windows: {means.size} blocks of {minutes} minutes were measured after the moves,"
            f" {_DELAY_BLOCKS_MIN} are needed.",
            final=False,
        )
    spread, alike = _spread(means)
    error = spread * float(np.sqrt(alike / means.size))
    hours = _hours_before(at_s, moved - stayed, moved_at_s)
    hours = hours[np.isfinite(hours)]
    if hours.size < HOURS_MIN:
        return _interval(float(means.mean()), float(np.hypot(_UNSEEN * error, curve_error)), means.size)
    error = max(error, _spread(hours)[0])
    return _interval(float(means.mean()), float(np.hypot(error, curve_error)), hours.size)


def by_metric(seen: MetricHistory, moved_at_s: int, since_s: int, performance_before: float) -> Interval | Missing:
    """Estimate the gain in the application's own metric, from comparable hours before the moves to that from `since_s`.

    A metric has no scale of performance: its relative change is applied to `performance_before`, the predicted
    performance before the moves. The minute of `moved_at_s` counts on neither side.
    """
    if not len(seen.control):
        return Missing(
            "No control group: no application that stayed, on VMs that the moves did not touch, has a metric source."
            " Demand may have changed for all."
        )
    difference = _common(seen.moved) - _common(seen.control)
    ended_s = moved_at_s - moved_at_s % 60
    (after,) = _block_means(seen.at_s, difference, since_s, OBSERVED_S, 1, _MINUTES_MIN)
    (now_us,) = _block_means(seen.path_at_s, seen.old_path_us, since_s, OBSERVED_S, 1)
    if not np.isfinite(after):
        return Missing("Too few values of the metric and of its control group after the moves.", final=False)
    if not np.isfinite(now_us):
        return OLD_PATHS_UNKNOWN
    before = _hours_before(seen.at_s, difference, ended_s, _MINUTES_MIN)
    then_us = _hours_before(seen.path_at_s, seen.old_path_us, ended_s)
    count = min(before.size, then_us.size)
    before, then_us = before[:count], then_us[:count]
    known = np.isfinite(before) & np.isfinite(then_us)
    if known.sum() < HOURS_MIN:
        return Missing(
            f"Too little history: {int(known.sum())} hours before the moves have the metric, its control group and the"
            f" paths that the tasks left; {HOURS_MIN} are needed."
        )
    alike = known & (np.abs(then_us - now_us) <= max(_MATCH_US, _MATCH_SHARE * float(now_us)))
    if alike.sum() < HOURS_MIN:
        return Missing(
            f"The paths that the tasks left changed too: their round trip is {now_us:.0f} µs now, as in"
            f" {int(alike.sum())} of {int(known.sum())} hours before the moves; {HOURS_MIN} are needed. They may have"
            " changed by themselves."
        )
    expected, error, values = _forecast(np.flatnonzero(alike) + 1, before[alike])
    relative = _interval(float(after) - expected, error, values)
    return Interval(
        *(performance_before * float(np.expm1(part)) for part in (relative.mean, relative.low, relative.high))
    )


def mean_of(intervals: list[Interval]) -> Interval:
    """Return the mean of the gains of several applications; ends are averaged too, as if errors were common to all."""
    return Interval(*(float(np.mean([getattr(one, end) for one in intervals])) for end in ("mean", "low", "high")))


def _common(control: Floats) -> Floats:
    """Return the mean course of several metrics, each about its own median: their levels and gaps differ."""
    level = np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.nan for row in control])
    known = np.isfinite(control)
    count = known.sum(axis=0)
    total = np.where(known, control - level[:, None], 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _hours_before(at_s: Times, values: Floats, ended_s: int, values_min: int = 1) -> Floats:
    """Return the mean of each hour before `ended_s`, the latest first; NaN with less than `values_min` values."""
    count = max(0, ended_s - int(at_s.min(initial=ended_s))) // OBSERVED_S
    return _block_means(at_s, values, ended_s - count * OBSERVED_S, OBSERVED_S, count, values_min)[::-1]


def _forecast(ago: Times, hours: Floats) -> tuple[float, float, int]:
    """Return the value that hours so many hours `ago` (from 1) let expect now, its standard error, and how many count.

    Least squares with a level for each hour of the day and a trend where `DAYS_MIN` earlier days have this hour; else
    the mean of all.
    """
    levels = np.zeros(hours.size, np.int64)
    days = (ago % _DAY == 0).sum()
    if days >= DAYS_MIN and hours.size > np.unique(ago % _DAY).size + HOURS_MIN:
        levels = ago % _DAY
    columns = (levels[:, None] == np.unique(levels)).astype(np.float64)
    if levels.any():
        columns = np.column_stack((columns, ago / _DAY))
    inverse = np.linalg.pinv(columns.T @ columns)
    fitted = inverse @ columns.T @ hours
    spread, factor = _spread(hours - columns @ fitted, columns.shape[1])
    # Now is the first level, without trend. It is one more observation: its spread adds to that of the fit.
    return float(fitted[0]), float(spread * np.sqrt(1 + factor * inverse[0, 0])), hours.size - columns.shape[1] + 1


def _block_means(at_s: Times, values: Floats, start_s: int, length_s: int, count: int, values_min: int = 1) -> Floats:
    """Return the mean of the known values of each of `count` blocks from `start_s`; NaN with less than `values_min`."""
    block = (at_s - start_s) // length_s
    inside = (block >= 0) & (block < count) & np.isfinite(values)
    numbers = np.bincount(block[inside], minlength=count)
    sums = np.bincount(block[inside], values[inside], minlength=count)
    return np.where(numbers >= values_min, sums / np.maximum(numbers, 1), np.nan)


def _spread(means: Floats, fitted: int = 1) -> tuple[float, float]:
    """Return the standard deviation of blocks, and the factor by which likeness of neighbours raises a mean's variance.

    `fitted`: number of parameters that were estimated from the blocks. The autocorrelation of few values is estimated
    too low by about (1 + 4 r) / n (M. G. Kendall 1954), and their standard deviation with it.
    """
    n = means.size
    centred = means - means.mean()
    squares = float(centred @ centred)
    if squares <= 0:
        return _SPREAD_LEAST, 1.0
    estimated = float(centred[1:] @ centred[:-1]) / squares
    r = float(np.clip(estimated + (1 + 4 * estimated) / n, 0.0, 0.9))
    factor = min((1 + r) / (1 - r), n / 2)
    return max(float(np.sqrt(squares / max(n - fitted + 1 - factor, 1.0))), _SPREAD_LEAST), factor


def _interval(mean: float, error: float, blocks: int) -> Interval:
    half = float(scipy.special.stdtrit(blocks - 1, (1 + CONFIDENCE) / 2)) * error
    return Interval(mean, mean - half, mean + half)
