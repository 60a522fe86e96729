"""Gain of a placement, estimated on hold-out windows, for the hour that follows.

An optimiser picks the paths whose noise looks best, so its own estimate is too high (the optimiser's curse). Held-out
blocks of time give the gain again. Three errors matter: round trips of the next hour differ from those of the blocks,
rare events are in none of them, and the curve of the application may be wrong.

- Weather: the mean of each block is one observation, because windows autocorrelate. Student's t of the block means
  gives the error of the mean (method of batch means: A. M. Law, *Simulation Modeling and Analysis*, sec. 9.5.3). The
  next hour has its own mean, with a variance like that of a block.
- Events that no block has seen: a share of hours is left to them (`UNFORESEEN`).
- Curve: every equally likely curve of the band gives the gain once. Before and after use the same curve.

The interval and the probability are those of the mixture of all.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.band import DRAWS
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices, Links, Sensitivity
from sinemora.kit.percent import signed_percent
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING, PerformanceSeries
from sinemora.recommendations.core.recency import STRETCH_S, Recency, newest_changed, unknown_share
from sinemora.recommendations.core.split import BLOCKS_LEAST
from sinemora.recommendations.core.tail_risk import RiskModel, drawn_performance, link_performance

CONFIDENCE = 0.95
UNFORESEEN = 0.02
"""Share of hours that the model does not describe: bursts and new routes that no block has seen.

Half of them are worse than any forecast, half better: no probability comes nearer to 0 or 1 than half of this share.
Tuned by `make bench-recommendations`.
"""
_ERROR_LEAST = 1e-4
"""Floor of the error of a gain: round trips are stored within 0.8 %."""
_NEXT_HOUR = 2.0
"""Variance of the mean of the next hour, as a multiple of that of a block. Tuned by `make bench-recommendations`."""
_LINKS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean over windows with its `CONFIDENCE` interval and its number of windows."""

    mean: float
    low: float
    high: float
    windows: int


@dataclass(frozen=True, slots=True)
class Gain:
    """Performance before and after (0 … 1), the gain, and the `probability` that it exceeds the price.

    With fewer than `BLOCKS_LEAST` `blocks` of time, the probability is 0.5 and the interval -1 … 1. `doubts` are the
    reasons for which both are less certain than the blocks alone make them.
    """

    before: Estimate
    after: Estimate
    gain: Estimate
    probability: float
    blocks: int
    doubts: tuple[str, ...] = ()


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
    links = _selected(links, inside)
    if not len(links):
        nothing = np.full(len(round_trips_ns), np.nan)
        return PerformanceSeries(nothing, np.tile(nothing, (DRAWS, 1)))
    waits = (at[links.sources] == WAITING) | (at[links.targets] == WAITING)
    shares = links.weights / links.weights.sum()
    performance = link_performance(links, at, round_trips_ns, sensitivity, by)
    draws = np.zeros((DRAWS, len(round_trips_ns)))
    for first in range(0, len(links), _LINKS_AT_ONCE):
        batch = slice(first, first + _LINKS_AT_ONCE)
        drawn = drawn_performance(_selected(links, batch), at, round_trips_ns, sensitivity, by)
        draws += np.where(waits[batch], 0.0, drawn) @ shares[batch]
    return PerformanceSeries(np.asarray(np.where(waits, 0.0, performance) @ shares), draws)


@dataclass(frozen=True, slots=True, eq=False)
class GainForecast:
    """Mean of a future quantity: Student's t around the mean by each draw of the curves. Shapes (DRAWS,)."""

    means: Floats
    errors: Floats
    degrees: float

    @classmethod
    def of(cls, block_means: Floats) -> "GainForecast":
        """Return the forecast from the means of blocks by each draw, shape (DRAWS, blocks)."""
        count = block_means.shape[1]
        means = block_means.mean(axis=1)
        if count < BLOCKS_LEAST:
            return cls(means, np.full(DRAWS, np.inf), 1.0)
        spread = block_means.std(axis=1, ddof=1)
        errors = spread * np.sqrt(1 / count + _NEXT_HOUR)
        return cls(means, np.maximum(errors, _ERROR_LEAST), count - 1.0)

    def values(self) -> Floats:
        """Return equally likely values, shape (DRAWS, DRAWS); infinite without a known error."""
        at = (np.arange(DRAWS) + 0.5) / DRAWS
        return np.asarray(self.means[:, None] + self.errors[:, None] * scipy.special.stdtrit(self.degrees, at))

    def interval(self) -> tuple[float, float]:
        """Return the quantiles of the mixture that leave out 1 - `CONFIDENCE`."""
        return Outlook((self,)).interval()

    def probability(self, price: float) -> float:
        """Return the probability of more than `price`."""
        values = scipy.special.stdtr(self.degrees, (self.means - price) / self.errors)
        return UNFORESEEN / 2 + (1 - UNFORESEEN) * float(np.mean(values))


@dataclass(frozen=True, slots=True)
class Outlook:
    """Equally likely forecasts, and the share of hours of which nothing is known: any gain from -1 to 1."""

    forecasts: tuple[GainForecast, ...]
    unknown: float = 0.0
    doubts: tuple[str, ...] = ()

    def interval(self) -> tuple[float, float]:
        """Return the quantiles of the mixture that leave out 1 - `CONFIDENCE`."""
        if not all(np.isfinite(forecast.errors).all() for forecast in self.forecasts):
            return -np.inf, np.inf
        values = np.concatenate([forecast.values().reshape(-1) for forecast in self.forecasts])
        unknown = np.linspace(-1, 1, round(values.size * self.unknown / (1 - self.unknown)))
        tail = ((1 - CONFIDENCE) / 2 - UNFORESEEN / 2) / (1 - UNFORESEEN)
        low, high = np.quantile(np.concatenate([values, unknown]), [tail, 1 - tail])
        return float(low), float(high)

    def probability(self, price: float) -> float:
        """Return the probability of more than `price`."""
        known = float(np.mean([forecast.probability(price) for forecast in self.forecasts]))
        return (1 - self.unknown) * known + self.unknown * (1 - min(max(price, 0.0), 1.0)) / 2


