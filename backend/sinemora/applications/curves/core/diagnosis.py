"""Warnings about a fitted curve, with advice for the tenant."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from sinemora.applications.curves.core.curve import Curve, Floats
from sinemora.applications.curves.core.observations import Indices, Samples
from sinemora.applications.curves.core.outliers import own_noise
from sinemora.kit.percent import percent

FEW_POINTS = 8
SWEEP_LEAST_US, SWEEP_MOST_US = 10.0, 100_000.0
"""Usual range of the largest added latency: from within a rack to around the world."""


@dataclass(frozen=True, slots=True)
class Warn:
    """A warning: a stable `code` and one sentence about these samples."""

    code: str
    message: str


def name_outliers(everything: Samples, outliers: Indices) -> Iterator[Warn]:
    """Yield a warning for each sample that was left out of the fit."""
    for at in outliers.tolist():
        x, y = everything.added_us[at], everything.performance[at]
        yield Warn(
            "outlier",
            f"Outlier: the sample at {x:.0f} µs ({y:.3g}) does not fit the others and is left out. Repeat that run.",
        )


def doubt_unit(end_us: float) -> Iterator[Warn]:
    """Yield a warning if the largest latency (µs) is unusual for added latency: the unit may be another one."""
    if not SWEEP_LEAST_US <= end_us <= SWEEP_MOST_US:
        other = "milliseconds (added_ms)" if end_us < SWEEP_LEAST_US else "nanoseconds (added_ns)"
        yield Warn("unit", f"Unusual latencies: the sweep ends at {end_us:,.3g} µs. Did you mean {other}?")


def doubt_place(samples: Samples, low: Curve, high: Curve) -> Iterator[Warn]:
    """Yield a warning about steps: the gap between samples in which performance falls, nobody knows where."""
    middles = (samples.added_us[:-1] + samples.added_us[1:]) / 2
    widest = int(np.argmax(high(middles) - low(middles)))
    start, end = samples.added_us[widest : widest + 2]
    yield Warn("steps", f"Steps: between {start:.0f} and {end:.0f} µs performance may fall anywhere. Measure there.")


def diagnose(
    samples: Samples, curve: Curve, lowest: float, fitted: Floats, residuals: Floats, errors: Floats, factor: float
) -> tuple[Warn, ...]:
    """Return warnings about a curve fitted to the samples; `lowest`: low end of its band at the end of the domain.

    `fitted`, `residuals` and `errors` (standard errors around the curve) have shape (n,); `factor`: correction of the
    measured baseline.
    """
    x, y, n = samples.added_us, samples.performance / factor, samples.added_us.size
    warnings: list[Warn] = []

    def warn(code: str, message: str) -> None:
        warnings.append(Warn(code, message))

    if n < FEW_POINTS:
        warn(
            "few_points",
            f"Few latencies: {n}. The band is wide and partly assumed; {FEW_POINTS} to 20 are recommended.",
        )
    if (rise := _rise(samples)) is not None:
        warn(
            "not_monotone",
            f"Rising performance: around {rise:.0f} µs it rises by more than its noise; a falling curve cannot "
            "follow. Repeat those runs in random order.",
        )
    above = samples.performance - 1 > np.maximum(4 * (errors if (own := own_noise(samples)) is None else own), 0.02)
    if (above & (x > 0)).any():
        best = int(np.argmax(np.where(above, samples.performance, 0)))
        warn(
            "baseline_not_saturated",
            f"Baseline too low: at {x[best]:.0f} µs performance is {percent(samples.performance[best] - 1)} higher."
            " The baseline run was not saturated. Measure it again with more load.",
        )
    if curve.smallest > 0.97 or curve.smallest > 1 - 2 * float(np.median(errors)):
        warn(
            "no_effect",
            f"No significant loss up to {x[-1]:.0f} µs: the application may not depend on "
            "latency, or load beyond saturation hides the effect.",
        )
    elif lowest > 0.8:
        warn("short_sweep", f"Short sweep: at {x[-1]:.0f} µs most performance remains; extend the sweep.")
    gaps = np.diff(np.concatenate(([0.0], x))) / x[-1]
    widest = int(np.argmax(gaps))
    if gaps[widest] > 0.4:
        start = x[widest - 1] if widest else 0.0
        warn("gap", f"Gap: no measurements between {start:.0f} and {x[widest]:.0f} µs.")
    if (noise := float(np.median(errors / fitted))) > 0.15:
        warn("noisy", f"Noise: samples scatter by {percent(noise, 0)} around the curve; more repeats narrow the band.")
    odd = int(np.argmax(np.abs(residuals / errors)))
    if n >= 6 and abs(residuals[odd]) > 3.5 * errors[odd]:
        warn("unlikely", f"Unlikely: the sample at {x[odd]:.0f} µs ({y[odd]:.3f}) is far from the curve.")
    return tuple(warnings)


def _rise(samples: Samples) -> float | None:
    """Return the latency (µs) with the largest deviation from a monotone regression; None if noise explains it."""
    y, n = samples.performance, samples.performance.size
    noise = own_noise(samples)
    if noise is None:
        return None
    weights = samples.repeats if samples.errors is None else samples.errors**-2.0
    strays = (y - scipy.optimize.isotonic_regression(y, weights=weights, increasing=False).x) / noise
    if float((strays**2).sum()) <= n + 4 * np.sqrt(2 * n):
        return None
    return float(samples.added_us[int(np.argmax(strays))])
