"""Curves of classes that no published function has: steep falls, plateaus, cliffs, steps, one wrong row, heavy noise.

The error of a class is the mean RMSE of its curves over the sweep, divided by 20 times the allowed error if that is
more than 0.05: three times the noise is allowed. Its coverage is the share of the true curves within half a point of
the bands, that of gains the share of the true differences of two latencies within a point of their interval.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinemora.applications.curves.core.band import FittedBand
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.observations import normalise

END_US = 1000.0
ALLOWED = 0.05
_BAND, _GAIN, _PAIRS = 0.005, 0.01, 200

Truth = Callable[[Floats], Floats]
SHAPES: dict[str, Truth] = {
    "logistic": lambda x: (1 + np.exp(-500 / 60)) / (1 + np.exp((x - 500) / 60)),
    "late collapse": lambda x: np.exp(-np.maximum(x - 900, 0) / 60),
    "power law": lambda x: (1 + x / 20) ** -0.5,
    "square root": lambda x: 1 - 0.8 * np.sqrt(x / 1000),
    "two populations": lambda x: 0.5 * np.exp(-x / 40) + 0.5 * np.exp(-x / 2000),
    "staircase": lambda x: np.select([x < 150, x < 450, x < 800], [1, 0.8, 0.5], 0.2),
}
"""Shapes that no formula has; with memcached and the plateau eight, at 5 % noise."""


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
    *(Kind(f"shape, {truth}", truth, noise=0.05) for truth in ("memcached-server", "plateau", *SHAPES)),
    *(Kind(f"heavy noise, {truth}", truth, noise=0.15) for truth in ("memcached-server", "dns", "plateau")),
)


def truth_of(name: str) -> Truth:
    """Return a curve: performance at added latencies (µs)."""
    if name in SHAPES:
        return SHAPES[name]
    if name.startswith("exponential"):
        tau = float(name.split()[1])
        return lambda x: np.maximum(np.exp(-x / tau), 1e-6)
    if name == "plateau":
        return lambda x: np.interp(x, [0, 200, 300, 700, 1000], [1, 1, 0.6, 0.6, 0.35])
    if name == "cliff":
        return lambda x: np.interp(x, [0, 280, 320, 1000], [1, 1, 0.3, 0.3])
    return published(name).curve


def measured(kind_and_seed: tuple[Kind, int]) -> tuple[float, float, float]:
    """Return the RMSE of a sweep of a class, and the shares of the true curve in the band and of gains in theirs."""
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
    inside = (band.low - _BAND <= np.maximum(true, 1.1e-3)) & (true <= band.high + _BAND)
    ends = rng.uniform(0, END_US, (_PAIRS, 2))
    draws = FittedBand(f"{kind.name} {seed}", found.curve, found.low, found.high).draws(ends)
    low, high = np.quantile(draws[..., 1] - draws[..., 0], (0.025, 0.975), axis=0)
    gain = truth(ends[:, 1]) - truth(ends[:, 0])
    gained = (low - _GAIN <= gain) & (gain <= high + _GAIN)
    rmse = float(np.sqrt(np.mean((band.performance - true) ** 2)))
    return rmse, float(np.mean(inside)), float(np.mean(gained))


def error_of(kind: Kind, errors: list[float]) -> float:
    """Return the mean error of a class, in units in which 0.05 is allowed."""
    return float(np.mean(errors)) * ALLOWED / max(ALLOWED, 3 * kind.noise)
