"""Identifiability of latency sensitivity from natural variation, and samples to fit. Pure; time is in minutes.

A profile randomises latency; nature does not, so a confounder may move latency and metric together. Variation is
therefore examined twice. Within hours, demand and configuration hardly change but latency does. Over hours and days
everything changes. A curve is fitted only if both agree, or if latency changed level too often for a confounder to
follow.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.observations import Metric, Samples, normalise
from sinemora.kit.percent import percent

Minutes = npt.NDArray[np.int64]

PAIRS_MIN = 120
"""Minimum number of minutes with both values."""
_BLOCK = 60
_BLOCKS_MIN = 3
# Latency must vary by more than its measurement and by enough to matter.
_VARIATION_US, _VARIATION_SHARE = 10.0, 0.05
_LEVEL_CHANGES_MIN = 4
# Variation must be spread over about this many hours, or its error cannot be estimated.
_SPREAD_BLOCKS = 4
_SIGNIFICANT = 3.0
# Below this share of its strength over days, a relation within hours is not caused by latency.
_SAME = 0.3
_BINS_MAX, _BIN_MINUTES = 40, 15


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason why the data is insufficient: a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Minutes (Unix time / 60, ascending) with round trip (µs) and mean of the metric, all of shape (n,)."""

    minutes: Minutes
    latency_us: Floats
    value: Floats


def pair(minutes: Minutes, value: Floats, latency_minutes: Minutes, latency_us: Floats) -> Pairs:
    """Return minutes with both values. Values of one minute are averaged; NaN is no value. `latency_minutes` ascend."""
    good = np.isfinite(value) & (value > 0)
    at, group = np.unique(minutes[good], return_inverse=True)
    counts = np.bincount(group, minlength=at.size)
    mean = np.bincount(group, value[good], minlength=at.size) / np.maximum(counts, 1)
    known = np.isfinite(latency_us)
    common, mine, theirs = np.intersect1d(at, latency_minutes[known], return_indices=True)
    return Pairs(common, latency_us[known][theirs], mean[mine])


