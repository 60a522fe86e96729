"""Tables of curves in equal steps of latency, for fast evaluation of many curves at many latencies.

The published scheduler rounds a latency to the nearest step of 10 µs (`nearest`); `linear` interpolates between steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Curve, Floats

STEP_US = 10.0
# Rows per chunk: a few hundred kilobytes, to stay in the processor cache.


@dataclass(frozen=True, slots=True, eq=False)
class CurveTable:
    """Performance of `curves` curves at 0, `step_us`, 2 `step_us` …: `values` has shape (steps, curves).

    Beyond a curve's domain, and beyond the last step, its column has its smallest value.
    """

    step_us: float
    values: Floats

    def nearest(self, added_us: npt.ArrayLike, out: Floats | None = None) -> Floats:
        """Return performance of all curves at the step nearest to each latency; µs of shape (n,) → (n, curves)."""
        x = self._steps(added_us)
        rows = np.take(self.values, np.rint(np.nan_to_num(x)).astype(np.intp), axis=0, out=out, mode="clip")
        rows[np.isnan(x)] = np.nan
        return rows

    def _steps(self, added_us: npt.ArrayLike) -> Floats:
        return np.clip(np.asarray(added_us, np.float64) / self.step_us, 0.0, self.values.shape[0] - 1)


def tabulate(curves: Sequence[Curve], step_us: float = STEP_US) -> CurveTable:
    """Return the table of curves, as long as the longest domain; steps in µs."""
    if not curves or not step_us > 0:
        raise ValueError("a table needs at least one curve and a step above 0 µs")
    steps = int(np.ceil(max(curve.end_us for curve in curves) / step_us)) + 1
    at = np.arange(steps) * step_us
    values = np.ascontiguousarray(np.stack([curve(at) for curve in curves], axis=1))
    return CurveTable(step_us, values)
