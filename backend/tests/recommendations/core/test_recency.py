"""Confidence that falls with the age of measurements and with a change in the newest minutes."""

import numpy as np
import pytest

from sinemora.recommendations.core.holdout import UNFORESEEN, estimate_gain, performance_series
from sinemora.recommendations.core.recency import FRESH_S, Recency, newest_changed, unknown_share
from tests.recommendations.core.test_holdout import HERE, LINKS, PLAIN, THERE, windows


def judged(trips: np.ndarray, age_s: float):
    """Gain of windows of a minute, the last of which is `age_s` old."""
    starts = 60 * np.arange(len(trips))
    recency = Recency.of(starts, np.full(len(trips), 60), np.ones(len(trips), np.bool_), age_s)
    before, after = (performance_series(LINKS, at, trips, PLAIN) for at in (HERE, THERE))
    blocks = np.arange(len(trips)) * 6 // len(trips)
    return estimate_gain([before], [after], 0.0, blocks, recency)


def test_the_older_the_measurements_the_less_is_sure():
    trips = windows(300, 100, 5, 24)
    gains = [judged(trips, age_s) for age_s in (0, FRESH_S, 300, 600, 900)]
    chances = [gain.probability for gain in gains]
    assert chances[0] == chances[1] == pytest.approx(1 - UNFORESEEN / 2, abs=1e-3)
    assert (np.diff(chances[1:]) < -0.02).all()
    assert chances[3] == pytest.approx(1 - UNFORESEEN / 2 - unknown_share(600) / 2, abs=0.01)
    assert [bool(gain.doubts) for gain in gains] == [False, False, True, True, True]
    widths = [gain.gain.high - gain.gain.low for gain in gains]
    assert widths[0] == widths[1] < widths[2] < widths[4]
    assert all(gain.gain.mean == gains[0].gain.mean for gain in gains)


def test_the_age_is_that_of_the_paths_of_the_move():
    trips = windows(300, 100, 5, 24)
    trips[-10:, 0, 2] = np.nan  # the target has not been measured for ten minutes, the mesh has
    assert judged(trips, 0).probability == pytest.approx(judged(trips[:-10], 600).probability, abs=0.02)
    assert "10 minutes old" in judged(trips, 0).doubts[0]


@pytest.mark.parametrize("minutes", [13, 60, 240])
def test_a_target_that_turned_bad_just_now_is_not_recommended(minutes):
    trips = windows(300, 100, 5, minutes)
    assert judged(trips, 0).probability > 0.97
    trips[-2:, 0, 2] = 900e3
    gain = judged(trips, 0)
    assert gain.probability < 0.6
    assert "in the newest 2 minutes" in gain.doubts[0]
    assert gain.gain.low < 0 < gain.gain.high


def test_a_place_that_turned_bad_just_now_is_not_left_at_once():
    trips = windows(100, 110, 5, 60)
    trips[-2:, 0, 1] = 900e3
    assert 0.3 < judged(trips, 0).probability < 0.8


def test_noise_is_rarely_taken_for_a_change():
    rng = np.random.default_rng(5)
    stretches = np.repeat(np.arange(12), 2)
    changed = [newest_changed(rng.standard_normal(24), stretches) is not None for _ in range(1000)]
    assert 0.002 < np.mean(changed) < 0.02


def test_a_gain_that_flips_every_two_minutes_has_not_changed():
    stretches = np.repeat(np.arange(12), 2)
    assert newest_changed(np.where(stretches % 2, 0.5, -0.5), stretches) is None
    assert newest_changed(np.where(stretches == 0, -0.5, 0.5), stretches).sum() == 2
