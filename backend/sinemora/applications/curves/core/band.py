"""Bands of curves: the 95 % band, and equally likely curves within it.

A gain is the difference of one curve at two latencies, so its interval needs whole curves, not the ends of a band.
Each band gives `DRAWS` of them, the same ones in every process. Draws of bands with the same `key` belong together.

A published curve was measured on the authors' machines. On another machine a closed loop that waits R per answer loses
x / R by an added x, so that a machine whose answers take f times as long is as sensitive at f times the latency. The
default for transfer therefore scales the latency by a log-normal factor, within `TRANSFER_FACTOR` either way with 95 %.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Curve, Floats, through

DRAWS = 64
TRANSFER_FACTOR = 2.0
"""With 95 %, other hardware is as sensitive as the published curve at between half and twice the latency.

Memcached of the same authors loses half at 200 µs (UCAM-CL-TR-914) and at 250 µs (UCAM-CL-TR-937), a factor of 1.25
between two setups; response times of servers of the last ten years span about 2. Another load or role can exceed it.
"""
RESIDUAL_LEAST = 0.01
"""Least standard error of a published value: read from text, rounded to a per cent."""
_Z = 1.96
_KNOTS = 256
_PARTS = 10
"""Parts of the domain of a fitted curve whose ends have independent errors."""
_STEPS = (0.7548776662466927, 0.5698402909980532)
"""Steps of the two-dimensional R sequence, whose points fill the unit square evenly (M. Roberts, 2018)."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedBand:
    """Band of a curve fitted to measurements: 95 % at each single latency.

    The band states no dependence between latencies. Draws assume that errors agree at latencies much nearer than a
    tenth of the domain, and that others are independent: the true curve may have a step between them.
    """

    key: str
    curve: Curve
    low: Curve
    high: Curve

    def draws(self, added_us: Floats) -> Floats:
        """Return the performance by each draw, shape (DRAWS, …)."""
        ends, beyond = _ends(self.key), _along(_normal(self.key)[2], added_us)
        place = np.minimum(added_us / self.curve.end_us, 1.0) * _PARTS
        part = np.minimum(place.astype(np.intp), _PARTS - 1)
        angle = np.pi / 2 * (place - part)
        errors = ends[:, part] * np.cos(angle) + ends[:, part + 1] * np.sin(angle)
        mean, low, high = self.curve(added_us), self.low(added_us), self.high(added_us)
        performance = mean + errors / _Z * np.where(errors > 0, high - mean, mean - low)
        return _bounded(performance, beyond, added_us, self.curve.end_us)


@dataclass(frozen=True, slots=True, eq=False)
class TransferBand:
    """Band of a published curve on other hardware: latency scaled, and the residual of the values that it states."""

    key: str
    curve: Curve
    residual: float
    low: Curve
    high: Curve

    def draws(self, added_us: Floats) -> Floats:
        """Return the performance by each draw, shape (DRAWS, …)."""
        scale, error, beyond = (_along(axis, added_us) for axis in _normal(self.key))
        factors = np.exp(np.log(TRANSFER_FACTOR) / _Z * scale)
        performance = _with_residual(self.curve(added_us * factors), self.residual * error)
        return _bounded(performance, beyond, added_us, self.curve.end_us)


Band = FittedBand | TransferBand


def transfer_band(key: str, curve: Curve, residuals: npt.ArrayLike) -> TransferBand:
    """Return the band of a published curve from its residuals at the values that the source states."""
    values = np.atleast_1d(np.asarray(residuals, np.float64))
    residual = max(float(np.sqrt(np.mean(values**2))) if values.size else 0.0, RESIDUAL_LEAST)
    at = np.unique(np.concatenate([np.linspace(0, curve.end_us, _KNOTS), curve.starts_us / TRANSFER_FACTOR]))
    # Both errors are independent: the ends of the band add their squares.
    ends = []
    for factor, sign in ((TRANSFER_FACTOR, -1.0), (1 / TRANSFER_FACTOR, 1.0)):
        mean = curve(at)
        both = np.hypot(curve(at * factor) - mean, _with_residual(mean, _Z * residual) - mean)
        falling = np.minimum.accumulate(np.clip(mean + sign * both, 1e-3, 1.0))
        falling[0] = 1.0
        ends.append(through(at, falling))
    return TransferBand(key, curve, residual, ends[0], ends[1])


def _with_residual(performance: Floats, error: npt.ArrayLike) -> Floats:
    """Return performance with an error that vanishes at 1 and at 0, so that the curve still falls within them."""
    return np.asarray(performance + 4 * np.asarray(error) * performance * (1 - performance))


def _bounded(performance: Floats, steepness: Floats, added_us: Floats, end_us: float) -> Floats:
    """Return performance within (0, 1], beyond the domain times (end / x) ** k, k uniform within 0 … 2.

    A closed loop falls as 1 / x there, a bound of another kind not at all.
    """
    shares = (end_us / np.maximum(added_us, end_us)) ** (2 * scipy.special.ndtr(steepness))
    return np.asarray(np.clip(performance, 1e-3, 1.0) * shares)


def _along(axis: Floats, of: Floats) -> Floats:
    return axis.reshape(DRAWS, *(1,) * np.ndim(of))


@lru_cache(maxsize=256)
def _normal(key: str) -> tuple[Floats, Floats, Floats]:
    """Return `DRAWS` standard normal values on three axes, in an order that depends on the key alone."""
    order = np.random.default_rng(zlib.crc32(key.encode())).permutation(DRAWS)
    first = (np.arange(DRAWS) + 0.5) / DRAWS
    others = [(0.5 + np.arange(DRAWS) * step) % 1 for step in _STEPS]
    axes = [np.asarray(scipy.special.ndtri(np.clip(axis, 1e-3, 1 - 1e-3)))[order] for axis in (first, *others)]
    return axes[0], axes[1], axes[2]


@lru_cache(maxsize=256)
def _ends(key: str) -> Floats:
    """Return standard normal values of `DRAWS` draws at the ends of each part, shape (DRAWS, _PARTS + 1)."""
    values = scipy.special.ndtri((np.arange(DRAWS) + 0.5) / DRAWS)
    # So few draws have narrower quantiles than the distribution.
    rows = np.tile(values[:, None] * _Z / np.quantile(values, 0.975), (1, _PARTS + 1))
    return np.asarray(np.random.default_rng(zlib.crc32(key.encode())).permuted(rows, axis=0))
