"""What speaks against trusting a fitted curve, in words a tenant can act on."""

from dataclasses import dataclass

import numpy as np
import scipy

from sinemora.curves.core.curve import Curve, Floats
from sinemora.curves.core.observations import Samples

FEW_POINTS = 8


@dataclass(frozen=True, slots=True)
class Warn:
    """A stable `code` and one sentence about these samples."""

    code: str
    message: str


def diagnose(
    samples: Samples, curve: Curve, lowest: float, fitted: Floats, residuals: Floats, errors: Floats, factor: float
) -> tuple[Warn, ...]:
    """Warnings about a curve fitted to the samples; `lowest` is the low end of its band at the end of the domain.

    `fitted`, `residuals` and `errors` (standard errors around the curve) have shape (n,); `factor` is what the measured
    baseline was multiplied with.
    """
    x, y, n = samples.added_us, samples.performance / factor, samples.added_us.size
    found: list[Warn] = []

    def warn(code: str, message: str) -> None:
        found.append(Warn(code, message))

    if n < FEW_POINTS:
        warn(
            "few_points", f"{n} different latencies: the band is wide and partly assumed. Good are {FEW_POINTS} to 20."
        )
    if (rise := _rise(samples)) is not None:
        warn(
            "not_monotone",
            f"Performance rises again around {rise:.0f} µs by more than its noise; a curve that never rises cannot "
            "follow. Repeat those runs, in random order.",
        )
    above = samples.performance - 1 > np.maximum(4 * (errors if (own := _own_noise(samples)) is None else own), 0.02)
    if (above & (x > 0)).any():
        best = int(np.argmax(np.where(above, samples.performance, 0)))
        warn(
            "baseline_not_saturated",
            f"With {x[best]:.0f} µs added it does {samples.performance[best] - 1:.1%} better than the baseline: the "
            "baseline run was not at its maximum. Measure it again with enough load to saturate.",
        )
    if curve.smallest > 0.97 or curve.smallest > 1 - 2 * float(np.median(errors)):
        warn(
            "no_effect",
            f"Up to {x[-1]:.0f} µs nothing is lost that stands out of the noise: the application may not depend on "
            "latency, or more load than saturates it hides the effect.",
        )
    elif lowest > 0.8:
        warn("short_sweep", f"At {x[-1]:.0f} µs most performance is left; a longer sweep would show where it goes.")
    gaps = np.diff(np.concatenate(([0.0], x))) / x[-1]
    widest = int(np.argmax(gaps))
    if gaps[widest] > 0.4:
        start = x[widest - 1] if widest else 0.0
        warn("gap", f"Nothing was measured between {start:.0f} and {x[widest]:.0f} µs.")
    if (noise := float(np.median(errors / fitted))) > 0.15:
        warn("noisy", f"Samples scatter by {noise:.0%} around the curve; more repeats would narrow the band.")
    odd = int(np.argmax(np.abs(residuals / errors)))
    if n >= 6 and abs(residuals[odd]) > 3.5 * errors[odd]:
        warn("outlier", f"The sample at {x[odd]:.0f} µs ({y[odd]:.3f}) does not fit the others.")
    return tuple(found)


def _rise(samples: Samples) -> float | None:
    """Latency (µs) where samples stray most from their own falling regression, if that is more than noise explains."""
    y, n = samples.performance, samples.performance.size
    noise = _own_noise(samples)
    if noise is None:
        return None
    weights = samples.repeats if samples.errors is None else samples.errors**-2.0
    strays = (y - scipy.optimize.isotonic_regression(y, weights=weights, increasing=False).x) / noise
    if float((strays**2).sum()) <= n + 4 * np.sqrt(2 * n):
        return None
    return float(samples.added_us[int(np.argmax(strays))])


def _own_noise(samples: Samples) -> Floats | None:
    """Standard errors (n,) that owe nothing to a curve: the given ones, or from differences between neighbours.

    None for fewer than 6 samples without errors. A slow rise or fall hardly touches the differences.
    """
    if samples.errors is not None:
        return samples.errors
    y, n = samples.performance, samples.performance.size
    if n < 6:
        return None
    # For neighbours on a straight line the middle one differs from their mean by √1.5 of the noise.
    bends = np.abs(y[1:-1] - (y[:-2] + y[2:]) / 2) / np.sqrt(1.5)
    return np.asarray(max(float(np.median(bends)) / 0.6745, 1e-6) / np.sqrt(samples.repeats))
