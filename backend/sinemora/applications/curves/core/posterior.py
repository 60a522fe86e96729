"""Posterior of a family given samples: weighted non-linear least squares, then importance sampling.

Least squares (SciPy's Levenberg-Marquardt from the best of many starting points) finds the modes. Draws around them and
from the whole prior, weighted by likelihood, give the uncertainty. Means and quantiles of falling curves fall, so every
result is valid. Draws come from fixed Sobol points, so the posterior is deterministic.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.families import Family
from sinemora.applications.curves.core.likelihood import baseline_factor, errors_of, log_likelihood, log_without_each
from sinemora.applications.curves.core.observations import Samples

_SPREAD_DRAWS, _MODE_DRAWS, _ROUND_DRAWS = 1024, 512, 768
_ROUNDS, _ROUNDS_MAX, _EFFECTIVE, _CENTRES = 2, 6, 150, 16
_STARTS = 2
# Starting points of draws need no high precision.
_SQUARES_CLOSE, _PLACE_CLOSE = 1e-5, 1e-4
# Student's t with few degrees of freedom: a proposal needs heavier tails than the target.
_FREEDOM = 5
_WIDER = 1.3
_FARTHEST = 8.0
_THRESHOLDS = np.linspace(-3, 3, 121)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Weighted members of a family: z (m, dimensions), weights (m,) that sum to 1.

    `best` (dimensions,) is the member of least squares; `held_out` (n,) the log probability of each sample given
    the others; `predicted` (n,) its prediction from the others.
    """

    family: Family
    z: Floats
    weights: Floats
    best: Floats
    held_out: Floats
    predicted: Floats

    def draws(self, count: int) -> Floats:
        """Return `count` members of equal weight, shape (count, dimensions)."""
        return self.z[_equal_marks(self.weights, count)]


