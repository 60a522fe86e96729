"""Baselines of paths from stored steps (hours or minutes): the usual delay of each path and its spread. Pure.

The level is the median over steps of the p50 of each step. The spread, in the sense of one standard deviation, is the
median absolute deviation of the same values, scaled as Rousseeuw and Croux (1993) do for few values. Windows also vary
within a step: for paths, half the median distance from p50 to p90 of a step is added in quadrature. The p50 of a pair
of zones covers many paths and varies less: a third of that distance is only its least spread. The resolution of stored
percentiles is the least spread of both.

The spread of few steps may be small by chance, and of thousands of paths some are beyond any fixed limit: spreads are
at least those of paths that are about as long (`pooled`), and the limit grows with the number of paths
(`deviations_of`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import pi
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import CellState, Flags, Matrix
from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.frame import Codes
from sinemora.measurements.codec.llq16 import Ints

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.uint8]

STEPS_MIN = 3
"""Fewer steps give no baseline."""
DEAD_BAND_MIN_NS = 5_000
"""A smaller deviation is usual: timestamps of most machines vary by microseconds."""
SPREADS = 3
"""Deviations up to this number of spreads are usual; more when many paths are compared."""
_FALSE = 0.05
"""Share of the pictures of a network without a fault in which any path is unusual."""
_TAIL = 1.1
"""Noise has longer tails than a normal distribution: spreads count as so much wider (ten simulated networks)."""
_ALIKE = 65
"""Number of paths that are about as long as one."""
# Standard deviation of a normal distribution by its median absolute deviation, and the factors for n = 0 … 9 values.
_SIGMA = 1.4826
_FEW = np.array([1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107], np.float32)
# Percentiles are coded in bins of 1.6 %: two equal values may be one bin apart.
_RESOLUTION = np.float32(0.006)


NO_BASELINE = 5
"""State of a measured cell without a baseline, after those of `State`."""


class Basis(IntEnum):
    """Steps that a baseline is made of. A larger number is a better basis."""

    NONE = 0
    LAST_HOUR = 1
    LAST_DAY = 2
    SAME_HOUR = 3
    ALL_HOURS = 4


@dataclass(frozen=True, slots=True)
class BaselineEstimate:
    """Level and spread of each path from the steps of one basis, ns; NaN where too few `steps` are known."""

    level_ns: Floats
    spread_ns: Floats
    steps: Counts

    @property
    def known(self) -> Flags:
        """Return the mask of paths with a level."""
        mask: Flags = np.isfinite(self.level_ns)
        return mask

    @property
    def nbytes(self) -> int:
        """Memory of its arrays."""
        return self.level_ns.nbytes + self.spread_ns.nbytes + self.steps.nbytes


@dataclass(frozen=True, slots=True)
class Baselines:
    """Baseline of each path, ns, NaN where `basis` (of `Basis`) is `NONE`; `steps`: number of steps it is made of."""

    level_ns: Floats
    spread_ns: Floats
    steps: Counts
    basis: Counts


@dataclass(frozen=True, slots=True)
class Deviations:
    """Deviations of the values `now` from their baselines.

    `values` (ns, signed) and `dead_band_ns` count where `valued`; `states` are `State` or `NO_BASELINE`.
    """

    now: Matrix
    baselines: Baselines
    values: Ints
    dead_band_ns: Ints
    states: npt.NDArray[np.uint8]
    valued: Flags

    @property
    def unusual(self) -> Flags:
        """Return the mask of paths outside their dead band."""
        mask: Flags = self.valued & (np.abs(self.values) > self.dead_band_ns)
        return mask

    @property
    def severity(self) -> npt.NDArray[np.float64]:
        """Return the size of each deviation in dead bands, 0 without one."""
        return np.where(self.valued, np.abs(self.values) / self.dead_band_ns, 0.0)

    def codes(self) -> Codes:
        """Return 16-bit codes: 0 no value, 32,768 inside the dead band, else 32,768 ± LLQ16 bin."""
        bins = np.zeros(self.values.shape, np.int64)
        unusual = self.unusual
        deviations = self.values[unusual]
        bins[unusual] = np.sign(deviations) * llq16.bins_of(np.abs(deviations))
        return np.where(self.valued, matrix.ASYMMETRY_ZERO + bins, 0).astype(np.uint16)

    def binary(self, revision: int, ended_at_ms: int) -> bytes:
        """Return the deviations in the layout of `Matrix.binary`."""
        return matrix.binary_of(self.codes(), self.states, revision, ended_at_ms)


def estimate(p50_ns: Floats, p90_ns: Floats, least: int = STEPS_MIN, *, of_zones: bool = False) -> BaselineEstimate:
    """Estimate baselines of paths, or of pairs of zones, from the p50 and p90 of k steps, shape (k, …).

    NaN stands where a step has none. One with fewer than `least` known steps has no baseline.
    """
    steps = np.isfinite(p50_ns).sum(axis=0)
    level = _median(p50_ns, steps)
    few = _FEW[np.minimum(steps, _FEW.size - 1)]
    many = steps >= _FEW.size
    few[many] = (steps[many] / (steps[many] - 0.8)).astype(np.float32)
    spread = _SIGMA * few * _median(np.abs(p50_ns - level), steps)
    within = _median(p90_ns - p50_ns, steps)
    spread = np.maximum(spread, within / 3) if of_zones else np.hypot(spread, within / 2)
    spread = np.maximum(spread, _RESOLUTION * np.abs(level))
    known = steps >= least
    return BaselineEstimate(
        np.where(known, level, np.nan).astype(np.float32),
        np.where(known, spread, np.nan).astype(np.float32),
        np.minimum(steps, 255).astype(np.uint8),
    )


def pooled(one: BaselineEstimate) -> BaselineEstimate:
    """Return an estimate of the same shape; a spread is at least the median of the `_ALIKE` paths of nearest delay."""
    known = np.flatnonzero(one.known)
    order = known[np.argsort(one.level_ns.flat[known])]
    spread = one.spread_ns.copy()
    own = spread.flat[order]
    spread.flat[order] = np.maximum(own, scipy.ndimage.median_filter(own, min(_ALIKE, own.size), mode="nearest"))
    return BaselineEstimate(one.level_ns, spread, one.steps)


def best_of(estimates: Sequence[tuple[Basis, BaselineEstimate]], shape: tuple[int, ...]) -> Baselines:
    """Return for each path the first estimate, in the order given, that knows it."""
    level, spread = np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)
    steps, basis = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    for kind, one in estimates:
        taken = one.known & (basis == Basis.NONE)
        level[taken], spread[taken], steps[taken] = one.level_ns[taken], one.spread_ns[taken], one.steps[taken]
        basis[taken] = kind
    return Baselines(level, spread, steps, basis)


def dead_bands(baselines: Baselines, compared: int) -> Floats:
    """Return the largest usual deviation of each path, ns, if its clocks had no error. `compared`: number of values.

    It is the larger of `DEAD_BAND_MIN_NS` and a number of spreads: `SPREADS`, or more where many values are compared,
    so that chance exceeds it somewhere in only `_FALSE` of the networks of that size.
    """
    far = _TAIL * NormalDist().inv_cdf(1 - _FALSE / 2 / max(1, compared))
    # The median of few steps varies too: its variance is π/2 of that of a mean.
    spreads = np.maximum(SPREADS, far * np.sqrt(1 + pi / 2 / np.maximum(baselines.steps, 1)))
    bands: Floats = np.fmax(DEAD_BAND_MIN_NS, np.rint(spreads * baselines.spread_ns))
    return bands


def worst_steps(p50_ns: Floats, clock_error_ns: Floats, level_ns: Floats, band_ns: Floats) -> Ints:
    """Return the position of each path's step that is most dead bands away from its level; 0 without any."""
    severity = np.abs(p50_ns - level_ns) / np.fmax(clock_error_ns, band_ns)
    worst: Ints = np.nan_to_num(severity, nan=-1).argmax(axis=0)
    return worst


