"""Gains judged on held-out windows, against instances whose truth is known."""

import numpy as np
import pytest

from sinemora.applications.curves.core.band import FittedBand, transfer_band
from sinemora.applications.curves.core.library import published
from sinemora.applications.performance import Sensitivity, star
from sinemora.recommendations.core.holdout import (
    UNFORESEEN,
    block_errors,
    estimate_gain,
    estimate_mean,
    performance_series,
)

MEMCACHED = published("memcached-server")
CURVE = MEMCACHED.curve
PLAIN = Sensitivity(CURVE, FittedBand("exact", CURVE, CURVE, CURVE), 0.0)
ELSEWHERE = Sensitivity(CURVE, transfer_band("memcached-server", CURVE, MEMCACHED.residuals), 0.0)
LINKS = star(0, 2)
HERE, THERE = np.array([0, 1], np.intp), np.array([0, 2], np.intp)


def windows(here_us: float, there_us: float, noise_us: float, count: int, seed: int = 1) -> np.ndarray:
    """Round trips of machine 0 to 1 and to 2, ns, in `count` windows."""
    rng = np.random.default_rng(seed)
    trips = np.zeros((count, 3, 3))
    trips[:, 0, 1] = (here_us + noise_us * rng.standard_normal(count)) * 1e3
    trips[:, 0, 2] = (there_us + noise_us * rng.standard_normal(count)) * 1e3
    return trips


def judged(trips: np.ndarray, price: float = 0.0, by: Sensitivity = PLAIN, blocks: np.ndarray | None = None):
    before, after = (performance_series(LINKS, at, trips, by) for at in (HERE, THERE))
    return estimate_gain([before], [after], price, blocks)


def test_a_clear_gain_is_certain_and_right():
    gain = judged(windows(300, 100, 10, 40))
    assert gain.gain.mean == pytest.approx(float(CURVE(100)) - float(CURVE(300)), abs=0.01)
    assert gain.gain.low < gain.gain.mean < gain.gain.high
    # Never certain: the model itself may be wrong.
    assert (gain.probability, gain.gain.windows) == (pytest.approx(1 - UNFORESEEN / 2, abs=1e-3), 40)
    assert gain.before.mean == pytest.approx(float(CURVE(300)), abs=0.01)


def test_no_difference_is_as_likely_as_not():
    chances = [judged(windows(200, 200, 40, 20, seed)).probability for seed in range(200)]
    # The forecast of an hour allows for slow changes, which this weather does not have: it is careful.
    assert np.mean(np.array(chances) > 0.9) <= 0.1
    assert np.mean(chances) == pytest.approx(0.5, abs=0.05)


def test_a_gain_below_its_price_is_not_worth_it():
    trips = windows(105, 100, 1, 40)
    assert judged(trips).probability > 0.97
    assert judged(trips, price=0.05).probability == pytest.approx(UNFORESEEN / 2, abs=1e-3)


def test_intervals_hold_the_truth():
    truth = float(CURVE(150)) - float(CURVE(200))
    held = [judged(windows(200, 150, 30, 25, seed)).gain for seed in range(300)]
    assert np.mean([one.low <= truth <= one.high for one in held]) > 0.9


def test_neighbouring_windows_that_agree_count_for_less():
    rng = np.random.default_rng(3)
    # Ten windows of a block share their weather: the means of eight blocks are eight observations, not eighty.
    trips = windows(200, 190, 0, 80)
    trips[:, 0, 1] += np.repeat(rng.standard_normal(8), 10) * 20e3
    blocks = np.repeat(np.arange(8), 10)
    whole, each = judged(trips, blocks=blocks).gain, judged(trips, blocks=np.arange(80)).gain
    independent = judged(windows(200, 190, 20, 80), blocks=blocks).gain
    assert whole.high - whole.low > each.high - each.low
    assert whole.high - whole.low > 2 * (independent.high - independent.low)


def test_errors_of_means_are_those_of_blocks():
    values = np.array([[1.0, 1], [1, np.nan], [3, np.nan], [3, 2], [5, np.nan], [5, np.nan]])
    errors = block_errors(values, np.array([0, 0, 1, 1, 2, 2]))
    # Means 1, 3, 5: deviation 2, three blocks; means 1, 2: deviation 0.707, two blocks.
    assert errors == pytest.approx([2 / np.sqrt(3), 0.5])


@pytest.mark.parametrize(("count", "blocks"), [(1, [0]), (2, [0, 1]), (6, [0, 0, 0, 1, 1, 1])])
def test_two_blocks_of_time_promise_nothing(count, blocks):
    gain = judged(windows(300, 100, 0, count), blocks=np.array(blocks))
    assert (gain.probability, gain.gain.low, gain.gain.high) == (0.5, -1, 1)
    assert gain.blocks == len(set(blocks))


def test_windows_with_unknown_links_do_not_count():
    trips = windows(300, 100, 5, 10)
    trips[:4, 0, 2] = np.nan
    assert judged(trips).gain.windows == 6
    trips[:, 0, 1] = np.nan
    assert judged(trips) is None


def test_a_published_curve_gives_a_gain_with_width():
    trips = windows(300, 100, 0, 40)
    gain = judged(trips, by=ELSEWHERE)
    # Other hardware, as sensitive at half or at twice the latency, would gain otherwise under the same round trips.
    others = [float(CURVE(100 * factor) - CURVE(300 * factor)) for factor in (0.5, 2)]
    assert gain.gain.low < min(others) + 0.02
    assert gain.gain.high > max(others) - 0.02
    assert gain.gain.high - gain.gain.low > 0.05
    assert judged(trips).gain.high - judged(trips).gain.low < 0.01
    before = estimate_mean(performance_series(LINKS, HERE, trips, ELSEWHERE))
    assert before.low < CURVE(500)
    assert before.high > CURVE(200)


def test_before_and_after_share_one_curve():
    # Whatever the curve, the same place gains nothing.
    trips = windows(300, 300, 0, 40)
    gain = judged(trips, by=ELSEWHERE).gain
    assert (gain.low, gain.high) == pytest.approx((0, 0), abs=1e-3)


def test_applications_of_one_curve_err_together():
    trips = windows(300, 100, 0, 40)
    other = Sensitivity(CURVE, transfer_band("another", CURVE, MEMCACHED.residuals), 0.0)
    widths = []
    for second in (ELSEWHERE, other):
        sides = [[performance_series(LINKS, at, trips, by) for by in (ELSEWHERE, second)] for at in (HERE, THERE)]
        gain = estimate_gain(*sides, 0.0).gain
        widths.append(gain.high - gain.low)
    assert widths[1] < 0.9 * widths[0]
