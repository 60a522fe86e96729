"""Response times of an M/G/1 queue (one VM) and of an M/G/∞ queue (serverless); the utilisation that keeps a target.

Means follow the Pollaczek–Khinchine formula. Percentiles invert the Pollaczek–Khinchine transform numerically by the
Euler method (J. Abate, W. Whitt, "Numerical inversion of Laplace transforms of probability distributions", ORSA Journal
on Computing 7(1), 1995). Service times have a gamma distribution with the given mean and squared coefficient of
variation: 0 is deterministic, 1 exponential.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt
import scipy

UTILISATION_MAX = 0.999
"""Largest utilisation that is advised: close to 1 a small error of the load makes the response time unbounded."""
VARIATION_MAX = 100.0

_A = 18.4  # discretisation error e^-A = 1e-8
_TERMS, _EULER = 60, 14
_WEIGHTS = np.concatenate(
    [np.ones(_TERMS), np.cumsum([comb(_EULER, k) for k in range(_EULER, -1, -1)])[::-1][: _EULER + 1] / 2**_EULER]
)
# Below this variation a service time counts as deterministic: the inversion does not resolve so steep a distribution.
_DETERMINISTIC = 1e-3

Complexes = npt.NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Service:
    """Service time: mean (s) and squared coefficient of variation, variance over squared mean."""

    mean_s: float
    variation: float

    @property
    def rate_per_s(self) -> float:
        """Jobs per second while busy."""
        return 1 / self.mean_s


@dataclass(frozen=True, slots=True)
class Target:
    """Response target: `percentile` of responses, or their mean if None, within `response_s`."""

    response_s: float
    percentile: float | None = None


def response_exceeds(service: Service, utilisation: float, response_s: float) -> float:
    """Return the probability that a response of an M/G/1 queue takes longer than `response_s`."""
    if utilisation >= 1:
        return 1.0
    t = response_s / service.mean_s
    c2 = service.variation
    if c2 < _DETERMINISTIC:
        # The response is the wait plus a constant; only the wait is a distribution without a step after 0.
        return 1.0 if t < 1 else _inverted(lambda s: (1 - _wait(s, utilisation, np.exp(-s))) / s, max(t - 1, 1e-9))

    def tail(s: Complexes) -> Complexes:
        served = (1 + c2 * s) ** (-1 / c2)
        return np.asarray((1 - _wait(s, utilisation, served) * served) / s)

    return _inverted(tail, max(t, 1e-9))


def utilisation_limit(service: Service, target: Target) -> float:
    """Return the largest utilisation of a VM that keeps a target; 0 if no load does."""
    if target.percentile is None:
        if target.response_s <= service.mean_s:
            return 0.0
        k = 2 * (target.response_s / service.mean_s - 1) / (1 + service.variation)
        return min(k / (1 + k), UTILISATION_MAX)
    share = 1 - target.percentile / 100

    def excess(utilisation: float) -> float:
        return response_exceeds(service, utilisation, target.response_s) - share

    if target.response_s <= 0 or excess(1e-9) > 0:
        return 0.0
    if excess(UTILISATION_MAX) <= 0:
        return UTILISATION_MAX
    return float(scipy.optimize.brentq(excess, 1e-9, UTILISATION_MAX, xtol=1e-10))


def serverless_response_s(service: Service, cold_share: float, cold_s: float, percentile: float | None) -> float:
    """Return the mean or a percentile of serverless responses, s: every job has a container (M/G/∞).

    A share `cold_share` of jobs waits `cold_s` for a new container first.
    """
    if percentile is None:
        return service.mean_s + cold_share * cold_s
    warm = scipy.stats.gamma(1 / max(service.variation, 1e-9), scale=service.mean_s * max(service.variation, 1e-9))

    if cold_share == 0 or cold_s == 0:
        return float(warm.ppf(percentile / 100))

    def below(t: float) -> float:
        return float((1 - cold_share) * warm.cdf(t) + cold_share * warm.cdf(t - cold_s)) - percentile / 100

    return float(scipy.optimize.brentq(below, 0.0, (float(warm.ppf(percentile / 100)) + cold_s) * (1 + 1e-9)))


def _wait(s: Complexes, utilisation: float, served: Complexes) -> Complexes:
    """Return the transform of the waiting time of an M/G/1 queue with mean service time 1."""
    return np.asarray((1 - utilisation) * s / (s - utilisation * (1 - served)))


def _inverted(transform: Callable[[Complexes], Complexes], t: float) -> float:
    """Return the probability with this Laplace transform at `t`."""
    k = np.arange(1, _TERMS + _EULER + 1)
    points = (_A + 2j * np.pi * np.concatenate([[0], k])) / (2 * t)
    values = np.real(transform(points))
    terms = np.where(np.arange(values.size) % 2, -1.0, 1.0) * values
    terms[0] /= 2
    return float(np.clip(np.exp(_A / 2) / t * (_WEIGHTS * terms).sum(), 0.0, 1.0))
