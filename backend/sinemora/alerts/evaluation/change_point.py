"""When it began, and when it ended: the point at which a series of windows changes most."""

import numpy as np
import numpy.typing as npt

_LEAST = 2


def change_point(values: npt.ArrayLike) -> tuple[int, float] | None:
    """Index of the first value after the change that explains a series best, and the size of the change.

    Of all ways to cut the series in two, the one that leaves the least sum of absolute deviations from the medians of
    its parts (least absolute deviations, so that single outliers do not decide); NaN are left out. None when the
    series is too short or no cut explains anything.
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
