"""Gain of a placement, estimated on hold-out windows.

An optimiser picks the paths whose noise looks best, so its own estimate is too high (the optimiser's curse). Each
hold-out window gives the gain once. Their mean and spread give the expected gain and the probability that it exceeds
the cost of the moves.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.performance import Indices, Links, Sensitivity
from sinemora.curves.core.curve import Floats
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING
from sinemora.recommendations.core.tail_risk import RiskModel, link_performance

CONFIDENCE = 0.95
_SPREAD_LEAST = 1e-4
"""Floor of a gain's standard deviation: round trips are stored within 0.8 %."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean over windows with its `CONFIDENCE` interval and its number of windows."""

    mean: float
    low: float
    high: float
    windows: int


@dataclass(frozen=True, slots=True)
class Gain:
    """Performance before and after (0 … 1), the gain, and the `probability` that it exceeds the price."""

    before: Estimate
    after: Estimate
    gain: Estimate
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class PerformanceSeries:
    """Performance of an application in each window (NaN is unknown), and by both ends of its curve's band."""

    performance: Floats
    low: Floats
    high: Floats


def performance_series(
    links: Links,
    at: Indices,
    round_trips_ns: npt.NDArray[np.floating],
    sensitivity: Sensitivity,
    by: RiskModel | None = None,
) -> PerformanceSeries:
    """Return the performance of an application placed `at`, under round trips of shape (windows, machines, machines).

    A window counts only if every link is known; otherwise before and after would average different links. Links of
    waiting tasks are known: they perform nothing. Links of tasks elsewhere are excluded. `by` replaces medians by tail
    risk.
    """
    inside = (at[links.sources] != ELSEWHERE) & (at[links.targets] != ELSEWHERE)
    links = Links(links.sources[inside], links.targets[inside], links.weights[inside])
    if not len(links):
        nothing = np.full(len(round_trips_ns), np.nan)
        return PerformanceSeries(nothing, nothing, nothing)
    waits = (at[links.sources] == WAITING) | (at[links.targets] == WAITING)
    parts = link_performance(links, at, round_trips_ns, sensitivity, by)
    shares = links.weights / links.weights.sum()
    performance, low, high = (np.asarray(np.where(waits, 0.0, part) @ shares) for part in parts)
    return PerformanceSeries(performance, low, high)


def estimate_gain(before: list[PerformanceSeries], after: list[PerformanceSeries], price: float) -> Gain | None:
    """Estimate the mean gain over applications (equal weights), over windows where all are known; None without any.

    `price`: the least gain that pays, as a share of performance.
    """
    first, then = (np.mean([series.performance for series in side], axis=0) for side in (before, after))
    known = np.isfinite(first) & np.isfinite(then)
    if not known.any():
        return None
    change = (then - first)[known]
    low, high = (
        float(
            np.mean([getattr(series, end)[known] for series in after])
            - np.mean([getattr(series, end)[known] for series in before])
        )
        for end in ("low", "high")
    )
    of_curves = abs(high - low) / 2 / 1.96
    windows = int(known.sum())
    samples = _effective_sample_size(change)
    spread = max(float(np.std(change, ddof=1)) if windows > 1 else np.inf, _SPREAD_LEAST)
    error = float(np.hypot(spread / np.sqrt(samples), of_curves))
    mean = float(change.mean())
    degrees = max(samples - 1, 1.0)
    probability = 0.5 if not np.isfinite(error) else float(scipy.special.stdtr(degrees, (mean - price) / error))
    return Gain(_expected(first[known]), _expected(then[known]), _interval(mean, error, degrees, windows), probability)


def estimate_mean(values: Floats) -> Estimate | None:
    """Estimate a mean performance from windows (NaN is unknown); None without any."""
    known = values[np.isfinite(values)]
    return _expected(known) if known.size else None


def _expected(values: Floats) -> Estimate:
    samples = _effective_sample_size(values)
    spread = float(np.std(values, ddof=1)) if values.size > 1 else np.inf
    interval = _interval(float(values.mean()), spread / np.sqrt(samples), max(samples - 1, 1.0), values.size)
    return Estimate(interval.mean, max(interval.low, 0.0), min(interval.high, 1.0), interval.windows)


def _interval(mean: float, error: float, degrees: float, windows: int) -> Estimate:
    if not np.isfinite(error):
        return Estimate(mean, -1.0, 1.0, windows)
    half = float(scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, max(mean - half, -1.0), min(mean + half, 1.0), windows)


def _effective_sample_size(values: Floats) -> float:
    """Return the number of independent windows, corrected for first-order autocorrelation."""
    centred = values - values.mean()
    total = float(centred @ centred)
    if values.size < 4 or total == 0:
        return float(values.size)
    alike = min(max(float(centred[1:] @ centred[:-1]) / total, 0.0), 0.95)
    return max(values.size * (1 - alike) / (1 + alike), 2.0)