def deviations_of(now: Matrix, baselines: Baselines, steps: int = 1) -> Deviations:
    """Return the deviations of one-way delays from their baselines.

    Each value is the worst of `steps`. The dead band is the larger of the clock error of the value and `dead_bands`. A
    measured value without a baseline has the state `NO_BASELINE`.
    """
    valued = now.valued & (baselines.basis != Basis.NONE)
    level = np.where(valued, baselines.level_ns, 0)
    values = np.where(valued, now.values - np.rint(level), 0).astype(np.int64)
    band = np.fmax(now.clock_error_ns, dead_bands(baselines, steps * int(valued.sum()))).astype(np.int64)
    states = now.states.copy()
    states[~valued & now.valued & (states == CellState.MEASURED)] = NO_BASELINE
    return Deviations(now, baselines, values, band, states, valued)


def _median(values: Floats, known: npt.NDArray[np.integer]) -> Floats:
    """Return the medians along the first axis of `known` finite values each, NaN without any."""
    if not values.shape[0]:
        return np.full(values.shape[1:], np.nan, np.float32)
    ordered = np.sort(values, axis=0)  # NaN last
    low, high = np.maximum(known - 1, 0) // 2, np.minimum(known // 2, values.shape[0] - 1)
    both = [np.take_along_axis(ordered, at[None], 0)[0] for at in (low, high)]
    middle: Floats = (both[0] + both[1]) / np.float32(2)
    return middle