def _outlook(
    change: GainForecast, drawn: Floats, gains: Floats, known: npt.NDArray[np.bool_], recency: Recency
) -> Outlook:
    """Return the forecast of a gain with the doubts that its recency raises; arrays cover the known windows."""
    stretches = recency.stretches[known]
    age_s = recency.age_s + float(stretches.min()) * STRETCH_S  # of the newest window with all its paths
    unknown = unknown_share(age_s)
    doubts = [f"the newest measurement of its paths is {age_s / 60:.0f} minutes old"] if unknown > 0 else []
    newest = newest_changed(gains, stretches)
    if newest is None:
        return Outlook((change,), unknown, tuple(doubts))
    now, earlier = float(gains[newest].mean()), float(gains[~newest].mean())
    minutes = STRETCH_S // 60
    doubts.append(
        f"the gain was {signed_percent(earlier)} and is {signed_percent(now)} in the newest {minutes} minutes"
    )
    spread = _block_means(drawn[:, ~newest], stretches[~newest]).std(axis=1, ddof=1)
    errors = np.maximum(spread * np.sqrt(1 + _NEXT_HOUR), _ERROR_LEAST)
    lasting = GainForecast(drawn[:, newest].mean(axis=1), errors, change.degrees)
    return Outlook((change, lasting), unknown, tuple(doubts))


def estimate_gain(
    before: list[PerformanceSeries],
    after: list[PerformanceSeries],
    price: float,
    blocks: Indices | None = None,
    recency: Recency | None = None,
) -> Gain | None:
    """Estimate the mean gain over applications (equal weights), over windows where all are known; None without any.

    `price`: the least gain that pays, as a share of performance. `blocks` numbers the block of time of each window;
    without it, consecutive windows form blocks. With `recency`, age and a recent change make the gain less certain.
    """
    sides = [_mean_of(side) for side in (before, after)]
    first, then = (side.performance for side in sides)
    known = np.isfinite(first) & np.isfinite(then)
    if not known.any():
        return None
    place = _numbered(known, blocks)
    count = int(place.max()) + 1
    ends = [_expected(side, known, place, 0.0) for side in sides]
    drawn = sides[1].draws[:, known] - sides[0].draws[:, known]
    change = GainForecast.of(_block_means(drawn, place))
    outlook = Outlook((change,)) if recency is None else _outlook(change, drawn, (then - first)[known], known, recency)
    mean = float(_block_means((then - first)[known], place).mean())
    low, high = outlook.interval()
    windows = int(known.sum())
    gain = Estimate(mean, max(min(low, mean), -1.0), min(max(high, mean), 1.0), windows)
    return Gain(ends[0], ends[1], gain, outlook.probability(price), count, outlook.doubts)


def estimate_mean(series: PerformanceSeries, blocks: Indices | None = None) -> Estimate | None:
    """Estimate a mean performance from windows (NaN is unknown); None without any."""
    known = np.isfinite(series.performance)
    return _expected(series, known, _numbered(known, blocks), 0.0) if known.any() else None


def block_errors(values: Floats, blocks: Indices) -> Floats:
    """Return the standard error of the mean of each column over blocks of rows; NaN with fewer than two blocks.

    `values` has shape (windows, columns), NaN where unknown.
    """
    known = np.isfinite(values)
    place = _numbered(np.ones(len(values), np.bool_), blocks)
    sums = np.zeros((int(place.max(initial=-1)) + 1, values.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, place, np.where(known, values, 0.0))
    np.add.at(counts, place, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        blocks_known = (counts > 0).sum(axis=0)
        centred = np.where(counts > 0, means - np.nansum(means, axis=0) / blocks_known, 0.0)
        return np.asarray(np.sqrt((centred**2).sum(axis=0) / (blocks_known - 1) / blocks_known))


def _expected(series: PerformanceSeries, known: npt.NDArray[np.bool_], place: Indices, least: float) -> Estimate:
    forecast = GainForecast.of(_block_means(series.draws[:, known], place))
    mean = float(_block_means(series.performance[known], place).mean())
    low, high = forecast.interval()
    return Estimate(mean, max(min(low, mean), least), min(max(high, mean), 1.0), int(known.sum()))


def _mean_of(side: list[PerformanceSeries]) -> PerformanceSeries:
    return PerformanceSeries(
        np.mean([series.performance for series in side], axis=0), np.mean([series.draws for series in side], axis=0)
    )


def _numbered(known: npt.NDArray[np.bool_], blocks: Indices | None) -> Indices:
    """Return the block of each known window, numbered from 0 without gaps."""
    if blocks is None:
        count = int(known.sum())
        return np.arange(count) * min(count, 2 * BLOCKS_LEAST) // max(count, 1)
    return np.asarray(np.unique(blocks[known], return_inverse=True)[1], np.intp)


def _block_means(values: Floats, place: Indices) -> Floats:
    """Return the means over blocks along the last axis, of any numbers, in their order."""
    place = np.unique(place, return_inverse=True)[1]
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(int(place.max()) + 1))
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1) / np.bincount(place))


def _selected(links: Links, chosen: npt.NDArray[np.bool_] | slice) -> Links:
    return Links(links.sources[chosen], links.targets[chosen], links.weights[chosen])
