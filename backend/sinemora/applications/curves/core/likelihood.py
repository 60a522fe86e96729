"""Marginal likelihood of curves given samples; unknown noise and the baseline error are integrated out."""

import numpy as np
import scipy

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.observations import RESOLUTION, Samples

# Prior of unknown noise: around 3 % with the weight of one observation. Noise given as spread is correct up to a
# factor, with the weight of six observations, because runs of one hour agree better than runs of different hours.
_NOISE, _NOISE_WEIGHT = 0.03, 1.0
_SCALE_WEIGHT = 6.0


def log_likelihood(samples: Samples, p: Floats) -> Floats:
    """Return the log marginal likelihood (m,) of each curve p (m, n), performance at the samples' latencies.

    Unknown noise is constant or proportional to performance with equal probability.
    """
    return _log(samples, p, each=False)[:, 0]


def log_without_each(samples: Samples, p: Floats) -> Floats:
    """Return the leave-one-out log marginal likelihood for each sample, shape (m, n)."""
    return _log(samples, p, each=True)[:, 1:]


def _log(samples: Samples, p: Floats, each: bool) -> Floats:
    if samples.errors is not None:
        return _marginal(samples, p, samples.errors**-2.0, False, 1.0, _SCALE_WEIGHT, each)
    even = _marginal(samples, p, samples.repeats, False, _NOISE, _NOISE_WEIGHT, each)
    proportional = _marginal(samples, p, samples.repeats, True, _NOISE, _NOISE_WEIGHT, each)
    return np.asarray(np.logaddexp(even, proportional) - np.log(2))


def _marginal(
    samples: Samples, p: Floats, w: Floats, proportional: bool, scale: float, weight: float, each: bool
) -> Floats:
    """Return the log marginal likelihood with weights w (n,), divided by p² + r² if noise is `proportional`.

    The noise prior is `scale` with the weight of `weight` observations. Column 0: all samples; then, if `each`, all
    but one.
    """
    y = samples.performance
    prior = weight * scale**2
    # Sums over samples are matrix products with the weights: row sums of such narrow matrices are slow.
    size = np.hypot(p, RESOLUTION) if proportional else np.ones((1, 1))
    log_w = _totals(np.log(size), np.full(w.size, -1.0), each) if proportional else np.zeros((1, 1 + each * w.size))
    log_w = log_w + _totals(0.5 * np.log(w)[None, :], np.ones(w.size), each)
    freedom = np.full(log_w.shape[1], y.size + weight)
    freedom[1:] -= 1
    if samples.measured:
        # The baseline has an error as well: its factor is integrated out, which costs one degree of freedom.
        against, of = y / size, p / size
        pp = _totals(of * of, w, each)
        py = _totals(against * of, w, each)
        pp = np.maximum(pp, 1e-300)
        chi2 = _totals(against * against, w, each) - py**2 / pp
        log_w = log_w - 0.5 * np.log(pp)
        freedom -= 1
    else:
        off = (y - p) / size
        chi2 = _totals(off * off, w, each)
    constant = (
        scipy.special.gammaln(freedom / 2) - 0.5 * (freedom - weight) * np.log(np.pi) + 0.5 * weight * np.log(prior)
    )
    return np.asarray(log_w + constant - 0.5 * freedom * np.log(prior + np.maximum(chi2, 0)))


def _totals(terms: Floats, w: Floats, each: bool) -> Floats:
    """Return row sums of w times the terms (m, n), shape (m, 1); if `each`, also without each term."""
    total = (terms @ w)[:, None]
    return np.concatenate((total, total - terms * w), axis=1) if each else total


def baseline_factor(samples: Samples, p: Floats) -> Floats:
    """Return the baseline factor that fits each curve p (m, n), shape (m,); 1 if the baseline is exact."""
    if not samples.measured:
        return np.ones(len(p))
    y = samples.performance
    w = samples.repeats if samples.errors is None else samples.errors**-2.0
    return np.asarray(p @ (w * y) / ((p * p) @ w))


def noise_scale(samples: Samples, p: Floats) -> float:
    """Return the noise around the curve p (n,): relative to 1 for one run, or as a multiple of the given errors."""
    y = samples.performance / baseline_factor(samples, p[None, :])
    if samples.errors is not None:
        weight, squares = _SCALE_WEIGHT, _SCALE_WEIGHT + (((y - p) / samples.errors) ** 2).sum()
    else:
        weight, squares = _NOISE_WEIGHT, _NOISE_WEIGHT * _NOISE**2 + (samples.repeats * (y - p) ** 2 / p).sum()
    return float(np.sqrt(squares / (y.size + weight)))


def errors_of(samples: Samples, p: Floats) -> Floats:
    """Return the standard error (n,) of each sample around the curve p (n,).

    It is the given one, or the estimated noise between constant and proportional.
    """
    scale = noise_scale(samples, p)
    return np.asarray(scale * (samples.errors if samples.errors is not None else np.sqrt(p / samples.repeats)))
