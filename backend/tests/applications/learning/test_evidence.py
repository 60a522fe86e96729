"""Identifiability from natural variation, on applications with known truth."""

import numpy as np
import pytest

from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.library import published
from sinemora.applications.learning.evidence import Pairs, judge, pair, samples_of
from tests.seeds import seeds

CURVE = published("strads-lasso").curve
MINUTES = np.arange(3 * 1440)
DAY = 2 * np.pi * MINUTES / 1440


def wandering(rng: np.random.Generator, low: float = 100, high: float = 500) -> np.ndarray:
    """Return a round trip that varies within minutes and hours, independent of the time of day."""
    steps = rng.standard_normal(MINUTES.size)
    level = np.zeros(MINUTES.size)
    for at in range(1, MINUTES.size):
        level[at] = 0.98 * level[at - 1] + steps[at]
    rank = level.argsort().argsort() / MINUTES.size
    return low + (high - low) * rank


def pairs(latency_us: np.ndarray, value: np.ndarray, count: int | None = None) -> Pairs:
    part = slice(None, count)
    return Pairs(MINUTES[part], latency_us[part], value[part])


@pytest.mark.parametrize("metric", ["rate", "duration"])
def test_a_curve_is_learnt_from_natural_variation(metric):
    rng = np.random.default_rng(1)
    x = wandering(rng)
    performance = CURVE(x) * np.exp(0.05 * rng.standard_normal(x.size))
    result = pairs(x, 1000 * performance if metric == "rate" else 50 / performance)
    assert judge(result, metric) is None
    samples = samples_of(result, metric)
    assert samples.latency_offset_us == pytest.approx(105, abs=6)
    fitted = fit(samples)
    at = np.linspace(0, 380, 50)
    truth = CURVE(at + samples.latency_offset_us) / CURVE(samples.latency_offset_us)
    assert np.abs(fitted.curve(at) - truth).max() < 0.03
    band = fitted.at(at)
    assert ((band.low <= truth) & (truth <= band.high)).mean() > 0.9


def demand(rng):
    """Both rise in the day: the rate follows demand."""
    load = 1 + 0.5 * np.sin(DAY)
    return 100 + 50 * load + rng.normal(0, 2, MINUTES.size), 1000 * load * np.exp(rng.normal(0, 0.05, MINUTES.size))


def time_of_day(rng):
    """Latency and the application are both slower by day, but neither because of the other."""
    load = 1 + 0.5 * np.sin(DAY)
    wiggle = rng.normal(0, 15, MINUTES.size)
    return 100 + 50 * load + wiggle, 1000 / load * np.exp(rng.normal(0, 0.05, MINUTES.size))


def steady(rng):
    return rng.normal(200, 1, MINUTES.size), rng.normal(1000, 20, MINUTES.size)


def unrelated(rng):
    return wandering(rng), rng.normal(1000, 20, MINUTES.size)


def one_step(rng):
    """Return data in which the route changed once, together with other factors."""
    later = MINUTES.size // 2 < MINUTES
    return np.where(later, 300, 200) + rng.normal(0, 0.5, MINUTES.size), np.where(later, 800, 1000) * np.exp(
        rng.normal(0, 0.1, MINUTES.size)
    )


@pytest.mark.parametrize(
    ("world", "code", "message"),
    [
        (demand, "confounded", "demand"),
        (time_of_day, "confounded", "within hours"),
        (steady, "varied_too_little", "stayed between"),
        (unrelated, "no_effect", "would be detected"),
        (one_step, "few_changes", "changes of latency: 1"),
    ],
)
@pytest.mark.parametrize("seed", seeds(range(5)))
def test_insufficient_data_has_a_reason(world, code, message, seed):
    reason = judge(pairs(*world(np.random.default_rng(seed))), "rate")
    assert reason is not None
    assert (reason.code, message in reason.message) == (code, True), reason


@pytest.mark.parametrize(("count", "code"), [(0, "too_few"), (119, "too_few"), (120, "too_few"), (150, "few_changes")])
def test_few_minutes_or_hours_are_too_few(count, code):
    rng = np.random.default_rng(1)
    x = wandering(rng)
    reason = judge(pairs(x, 1000 * CURVE(x), count), "rate")
    assert reason is not None
    assert reason.code == code


def test_only_minutes_with_both_are_paired():
    minutes = np.array([3, 3, 4, 6, 7])
    value = np.array([10.0, 20.0, 5.0, np.nan, -1.0])
    result = pair(minutes, value, np.array([2, 3, 4, 6, 7]), np.array([1.0, 2.0, np.nan, 4.0, 5.0]))
    assert (result.minutes.tolist(), result.latency_us.tolist(), result.value.tolist()) == ([3], [2.0], [15.0])
