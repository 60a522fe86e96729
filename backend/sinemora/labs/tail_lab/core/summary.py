"""Figures of flow completion times (FCT), as the source defines them.

The tail mean at a percentile is the mean FCT of all flows at or above it; at 99 it shows starvation. Small flows are
seen in ten buckets of size, spaced evenly in the logarithm over the range of the sizes.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.labs.tail_lab.core.link import Flows, Simulated

PERCENTILES = (25, 50, 75, 90, 99)
BUCKETS = 10
POINTS = 101
"""Points of the distribution of slowdown: every percent, both ends included."""


class TailFigure(StrEnum):
    """Figure that a search minimises."""

    P99 = "p99"
    TAIL_MEAN = "tail_mean"
    MEAN = "mean"
    SMALL_P99 = "small_p99"


@dataclass(frozen=True, slots=True)
class SizeBucket:
    """Flows of a range of sizes up to `bytes_max`, and their p99."""

    bytes_max: int
    flows: int
    p99_s: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Mean, p99, tail mean (99 %) and p99 of the flows in the bucket of the smallest sizes, s."""

    mean: float
    p99: float
    tail_mean: float
    small_p99: float

    def of(self, objective: TailFigure) -> float:
        return float(getattr(self, objective.value))


@dataclass(frozen=True)
class Summary:
    """All figures of a simulation. Slowdown is the FCT over the time that the flow takes on an empty link."""

    figures: Figures
    tail_means_s: list[float]
    buckets: list[SizeBucket]
    slowdown: list[float]


def figures_of(flows: Flows, simulated: Simulated) -> Figures:
    """Return the figures that a search compares."""
    fct, small = simulated.fct_s, _bucket_of(flows.sizes) == 0
    return Figures(
        float(fct.mean()), float(np.quantile(fct, 0.99)), _tail_mean(fct, 99), float(np.quantile(fct[small], 0.99))
    )


def summary_of(flows: Flows, simulated: Simulated) -> Summary:
    """Return all figures."""
    fct = simulated.fct_s
    slowdown = np.quantile(fct / flows.ideal_s, np.linspace(0, 1, POINTS))
    bucket, edges = _bucket_of(flows.sizes), _edges(flows.sizes)
    buckets = []
    for number in range(BUCKETS):
        inside = fct[bucket == number]
        p99 = float(np.quantile(inside, 0.99)) if inside.size else None
        buckets.append(SizeBucket(int(np.floor(edges[number + 1] + 1e-6)), int(inside.size), p99))
    return Summary(
        figures_of(flows, simulated), [_tail_mean(fct, percent) for percent in PERCENTILES], buckets, slowdown.tolist()
    )


def gain_percent(baseline: float, value: float) -> float:
    """Return how much lower a figure is than that of a baseline, percent; negative if it is higher."""
    return 100.0 * (baseline - value) / baseline


def _tail_mean(fct: npt.NDArray[np.float64], percent: int) -> float:
    return float(fct[fct >= np.quantile(fct, percent / 100)].mean())


def _edges(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.geomspace(sizes.min(), sizes.max() + 1, BUCKETS + 1)


def _bucket_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    edges = _edges(sizes)
    return np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, BUCKETS - 1).astype(np.int64)
