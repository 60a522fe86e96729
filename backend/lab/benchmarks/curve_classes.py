"""Curves of classes that no published function has: steep falls, plateaus, cliffs, one wrong row, heavy noise.

The error of a class is the mean RMSE of its curves over the sweep, divided by 20 times the allowed error if that is
more than 0.05: three times the noise is allowed. Its coverage is the share of the true curves in the bands.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.observations import normalise

END_US = 1000.0
ALLOWED = 0.05

Truth = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Kind:
    """Class of curves: `rows` latencies with relative `noise`; `wrong` is the factor of one row, 1 for none."""

    name: str
    truth: str
    rows: int = 20
    noise: float = 0.03
    wrong: float = 1.0


KINDS = (
    *(Kind(f"fall over {tau} µs", f"exponential {tau}") for tau in (15, 60, 80, 100, 150, 300, 1000)),
    Kind("fall over 80 µs without noise", "exponential 80", noise=0.0),
    *(Kind(f"plateau, {rows} rows", "plateau", rows) for rows in (10, 20, 40)),
    *(Kind(f"cliff, {rows} rows", "cliff", rows) for rows in (20, 40)),
    *(Kind(f"a row × {factor:g}", truth, wrong=factor) for factor in (10, 0.1) for truth in ("memcached-server",)),
    *(Kind(f"a row × {factor:g}, plateau", "plateau", wrong=factor) for factor in (10, 0.1)),
    *(Kind(f"heavy noise, {truth}", truth, noise=0.15) for truth in ("memcached-server", "dns", "plateau")),
)


def truth_of(name: str) -> Truth:
    """Return a curve: performance at added latencies (µs)."""
    if name.startswith("exponential"):
        tau = float(name.split()[1])
        return lambda x: np.maximum(np.exp(-x / tau), 1e-6)
    if name == "plateau":
        return lambda x: np.interp(x, [0, 200, 300, 700, 1000], [1, 1, 0.6, 0.6, 0.35])
    if name == "cliff":
        return lambda x: np.interp(x, [0, 280, 320, 1000], [1, 1, 0.3, 0.3])
    return published(name).curve


def measured(kind_and_seed: tuple[Kind, int]) -> tuple[float, float]:
    """Return the RMSE of a sweep of a class, and the share of the true curve in the band."""
    kind, seed = kind_and_seed
    rng = np.random.default_rng((seed, KINDS.index(kind)))
    truth = truth_of(kind.truth)
    x = np.linspace(0, END_US, kind.rows)
    y = truth(x) * np.maximum(1 + kind.noise * rng.standard_normal(x.size), 0.01)
    y[int(rng.integers(1, x.size - 1))] *= kind.wrong
    found = fit(normalise(x, np.maximum(y, 1e-9)))
    grid = np.linspace(0, END_US, 201)
    true, band = truth(grid), found.at(grid)
    # Curves never fall below the smallest performance of the families.
    inside = (band.low <= np.maximum(true, 1.1e-3)) & (true <= band.high)
    return float(np.sqrt(np.mean((band.performance - true) ** 2))), float(np.mean(inside))


def error_of(kind: Kind, errors: list[float]) -> float:
    """Return the mean error of a class, in units in which 0.05 is allowed."""
    return float(np.mean(errors)) * ALLOWED / max(ALLOWED, 3 * kind.noise)
