"""Rows that do not belong to a falling curve: a run with another load, a shifted decimal point.

A falling curve lies between its neighbours. A sample is an outlier if it is far outside of what the falling regression
of the others (Barlow and others 1972) allows there, compared with the noise of neighbours, which one wrong row cannot
change. Outliers are left out of the fit and named; a tenth of the samples at most.
"""

from dataclasses import replace

import numpy as np
import scipy

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.observations import Indices, ObservationError, Samples
from sinemora.kit.percent import percent

SAMPLES_LEAST = 6
_NOISES, _LEAST, _SHARE = 7.0, 0.1, 10
_RISE_LEAST = 0.2


def outliers_of(samples: Samples) -> Indices:
    """Return the positions of outliers, ascending. The baseline, at 0 µs, is never one."""
    noise = own_noise(samples)
    if noise is None:
        return np.zeros(0, np.intp)
    found: list[int] = []
    left = np.arange(samples.performance.size)
    while len(found) < max(1, samples.performance.size // _SHARE) and left.size > SAMPLES_LEAST:
        strays = _strays(samples.performance[left], _weights(samples)[left])
        allowed = np.maximum(_NOISES * noise[left], _LEAST)
        worst = int(np.argmax(strays / allowed))
        if strays[worst] <= allowed[worst]:
            break
        found.append(int(left[worst]))
        left = np.delete(left, worst)
    return np.array(sorted(found), np.intp)


def without(samples: Samples, outliers: Indices) -> Samples:
    """Return the samples but the outliers."""
    kept = np.delete(np.arange(samples.performance.size), outliers)
    return replace(
        samples,
        added_us=samples.added_us[kept],
        performance=samples.performance[kept],
        repeats=samples.repeats[kept],
        errors=None if samples.errors is None else samples.errors[kept],
    )


def own_noise(samples: Samples) -> Floats | None:
    """Return standard errors (n,) independent of a curve: the given ones, or from differences between neighbours.

    None for fewer than 6 samples without errors. A slow trend hardly affects the differences.
    """
    if samples.errors is not None:
        return samples.errors
    y, n = samples.performance, samples.performance.size
    if n < SAMPLES_LEAST:
        return None
    # Of three samples on a line, the middle one differs from the mean of its neighbours by √1.5 of the noise.
    bends = np.abs(y[1:-1] - (y[:-2] + y[2:]) / 2) / np.sqrt(1.5)
    return np.asarray(max(float(np.median(bends)) / 0.6745, 1e-6) / np.sqrt(samples.repeats))


def demand_fall(samples: Samples) -> None:
    """Raise `ObservationError` if performance only rises with latency.

    It does if a rising regression leaves less than a quarter of the squares that a falling one leaves, and ends at
    least a fifth higher. The first sample, which may be a baseline without enough load, does not count.
    """
    y, weights = samples.performance[1:], _weights(samples)[1:]
    if y.size + 1 < SAMPLES_LEAST:
        return
    rising, falling = (
        scipy.optimize.isotonic_regression(y, weights=weights, increasing=increasing).x for increasing in (True, False)
    )
    left, other = (float((weights * (y - fitted) ** 2).sum()) for fitted in (rising, falling))
    rise = float(rising[-1] / rising[0] - 1)
    if rise >= _RISE_LEAST and left < other / 4:
        raise ObservationError(
            "/rows",
            f"performance rises with latency by {percent(rise, 0)}; for durations name the column duration, not rate",
        )


def _weights(samples: Samples) -> Floats:
    return samples.repeats if samples.errors is None else samples.errors**-2.0


def _strays(y: Floats, weights: Floats) -> Floats:
    """Return the distance (n,) of each sample from what the falling regression of the others allows there."""
    strays = np.zeros(y.size)
    if y.size < 3:
        return strays
    for at in range(1, y.size):
        others = np.delete(np.arange(y.size), at)
        fitted = scipy.optimize.isotonic_regression(y[others], weights=weights[others], increasing=False).x
        above = fitted[at - 1]
        below = fitted[at] if at < fitted.size else 0.0
        strays[at] = max(y[at] - above, below - y[at], 0.0)
    return strays