def judge(pairs: Pairs, metric: Metric) -> Reason | None:
    """Return reasons why these pairs cannot identify the sensitivity; None if they can."""
    n = pairs.minutes.size
    if n < PAIRS_MIN:
        return Reason(
            "too_few", f"Too few pairs: {n} minutes have both latency and metric; at least {PAIRS_MIN} are needed."
        )
    low, middle, high = (float(q) for q in np.quantile(pairs.latency_us, [0.05, 0.5, 0.95]))
    if high - low < max(_VARIATION_US, _VARIATION_SHARE * middle):
        return Reason(
            "varied_too_little",
            f"Too little variation: the round trip stayed between {low:.0f} and {high:.0f} µs. Wait for"
            " more variation, or profile the application.",
        )
    x = pairs.latency_us
    y = np.log(pairs.value if metric == "rate" else 1 / pairs.value)
    blocks = np.unique(pairs.minutes // _BLOCK, return_inverse=True)[1]
    if blocks.max() + 1 < _BLOCKS_MIN:
        return Reason(
            "too_few",
            f"Too few hours: all pairs are within {blocks.max() + 1} hours; at least {_BLOCKS_MIN} are needed.",
        )
    over = _slope(x - x.mean(), y - y.mean(), blocks)
    within = _slope(x - _means(x, blocks), y - _means(y, blocks), blocks)
    if np.isinf(over.error) and np.isinf(within.error):
        return Reason("few_changes", "Too few hours with varying latency: other changes in these hours look alike.")
    if over.at > _SIGNIFICANT * over.error or within.at > _SIGNIFICANT * within.error:
        return Reason(
            "confounded",
            "Confounded: performance is better at higher latency. Another factor, such as demand, moves both: use"
            " a metric of capacity (saturated throughput, time per job) instead of one that follows demand.",
        )
    related = over.at < -_SIGNIFICANT * over.error or within.at < -_SIGNIFICANT * within.error
    if not related:
        seen = 1 - float(np.exp(-_SIGNIFICANT * min(over.error, within.error) * (high - low)))
        return Reason(
            "no_effect",
            f"No effect: between {low:.0f} and {high:.0f} µs the effect of latency is below the noise; a"
            f" loss of more than {percent(seen, 0)} would be detected.",
        )
    if _SIGNIFICANT * within.error < abs(over.at):
        if within.at > _SAME * over.at:
            return Reason(
                "confounded",
                "Confounded: the metric falls with latency across hours but not within hours. A factor that changes"
                " with the time of day, such as demand, moves both.",
            )
    elif (changes := _level_changes(x, blocks)) < _LEVEL_CHANGES_MIN:
        return Reason(
            "few_changes",
            f"Too few level changes of latency: {changes}. Other simultaneous changes look the same as an effect"
            f" of latency. At least {_LEVEL_CHANGES_MIN} changes are needed.",
        )
    return None


def samples_of(pairs: Pairs, metric: Metric) -> Samples:
    """Return samples to fit: groups of similar latency, weighted by their independent minutes.

    Latency counts from the lowest group, which is the baseline. Raises `ObservationError`.
    """
    n = pairs.minutes.size
    order = np.argsort(pairs.latency_us, kind="stable")
    bins = min(_BINS_MAX, max(3, n // _BIN_MINUTES))
    group = np.empty(n, np.int64)
    group[order] = np.arange(n) * bins // n
    counts = np.bincount(group)
    x = np.bincount(group, pairs.latency_us) / counts
    y = np.bincount(group, pairs.value) / counts
    spread = np.sqrt(np.bincount(group, (pairs.value - y[group]) ** 2) / np.maximum(counts - 1, 1))
    repeats = np.maximum(np.rint(counts * _independent(pairs.value / y[group] - 1)), 1)
    return normalise(x, y, metric=metric, latency="measured", spread=spread, repeats=repeats)


@dataclass(frozen=True, slots=True)
class _Slope:
    at: float
    error: float


def _slope(x: Floats, y: Floats, blocks: npt.NDArray[np.intp]) -> _Slope:
    """Fit least squares through 0, with errors clustered by block (Liang and Zeger 1986)."""
    squares = float(x @ x)
    if squares <= 0:
        return _Slope(0.0, float("inf"))
    at = float(x @ y) / squares
    share = np.bincount(blocks, x * x) / squares
    if (share**2).sum() * _SPREAD_BLOCKS > 1:
        # Few blocks dominate: their common error cannot be estimated.
        return _Slope(at, float("inf"))
    sums = np.bincount(blocks, x * (y - at * x))
    count = sums.size
    return _Slope(at, float(np.sqrt((sums**2).sum() * count / max(count - 1, 1))) / squares)


def _means(values: Floats, blocks: npt.NDArray[np.intp]) -> Floats:
    return np.asarray((np.bincount(blocks, values) / np.bincount(blocks))[blocks])


def _level_changes(x: Floats, blocks: npt.NDArray[np.intp]) -> int:
    """Count changes between clearly low and clearly high hourly latency."""
    hours = np.bincount(blocks, x) / np.bincount(blocks)
    low, high = np.quantile(hours, [0.1, 0.9])
    third = (high - low) / 3
    levels = np.where(hours < low + third, -1, np.where(hours > high - third, 1, 0))
    clear = levels[levels != 0]
    return int((np.diff(clear) != 0).sum())


def _independent(residuals: Floats) -> float:
    """Return the share of independent minutes: (1 − r) / (1 + r) for lag-one autocorrelation r."""
    squares = float(residuals @ residuals)
    if squares <= 0:
        return 1.0
    correlation = float(np.clip(residuals[1:] @ residuals[:-1] / squares, 0, 0.99))
    return (1 - correlation) / (1 + correlation)
