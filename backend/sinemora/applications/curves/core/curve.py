"""Curve: normalised performance of one application against microseconds added to its round trip.

Performance is 1 without added latency and never rises; x is the sum of both directions. A curve is piecewise cubic over
its *fitted domain* ``0 … end_us``. Beyond the domain it keeps its smallest value, because a fitted polynomial is
meaningless without data (the published cubics turn negative near 1200 µs). Unknown latency (NaN) gives unknown
performance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class CurveError(ValueError):
    """Invalid curve: performance must stay within (0, 1] and never rise."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Piecewise cubic; each piece ends at the start of the next, the last at `end_us`.

    `starts_us` has shape (pieces,), ascending, the first 0. `coefficients` has shape (pieces, 4): of the powers 0 … 3
    of ``x - origins_us``. `ends` (pieces,): performance at the end of each piece, a floor against rounding errors.
    """

    starts_us: Floats
    origins_us: Floats
    coefficients: Floats
    ends: Floats
    end_us: float

    def __call__(self, added_us: npt.ArrayLike) -> Floats:
        """Return performance at each added latency (µs, any shape; below 0 counts as 0), in the same shape."""
        x = np.clip(np.asarray(added_us, np.float64), 0.0, self.end_us)
        piece = np.searchsorted(self.starts_us[1:], x, side="right")
        c0, c1, c2, c3 = (self.coefficients[:, power][piece] for power in range(4))
        x = x - self.origins_us[piece]
        return np.asarray(np.maximum(c0 + x * (c1 + x * (c2 + x * c3)), self.ends[piece]))

    @property
    def smallest(self) -> float:
        """Return the performance at and beyond the end of the domain."""
        return float(self.ends[-1])

    def budget_us(self, performance: float) -> float | None:
        """Return the largest added latency (µs) that keeps `performance`; None if the whole domain does.

        Bisection to a nanosecond; the result is on the side that keeps it.
        """
        if self.smallest >= performance:
            return None
        kept, lost = 0.0, self.end_us
        while lost - kept > 1e-3:
            middle = (kept + lost) / 2
            kept, lost = (middle, lost) if self(middle) >= performance else (kept, middle)
        return kept


def polynomial(flat_until_us: float, coefficients: Sequence[float], end_us: float) -> Curve:
    """Return a curve that is 1 below `flat_until_us`, then a polynomial of the added microseconds (power 0 first).

    At most 4 powers. Raises `CurveError` if it rises or leaves (0, 1] within the domain.
    """
    powers = np.zeros(4)
    powers[: len(coefficients)] = coefficients
    x = np.linspace(flat_until_us, end_us, 4096)
    values = np.polynomial.polynomial.polyval(x, powers)
    if not 0 <= flat_until_us < end_us or values[0] > 1 or values[-1] <= 0 or (np.diff(values) > 0).any():
        raise CurveError(f"not falling within (0, 1] from {flat_until_us} to {end_us} µs")
    return Curve(
        starts_us=np.array([0.0, flat_until_us]),
        origins_us=np.zeros(2),
        coefficients=np.array([[1.0, 0.0, 0.0, 0.0], powers]),
        ends=np.array([1.0, values[-1]]),
        end_us=float(end_us),
    )


def through(added_us: npt.ArrayLike, performance: npt.ArrayLike) -> Curve:
    """Return a piecewise linear curve, the first point at 0 µs. Raises `CurveError` if it rises or leaves (0, 1]."""
    x, p = np.asarray(added_us, np.float64), np.asarray(performance, np.float64)
    if x.ndim != 1 or x.shape != p.shape or x.size < 2 or x[0] != 0 or not (np.diff(x) > 0).all():
        raise CurveError("points need ascending latencies that begin at 0 µs")
    if not (np.isfinite(p).all() and p[0] <= 1 and p[-1] > 0 and (np.diff(p) <= 0).all()):
        raise CurveError("performance must fall within (0, 1]")
    lines = np.zeros((x.size - 1, 4))
    lines[:, 0], lines[:, 1] = p[:-1], np.diff(p) / np.diff(x)
    return Curve(starts_us=x[:-1], origins_us=x[:-1], coefficients=lines, ends=p[1:], end_us=float(x[-1]))
