"""Change point of a series: the window at which its level changes most."""

import numpy as np
import numpy.typing as npt

_LEAST = 2


def change_point(values: npt.ArrayLike) -> tuple[int, float] | None:
    """Return the index of the first value after the best change point, and the size of the change.

    The best cut leaves the least sum of absolute deviations from the medians of both parts, so that single outliers
    do not decide. NaN are ignored. Return None if the series is too short or no cut explains 20 % of the deviations.
    """
    series = np.asarray(values, np.float64)
    at = np.flatnonzero(np.isfinite(series))
    known = series[at]
    if known.size < 2 * _LEAST:
        return None
    cuts = range(_LEAST, known.size - _LEAST + 1)
    costs = [_cost(known[:cut]) + _cost(known[cut:]) for cut in cuts]
    best = int(np.argmin(costs))
    if costs[best] >= 0.8 * _cost(known):
        return None
    cut = cuts[best]
    return int(at[cut]), float(np.median(known[cut:]) - np.median(known[:cut]))


def _cost(part: npt.NDArray[np.float64]) -> float:
    return float(np.abs(part - np.median(part)).sum())
