"""Performance when latency varies: P = p_static(median) × q.

D. A. Popescu, N. Zilberman, A. W. Moore (UCAM-CL-TR-914, sec. 5.3) fixed the median and varied the magnitude V and the
shape of the added latency, relative to a run with the same median and no variance; hence the product. They state few
values. STRADS at a median of 200 µs keeps 0.95 at V = 20 µs and 0.75 at V = 160 µs (worst shape). DNS at 200 µs loses
nothing while median + V ≤ 300 µs; Spark loses nothing. A normal distribution harms least, a uniform one most, heavy
tails lie between, and a percentile alone does not predict the loss.

Model of q: the application continues when the slowest of `waits` replies has arrived (workers of a synchronous round;
neighbours in an ordered queue). Its latency is the expected maximum of that many round trips:
q = p_static(median + excess) / p_static(median).

Calibrated, not validated: `waits` = 8 was chosen because it gives both values of STRADS (six workers) within 0.01, and
the scale of heavy tails because it puts them between the other two shapes. Agreement with these statements is therefore
no evidence for the model. Validated by a fresh run: six synchronous workers of `sinemora profile training`, nine
conditions of three shapes, of which `waits` = 8 predicts q within 0.05, 0.019 on average, and `waits` = 3 misses by
up to 0.16 (tests/labs/profiler/test_variation.py). The nearest `waits` of each shape were 7.0 to 7.3. Other numbers of
workers and closed loops are not validated: the excess is assumed correct within one half either way, which gives the
band of q.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Curve, Floats

Shape = Literal["normal", "pareto-normal", "pareto", "uniform"]

WAITS_SYNCHRONOUS = 8
"""Calibrated to the two values stated for STRADS (six workers)."""

WAITS_CLOSED_LOOP = 3
"""Requests in an ordered queue: in simulation at a million packets/s they wait for about 3 (not measured)."""

EXCESS_ERROR = 0.5
"""Assumed, not estimated."""

_POINTS = 400
# Calibrated to the stated ranking of shapes.
_TAIL = 0.975


@dataclass(frozen=True, slots=True)
class Variable:
    """Expected performance under a distribution of latency.

    `static` is that at the median, `factor` = q with `factor_low` … `factor_high`, `performance` their product, also
    with its band. `extrapolated`: part of the result lies beyond the curve's domain and is too optimistic.
    """

    static: float
    factor: float
    factor_low: float
    factor_high: float
    extrapolated: bool

    @property
    def performance(self) -> float:
        return self.static * self.factor

    @property
    def low(self) -> float:
        return self.static * self.factor_low

    @property
    def high(self) -> float:
        return self.static * self.factor_high


def deviations(shape: Shape, magnitude_us: float) -> Floats:
    """Return deviations of round trips from their median (µs, ascending, equally likely); both directions vary alike.

    `magnitude_us` is V, the deviation of one direction: half the range of a uniform distribution, three standard
    deviations of a normal one, the 97.5th percentile of a Pareto (index 3); Pareto-normal is one quarter normal, as in
    NetEm. The source does not state the end of heavy tails; this scale is calibrated to its ranking of the shapes.
    """
    if not magnitude_us >= 0:
        raise ValueError(f"magnitude must be 0 µs or more, not {magnitude_us}")
    p = (np.arange(_POINTS) + 0.5) / _POINTS
    one_way = magnitude_us * _quantiles(shape, p)
    both = np.sort((one_way[:, None] + one_way[None, :]).ravel())
    return np.asarray(both.reshape(_POINTS, -1).mean(axis=1) - np.median(both))


def excess_us(round_trips_us: npt.ArrayLike, waits: float) -> float:
    """Return the expected maximum of `waits` round trips above their median (µs, ≥ 0).

    `round_trips_us`: equally likely values, such as quantiles of a sketch or raw measurements. Raises `ValueError`
    without values, or if `waits` is below 1.
    """
    x = np.sort(np.asarray(round_trips_us, np.float64).ravel())
    if not x.size or not np.isfinite(x).all() or waits < 1:
        raise ValueError("needs at least one finite round trip and waits of at least 1")
    reached = (np.arange(x.size + 1) / x.size) ** waits
    return max(float(np.diff(reached) @ x) - float(np.median(x)), 0.0)


def under_variance(curve: Curve, median_added_us: float, round_trips_us: npt.ArrayLike, waits: float) -> Variable:
    """Return performance at a median added latency, with round trips distributed like `round_trips_us`.

    Only deviations from their median count. `waits`: `WAITS_SYNCHRONOUS` for rounds that end with the slowest
    worker, `WAITS_CLOSED_LOOP` for many independent requests.
    """
    excess = excess_us(round_trips_us, waits)
    at = median_added_us + excess * np.array([0.0, 1 - EXCESS_ERROR, 1.0, 1 + EXCESS_ERROR])
    static, high, middle, low = curve(at)
    beyond = bool(at[-1] > curve.end_us)
    return Variable(float(static), float(middle / static), float(low / static), float(high / static), beyond)


def _quantiles(shape: Shape, p: Floats) -> Floats:
    """Return one direction's deviation from its median at probabilities p, in units of V."""
    normal = scipy.special.ndtri(p) / 3
    pareto = (1 - p) ** (-1 / 3) - 0.5 ** (-1 / 3)
    pareto /= (1 - _TAIL) ** (-1 / 3) - 0.5 ** (-1 / 3)
    if shape == "uniform":
        return np.asarray(2 * p - 1)
    if shape == "normal":
        return np.asarray(normal)
    if shape == "pareto":
        return np.asarray(pareto)
    if shape == "pareto-normal":
        return np.asarray(0.25 * normal + 0.75 * pareto)
    raise ValueError(f"{shape!r} is not normal, pareto-normal, pareto or uniform")