class Search:
    """Draws from one family so far, with their proposals. Latencies are in units of `scale_us`."""

    def __init__(self, family: Family, samples: Samples, scale_us: float) -> None:
        self.family, self._samples, self._u = family, samples, samples.added_us / scale_us
        self._z = _normals(_SPREAD_DRAWS, family.dimensions)
        self._curves = family.at(self._z, self._u)
        self._log = log_likelihood(samples, self._curves)
        self._proposals: list[_Mixture] = []
        self._counts: list[int] = []
        self._densities: list[Floats] = []
        modes = self._modes()
        self.best = modes[0].centres[0]
        for mode in modes:
            self._add(mode, _MODE_DRAWS // len(modes))

    @property
    def log_evidence(self) -> float:
        """Return the log probability of the samples under the family, estimated from the draws."""
        weights = self._log_weights()
        return float(weights.max() + np.log(np.exp(weights - weights.max()).sum()))

    def refined(self) -> Posterior:
        """Return the posterior after more rounds of draws, each around the likely ones of the rounds before."""
        for done in range(_ROUNDS_MAX):
            weights = _normalised(self._log_weights())
            if done >= _ROUNDS and (weights**2).sum() * _EFFECTIVE < 1:
                break
            self._add(_around(self._z, self._log_weights()), _ROUND_DRAWS)
        # Few effective draws underestimate the uncertainty: flatter weights widen the result.
        weights = _softened(self._log_weights(), _EFFECTIVE / 5)
        heavy = weights > weights.max() * 1e-6
        z, curves, weights = self._z[heavy], self._curves[heavy], weights[heavy] / weights[heavy].sum()
        gain = self._log[heavy, None] - log_without_each(self._samples, curves)
        return Posterior(self.family, z, weights, self.best, *leave_one_out(gain, curves, weights))

    def _log_weights(self) -> Floats:
        # Every draw is weighed against all proposals together (Cornuet et al. 2012): none can get an extreme weight
        # for having come from the wrong one.
        prior = _log_normal(self._z)
        mixture = _SPREAD_DRAWS * np.exp(prior)
        for count, density in zip(self._counts, self._densities, strict=True):
            mixture += count * density
        return np.asarray(self._log + prior - np.log(mixture))

    def _add(self, bumps: "_Mixture", count: int) -> None:
        fresh = np.clip(bumps.draw(count, salt=1 + len(self._proposals)), -_FARTHEST, _FARTHEST)
        curves = self.family.at(fresh, self._u)
        for index, proposal in enumerate(self._proposals):
            self._densities[index] = np.concatenate((self._densities[index], proposal.density(fresh)))
        self._z, self._curves = np.concatenate((self._z, fresh)), np.concatenate((self._curves, curves))
        self._log = np.concatenate((self._log, log_likelihood(self._samples, curves)))
        self._proposals.append(bumps)
        self._densities.append(bumps.density(self._z))
        self._counts.append(count)

    def _modes(self) -> "list[_Mixture]":
        """Return one proposal per least-squares solution, scaled by its covariance, best first."""
        modes: dict[tuple[float, ...], tuple[float, _Mixture]] = {}
        for start in _apart(self._z, self._log + _log_normal(self._z)):
            z = self._z[start]
            # The weight of the prior depends on the noise, which is known after the first pass: hence a second pass.
            for _ in range(2):
                z, covariance, squares = self._least_squares(z)
                z = self._moved(z)
            values, axes = np.linalg.eigh(covariance)
            shape = axes * np.sqrt(np.clip(values, 1e-8, 1.0)) * _WIDER
            modes[tuple(np.round(z, 1))] = squares, _Mixture(z[None, :], shape)
        return [bump for _, bump in sorted(modes.values(), key=lambda entry: entry[0])]

    def _least_squares(self, start: Floats) -> tuple[Floats, Floats, float]:
        """Return the least-squares member near `start`, its covariance, and the weighted sum of squares."""
        d = start.size
        y, steps = self._samples.performance, 1e-5 * np.eye(d)
        root = 1 / errors_of(self._samples, self._scaled(start[None, :])[0])

        def residuals(z: Floats) -> Floats:
            # The prior acts as one more sample of 0 ± 1 per dimension, so that few samples are enough.
            return np.concatenate(((y - self._scaled(z[None, :])[0]) * root, z))

        def slopes(z: Floats) -> Floats:
            p = self._scaled(np.concatenate((z + steps, z - steps)))
            return np.concatenate((((p[d:] - p[:d]) * root).T / 2e-5, np.eye(d)))

        z, covariance, info, _, _ = scipy.optimize.leastsq(
            residuals, start, Dfun=slopes, full_output=True, maxfev=60, ftol=_SQUARES_CLOSE, xtol=_PLACE_CLOSE
        )
        if covariance is None or not np.isfinite(covariance).all():
            covariance = np.eye(d)
        return z, covariance, float((info["fvec"] ** 2).sum())

    def _moved(self, z: Floats) -> Floats:
        """Return the member with the most likely threshold, other parameters fixed.

        The slope of a step has no information past a sample.
        """
        if not self.family.has_threshold:
            return z
        tried = np.tile(z, (len(_THRESHOLDS) + 1, 1))
        tried[1:, 0] = _THRESHOLDS
        log = log_likelihood(self._samples, self.family.at(tried, self._u)) + _log_normal(tried)
        return np.asarray(tried[int(np.argmax(log))])

    def _scaled(self, z: Floats) -> Floats:
        p = self.family.at(z, self._u)
        return np.asarray(p * baseline_factor(self._samples, p)[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Equal mixture of Student's t around `centres` (c, d) with one `shape` (d, d), a root of the covariance."""

    centres: Floats
    shape: Floats

    def draw(self, count: int, salt: int) -> Floats:
        c, d = self.centres.shape
        # Consecutive Sobol points are well spread, so each centre gets a run of them.
        return np.asarray(self.centres[np.arange(count) * c // count] + _students(count, d, salt) @ self.shape.T)

    def density(self, z: Floats) -> Floats:
        c, d = self.centres.shape
        inverse = np.linalg.inv(self.shape).T
        a, b = z @ inverse, self.centres @ inverse
        # One row per centre, in place: most of the time of a fit is spent here.
        density = _squares(b)[:, None] + _squares(a) - 2 * (b @ a.T)
        np.maximum(density, 0, out=density)
        density /= _FREEDOM
        density += 1
        np.log(density, out=density)
        density *= -0.5 * (_FREEDOM + d)
        log = (
            scipy.special.gammaln((_FREEDOM + d) / 2)
            - scipy.special.gammaln(_FREEDOM / 2)
            - 0.5 * d * np.log(_FREEDOM * np.pi)
        )
        density += log - np.linalg.slogdet(self.shape)[1] - np.log(c)
        return np.asarray(np.exp(density, out=density).sum(axis=0))


def _around(z: Floats, log_weights: Floats) -> _Mixture:
    """Return a mixture at the weighted draws; weights are flattened until enough draws determine its shape."""
    d = z.shape[1]
    weights = _softened(log_weights, 8 * d)
    from_mean = z - weights @ z
    values, axes = np.linalg.eigh((weights[:, None] * from_mean).T @ from_mean)
    # Silverman's bandwidth for `_CENTRES` components.
    narrower = (4 / (d + 2) / _CENTRES) ** (1 / (d + 4))
    return _Mixture(z[_equal_marks(weights, _CENTRES)], axes * np.sqrt(np.clip(values, 1e-8, 2.0)) * narrower)


def _apart(z: Floats, target: Floats) -> list[int]:
    """Return the most likely starting points that are not close to one another."""
    chosen: list[int] = []
    for index in np.argsort(-target)[:64]:
        if all(((z[index] - z[other]) ** 2).sum() > 1.0 for other in chosen):
            chosen.append(int(index))
        if len(chosen) == _STARTS:
            break
    return chosen


def leave_one_out(gain: Floats, curves: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the log probability of each sample given the others (n,), and its prediction (n,).

    `gain` (m, n): contribution of the sample to a member's log likelihood. The draws are reweighted by the likelihood
    without the sample (Gelfand 1992). Weights are truncated at √m times their mean (Ionides 2008), so that no single
    draw dominates.
    """
    others = weights[:, None] * np.exp(gain.min(axis=0) - gain)
    others /= others.sum(axis=0)
    others = np.minimum(others, 1 / np.sqrt(len(others)))
    others /= others.sum(axis=0)
    top = gain.max(axis=0)
    score = top + np.log((others * np.exp(gain - top)).sum(axis=0))
    return np.asarray(score), np.asarray((others * curves).sum(axis=0))


def _normalised(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _softened(log_weights: Floats, effective: float) -> Floats:
    """Return weights that sum to 1, flattened by a power of at most 1 to an effective size of `effective` draws."""
    power = 1.0
    while True:
        weights = _normalised(power * log_weights)
        if (weights**2).sum() * effective <= 1 or power < 1e-3:
            return weights
        power /= 1.3


def _equal_marks(weights: Floats, count: int) -> npt.NDArray[np.intp]:
    """Return positions of `count` draws that represent the weights (systematic resampling)."""
    return np.searchsorted(np.cumsum(weights)[:-1], (np.arange(count) + 0.5) / count)


@lru_cache(maxsize=64)
def _sobol(count: int, dimensions: int, salt: int) -> Floats:
    # This import takes seconds; programs that only read curves do not need it.
    from scipy.stats import qmc

    points = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(salt)).random(1 << (count - 1).bit_length())
    return np.asarray(np.clip(points[:count], 1e-9, 1 - 1e-9))


@lru_cache(maxsize=64)
def _normals(count: int, dimensions: int) -> Floats:
    return np.asarray(scipy.special.ndtri(_sobol(count, dimensions, 0)))


@lru_cache(maxsize=64)
def _students(count: int, dimensions: int, salt: int) -> Floats:
    points = _sobol(count, dimensions + 1, salt)
    chi2 = 2 * scipy.special.gammaincinv(_FREEDOM / 2, points[:, -1])
    return np.asarray(scipy.special.ndtri(points[:, :-1]) / np.sqrt(chi2 / _FREEDOM)[:, None])


def _log_normal(z: Floats) -> Floats:
    return np.asarray(-0.5 * _squares(z) - 0.5 * z.shape[1] * np.log(2 * np.pi))


def _squares(z: Floats) -> Floats:
    """Return the squared length of each row."""
    return np.asarray(np.einsum("ij,ij->i", z, z))
