"""Gains judged on held-out windows, against instances whose truth is known."""

import numpy as np
import pytest

from sinemora.applications.performance import Sensitivity, star
from sinemora.curves.core.library import published
from sinemora.recommendations.core.holdout import estimate_gain, performance_series

CURVE = published("memcached-server").curve
PLAIN = Sensitivity(CURVE, None, 0.0)
LINKS = star(0, 2)
HERE, THERE = np.array([0, 1], np.intp), np.array([0, 2], np.intp)


def windows(here_us: float, there_us: float, noise_us: float, count: int, seed: int = 1) -> np.ndarray:
    """Round trips of machine 0 to 1 and to 2, ns, in `count` windows."""
    rng = np.random.default_rng(seed)
    trips = np.zeros((count, 3, 3))
    trips[:, 0, 1] = (here_us + noise_us * rng.standard_normal(count)) * 1e3
    trips[:, 0, 2] = (there_us + noise_us * rng.standard_normal(count)) * 1e3
    return trips


def judged(trips: np.ndarray, price: float = 0.0):
    before, after = (performance_series(LINKS, at, trips, PLAIN) for at in (HERE, THERE))
    return estimate_gain([before], [after], price)


def test_a_clear_gain_is_certain_and_right():
    gain = judged(windows(300, 100, 10, 40))
    assert gain.gain.mean == pytest.approx(float(CURVE(100)) - float(CURVE(300)), abs=0.01)
    assert gain.gain.low < gain.gain.mean < gain.gain.high
    assert (gain.probability > 0.999, gain.gain.windows) == (True, 40)
    assert gain.before.mean == pytest.approx(float(CURVE(300)), abs=0.01)


def test_no_difference_is_as_likely_as_not():
    chances = [judged(windows(200, 200, 40, 20, seed)).probability for seed in range(200)]
    # Right of its own uncertainty: the chance is uniform, so nine in ten are said of one in ten.
    assert np.mean(np.array(chances) > 0.9) == pytest.approx(0.1, abs=0.06)


def test_a_gain_below_its_price_is_not_worth_it():
    trips = windows(105, 100, 1, 40)
    assert judged(trips).probability > 0.99
    assert judged(trips, price=0.05).probability < 0.01


def test_intervals_hold_the_truth():
    truth = float(CURVE(150)) - float(CURVE(200))
    held = [judged(windows(200, 150, 30, 25, seed)).gain for seed in range(300)]
    assert np.mean([one.low <= truth <= one.high for one in held]) > 0.9


def test_neighbouring_windows_that_agree_count_for_less():
    rng = np.random.default_rng(3)
    slow = np.repeat(rng.standard_normal(8), 10) * 20
    trips = windows(200, 190, 0, 80)
    trips[:, 0, 1] += slow * 1e3
    independent = windows(200, 190, 20, 80)
    assert (
        judged(trips).gain.high - judged(trips).gain.low > judged(independent).gain.high - judged(independent).gain.low
    )


def test_one_window_promises_nothing():
    gain = judged(windows(300, 100, 0, 1))
    assert (gain.probability, gain.gain.low, gain.gain.high) == (0.5, -1, 1)


def test_windows_with_unknown_links_do_not_count():
    trips = windows(300, 100, 5, 10)
    trips[:4, 0, 2] = np.nan
    assert judged(trips).gain.windows == 6
    trips[:, 0, 1] = np.nan
    assert judged(trips) is None


def test_an_uncertain_curve_widens_the_interval():
    low, high = (Sensitivity(CURVE, (published("strads-lasso").curve, CURVE), 0.0), PLAIN)
    trips = windows(300, 100, 5, 40)
    wide, narrow = (
        estimate_gain(
            [performance_series(LINKS, HERE, trips, one)], [performance_series(LINKS, THERE, trips, one)], 0.0
        ).gain
        for one in (low, high)
    )
    assert wide.high - wide.low > narrow.high - narrow.low
