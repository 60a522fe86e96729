"""Doubts about a forecast: old measurements, and a gain that changed in the newest minutes.

Held-out blocks describe the time that they come from. Two things separate it from the next hour:

- Age: nothing is known of the time since the newest window. Changes of route or load come at random, so that the share
  of hours in which one came meanwhile is 1 - exp(-age / `CHANGE_S`); after one, any gain is as likely as any other.
- A change: when the newest `STRETCH_S` differ from all stretches before by more than those differ among themselves, the
  new state lasts or passes, and both are given the same weight.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices
from sinemora.measurements.codec.llq16 import Ints

FRESH_S = 120
"""Windows are up to this old when they are read: a minute is merged, then reported."""
CHANGE_S = 3600.0
"""Mean time between two changes of a path that no earlier window announces."""
STRETCH_S = 120
_OTHERS_LEAST = 3
_SIGNIFICANT = 0.01
_DEVIATION_LEAST = 1e-3
"""Floor of the standard deviation of stretches: round trips are stored within 0.8 %."""


@dataclass(frozen=True, slots=True, eq=False)
class Recency:
    """Age of the newest window, s, and the stretch of each held-out window, counted back from the newest."""

    age_s: float
    stretches: Indices

    @classmethod
    def of(cls, started_at_s: Ints, window_s: Ints, holdout: npt.NDArray[np.bool_], age_s: float) -> "Recency":
        """Return the recency of the held-out windows among all."""
        last = int((started_at_s + window_s).max())
        return cls(age_s, np.asarray((last - window_s - started_at_s)[holdout] // STRETCH_S, np.intp))


def unknown_share(age_s: float) -> float:
    """Return the share of hours whose state changed since measurements of this age, 0 … 1."""
    return float(-np.expm1(-max(age_s - FRESH_S, 0.0) / CHANGE_S))


def newest_changed(gains: Floats, stretches: Indices) -> npt.NDArray[np.bool_] | None:
    """Return which windows are the newest stretch, if it differs from those before (`_SIGNIFICANT`); None otherwise.

    The mean of the newest stretch is compared with the prediction interval of the means before it (Student's t).
    """
    numbers, place = np.unique(stretches, return_inverse=True)
    if numbers.size <= _OTHERS_LEAST:
        return None
    means = np.bincount(place, gains) / np.bincount(place)
    newest, others = means[0], means[1:]
    deviation = max(float(others.std(ddof=1)), _DEVIATION_LEAST)
    distance = abs(newest - others.mean()) / (deviation * np.sqrt(1 + 1 / others.size))
    if 2 * scipy.special.stdtr(others.size - 1, -distance) >= _SIGNIFICANT:
        return None
    return np.asarray(place == 0, np.bool_)
