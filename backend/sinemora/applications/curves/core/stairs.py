"""Posterior of curves that fall in steps: every choice of up to three steps between samples, weighed.

Least squares finds no steps, since the error does not change while a step moves between two samples. A step may be
anywhere between them.
"""

from itertools import combinations

import numpy as np

from sinemora.applications.curves.core import families
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.likelihood import log_likelihood, log_without_each
from sinemora.applications.curves.core.observations import Samples
from sinemora.applications.curves.core.posterior import Posterior, leave_one_out

STEPS_MAX = 3
_PLACES, _DRAWS = 20, 1000
_NOISE = 0.03
_EXACT = 1e3


def stairs(samples: Samples, u: Floats) -> Posterior:
    """Return the posterior of steps given samples at latencies `u` (n,)."""
    rng = np.random.default_rng(0)
    known, y, weights = u, samples.performance, samples.repeats
    if u[0] > 0:  # a stated baseline is exact
        known, y, weights = np.append(0.0, u), np.append(1.0, y), np.append(_EXACT * weights.max(), weights)
    sums, mass = (np.concatenate(([0.0], np.cumsum(part))) for part in (weights * y, weights))
    falls = np.array([y[max(at - 3, 0) : at].mean() - y[at : at + 3].mean() for at in range(1, y.size)])
    places = 1 + np.sort(np.argsort(-falls)[:_PLACES])
    found, log = [], []
    for count in range(1, min(STEPS_MAX, places.size) + 1):
        chosen = np.array(list(combinations(places, count)))
        edges = np.pad(chosen, ((0, 0), (1, 1)), constant_values=((0, 0), (0, y.size)))
        lengths = np.diff(mass[edges])
        squares = (weights * y**2).sum() - (np.diff(sums[edges]) ** 2 / lengths).sum(axis=1)
        evidence = -0.5 * y.size * np.log(_NOISE**2 + squares) - 0.5 * np.log(lengths).sum(axis=1)
        log.append(evidence - np.log(len(chosen)))
        found += [(edge, max(left, 0.0)) for edge, left in zip(edges, squares, strict=True)]
    likely = np.concatenate(log)
    share = np.exp(likely - likely.max())
    z = np.zeros((_DRAWS, 2 * STEPS_MAX))
    for row, pick in enumerate(rng.choice(len(found), _DRAWS, p=share / share.sum())):
        edge, left = found[pick]
        means, freedom = np.diff(sums[edge]) / np.diff(mass[edge]), y.size - edge.size + 2
        # Noise is between constant and proportional to performance.
        noise = np.sqrt((_NOISE**2 + left) / freedom / np.diff(mass[edge]) * means / means.mean())
        levels = np.maximum(means + noise * rng.standard_t(freedom, noise.size), families.FLOOR)
        levels = np.minimum.accumulate(levels)
        inner = edge[1:-1]
        z[row, : inner.size] = rng.uniform(known[inner - 1], known[inner])
        z[row, STEPS_MAX : STEPS_MAX + inner.size] = 1 - levels[1:] / levels[:-1]
    family = families.steps(STEPS_MAX)
    curves, even = family.at(z, u), np.full(_DRAWS, 1 / _DRAWS)
    gain = log_likelihood(samples, curves)[:, None] - log_without_each(samples, curves)
    return Posterior(family, z, even, z[0], *leave_one_out(gain, curves, even))
