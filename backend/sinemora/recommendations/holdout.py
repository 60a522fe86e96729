"""What a change of placement gains, judged on windows that were not used to choose it.

An optimiser picks the paths whose noise looks best, so what it hoped for is too hopeful (the optimiser's curse). Here
every window that had no say in the choice gives the gain once; their mean and spread say what to expect, and how
likely it is that the gain exceeds what moving costs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from sinemora.applications.performance import Indices, Links, Sensitivity
from sinemora.curves.core.curve import Floats
from sinemora.recommendations.instance import ELSEWHERE, WAITING
from sinemora.recommendations.tail_risk import Felt, felt

CONFIDENCE = 0.95
_SPREAD_LEAST = 1e-4
"""Standard deviation of a gain below which windows are not believed to agree: round trips are kept within 0.8 %."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A mean over windows with its interval of `CONFIDENCE`, and how many windows are behind it."""

    mean: float
    low: float
    high: float
    windows: int


@dataclass(frozen=True, slots=True)
class Gain:
    """Performance before and after (shares, 0 … 1), what is gained, and `probability` that it exceeds its price."""

    before: Expected
    after: Expected
    gain: Expected
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Performance of an application in each window (NaN where unknown), and by both ends of its curve's band."""

    performance: Floats
    low: Floats
    high: Floats


def series(
    links: Links,
    at: Indices,
    round_trips_ns: npt.NDArray[np.floating],
    sensitivity: Sensitivity,
    by: Felt | None = None,
) -> Series:
    """An application placed `at` machines, under round trips of shape (windows, machines, machines), NaN unknown.

    A window counts only where every link is known: else before and after would be means over different links. A link of
    a task that waits is known: it performs nothing. Links of tasks elsewhere count on no side. `by` says what counts
    of whole distributions, where they are told.
    """
    inside = (at[links.sources] != ELSEWHERE) & (at[links.targets] != ELSEWHERE)
    links = Links(links.sources[inside], links.targets[inside], links.weights[inside])
    if not len(links):
        nothing = np.full(len(round_trips_ns), np.nan)
        return Series(nothing, nothing, nothing)
    waits = (at[links.sources] == WAITING) | (at[links.targets] == WAITING)
    found = felt(links, at, round_trips_ns, sensitivity, by)
    shares = links.weights / links.weights.sum()
    performance, low, high = (np.asarray(np.where(waits, 0.0, part) @ shares) for part in found)
    return Series(performance, low, high)


def gain(before: list[Series], after: list[Series], price: float) -> Gain | None:
    """Mean gain over applications (each counts alike), in windows where all are known; None when there is no window.

    `price`: what the moves must gain at least, as a share of performance.
    """
    first, then = (np.mean([one.performance for one in side], axis=0) for side in (before, after))
    known = np.isfinite(first) & np.isfinite(then)
    if not known.any():
        return None
    change = (then - first)[known]
    low, high = (
        float(
            np.mean([getattr(one, end)[known] for one in after]) - np.mean([getattr(one, end)[known] for one in before])
        )
        for end in ("low", "high")
    )
    of_curves = abs(high - low) / 2 / 1.96
    windows = int(known.sum())
    told = _independent(change)
    spread = max(float(np.std(change, ddof=1)) if windows > 1 else np.inf, _SPREAD_LEAST)
    error = float(np.hypot(spread / np.sqrt(told), of_curves))
    mean = float(change.mean())
    degrees = max(told - 1, 1.0)
    probability = 0.5 if not np.isfinite(error) else float(stdtr(degrees, (mean - price) / error))
    return Gain(_expected(first[known]), _expected(then[known]), _interval(mean, error, degrees, windows), probability)


def expected_of(values: Floats) -> Expected | None:
    """What windows tell of a performance (NaN where they do not); None when none does."""
    known = values[np.isfinite(values)]
    return _expected(known) if known.size else None


def _expected(values: Floats) -> Expected:
    told = _independent(values)
    spread = float(np.std(values, ddof=1)) if values.size > 1 else np.inf
    found = _interval(float(values.mean()), spread / np.sqrt(told), max(told - 1, 1.0), values.size)
    return Expected(found.mean, max(found.low, 0.0), min(found.high, 1.0), found.windows)


def _interval(mean: float, error: float, degrees: float, windows: int) -> Expected:
    if not np.isfinite(error):
        return Expected(mean, -1.0, 1.0, windows)
    half = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
    return Expected(mean, max(mean - half, -1.0), min(mean + half, 1.0), windows)


def _independent(values: Floats) -> float:
    """How many independent windows these are worth: neighbours that agree tell less (first-order autocorrelation)."""
    centred = values - values.mean()
    total = float(centred @ centred)
    if values.size < 4 or total == 0:
        return float(values.size)
    alike = min(max(float(centred[1:] @ centred[:-1]) / total, 0.0), 0.95)
    return max(values.size * (1 - alike) / (1 + alike), 2.0)
