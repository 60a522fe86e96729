"""Effect of variance in a profile, compared with the model of `sinemora.applications.curves.core.variable`.

Performance with variance is relative to runs with the same median and no variance (UCAM-CL-TR-914, section 5.3).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sinemora.applications.curves.core.variable import WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS, under_variance
from sinemora.labs.profiler.profile import Profile
from sinemora.labs.profiler.sweep import Condition

_WAITS = np.geomspace(1, 64, 97)


@dataclass(frozen=True, slots=True)
class Factor:
    """Performance at a condition relative to that without variance, with its 95 % interval (None: a single run).

    `rounds` and `requests` are the model's values with `WAITS_SYNCHRONOUS` and `WAITS_CLOSED_LOOP`.
    """

    condition: Condition
    runs: int
    value: float
    low: float | None
    high: float | None
    rounds: float
    requests: float


def factors(profile: Profile) -> list[Factor]:
    """Return the effect of every condition with variance."""
    return [_factor(profile, condition) for condition in profile.means if condition.magnitude_us]


def waits(profile: Profile) -> float | None:
    """Return the `waits` of the model (1 … 64) nearest to all measured factors; None without variance."""
    measured = factors(profile)
    if not measured:
        return None
    errors = [np.array(_modelled(profile, one.condition, _WAITS)) - one.value for one in measured]
    return float(_WAITS[int(np.argmin(np.square(errors).sum(axis=0)))])


def _factor(profile: Profile, condition: Condition) -> Factor:
    with_variance, without = profile.means[condition], profile.means[Condition(condition.added_us)]
    value = with_variance.value / without.value
    value = value if profile.recipe.metric == "rate" else 1 / value
    halves = (with_variance.half_width, without.half_width)
    spread = None if halves[0] is None or halves[1] is None else value * float(np.hypot(halves[0], halves[1]))
    rounds, requests = _modelled(profile, condition, (WAITS_SYNCHRONOUS, WAITS_CLOSED_LOOP))
    return Factor(
        condition,
        with_variance.count,
        value,
        None if spread is None else value - spread,
        None if spread is None else value + spread,
        rounds,
        requests,
    )


def _modelled(profile: Profile, condition: Condition, tried: Iterable[float]) -> list[float]:
    """Return the factor of the model for each number of waits."""
    assert profile.variation is not None
    round_trips_us = profile.variation.round_trips_us(*condition)
    return [under_variance(profile.fit.curve, condition.added_us, round_trips_us, waits).factor for waits in tried]
