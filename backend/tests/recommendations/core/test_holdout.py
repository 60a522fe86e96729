"""Windows held out, gains judged on them, and confidence by their age, against instances whose truth is known."""

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
from sinemora.recommendations.core.recency import FRESH_S, Recency, newest_changed, unknown_share
from sinemora.recommendations.core.split import BLOCKS_LEAST, GAP_S, split

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


def aged(trips: np.ndarray, age_s: float):
    """Gain of windows of a minute, the last of which is `age_s` old."""
    starts = 60 * np.arange(len(trips))
    recency = Recency.of(starts, np.full(len(trips), 60), np.ones(len(trips), np.bool_), age_s)
    before, after = (performance_series(LINKS, at, trips, PLAIN) for at in (HERE, THERE))
    blocks = np.arange(len(trips)) * 6 // len(trips)
    return estimate_gain([before], [after], 0.0, blocks, recency)


def test_the_older_the_measurements_the_less_is_sure():
    trips = windows(300, 100, 5, 24)
    gains = [aged(trips, age_s) for age_s in (0, FRESH_S, 300, 600, 900)]
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
    assert aged(trips, 0).probability == pytest.approx(aged(trips[:-10], 600).probability, abs=0.02)
    assert "10 minutes old" in aged(trips, 0).doubts[0]


@pytest.mark.parametrize("minutes", [13, 60, 240])
def test_a_target_that_turned_bad_just_now_is_not_recommended(minutes):
    trips = windows(300, 100, 5, minutes)
    assert aged(trips, 0).probability > 0.97
    trips[-2:, 0, 2] = 900e3
    gain = aged(trips, 0)
    assert gain.probability < 0.6
    assert "in the newest 2 minutes" in gain.doubts[0]
    assert gain.gain.low < 0 < gain.gain.high


def test_a_place_that_turned_bad_just_now_is_not_left_at_once():
    trips = windows(100, 110, 5, 60)
    trips[-2:, 0, 1] = 900e3
    assert 0.3 < aged(trips, 0).probability < 0.8


def test_noise_is_rarely_taken_for_a_change():
    rng = np.random.default_rng(5)
    stretches = np.repeat(np.arange(12), 2)
    changed = [newest_changed(rng.standard_normal(24), stretches) is not None for _ in range(1000)]
    assert 0.002 < np.mean(changed) < 0.02


def test_a_gain_that_flips_every_two_minutes_has_not_changed():
    stretches = np.repeat(np.arange(12), 2)
    assert newest_changed(np.where(stretches % 2, 0.5, -0.5), stretches) is None
    assert newest_changed(np.where(stretches == 0, -0.5, 0.5), stretches).sum() == 2


def parts(minutes: float, window_s: int):
    starts = np.arange(0, round(minutes * 60), window_s)
    lengths = np.full(starts.size, window_s)
    return starts, lengths, split(starts, lengths)


@pytest.mark.parametrize(("minutes", "window_s"), [(15, 10), (30, 10), (30, 60), (119, 60), (120, 60), (600, 60)])
def test_held_out_windows_are_minutes_away_from_those_that_train(minutes, window_s):
    starts, lengths, found = parts(minutes, window_s)
    ends = starts + lengths
    assert found.shortage is None
    assert not (found.training & found.holdout).any()
    for start, end in zip(starts[found.holdout], ends[found.holdout], strict=True):
        apart = np.maximum(starts[found.training] - end, start - ends[found.training])
        assert apart.min() >= GAP_S
    assert found.training.sum() * window_s >= 60
    assert np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST
    # The newest time is nearest to the hour that is promised.
    assert found.holdout[-1]


@pytest.mark.parametrize(("minutes", "gap_s"), [(3, 60), (5, 60), (10, 120), (14, 168)])
def test_short_histories_have_shorter_gaps(minutes, gap_s):
    starts, lengths, found = parts(minutes, 10)
    assert found.gap_s == gap_s
    assert starts[found.holdout][0] - (starts + lengths)[found.training][-1] >= gap_s
    assert np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST


def test_other_hours_are_held_out():
    starts, _, found = parts(360, 60)
    hours = starts // 3600
    assert set(hours[found.training]) == {0, 2, 4}
    assert set(hours[found.holdout]) == {1, 3, 5}


def test_blocks_do_not_cross_from_one_hour_to_the_next():
    starts, _, found = parts(240, 60)
    for block in np.unique(found.blocks):
        assert np.ptp(starts[found.blocks == block]) < 3600


@pytest.mark.parametrize(("window_s", "needed"), [(10, 18), (60, 7), (900, 6)])
def test_the_number_of_missing_windows_is_true(window_s, needed):
    """With one window fewer than promised nothing is judged, with the promised ones a move can be."""
    for count in range(1, needed):
        starts = np.arange(count) * window_s
        found = split(starts, np.full(count, window_s))
        assert found.training.all()
        minutes = count * window_s / 60
        assert found.shortage.startswith(f"too few windows to evaluate moves: {count} over {minutes:.1f} minutes, ")
        more = int(found.shortage.split(", ")[1].split()[0])
        assert f"one every {window_s} s" in found.shortage
        assert count + more == needed
    enough = split(np.arange(needed) * window_s, np.full(needed, window_s))
    assert enough.shortage is None
    assert np.unique(enough.blocks[enough.holdout]).size >= BLOCKS_LEAST
    assert enough.training.any()


def test_sampled_windows_of_a_large_mesh_are_blocks_of_their_own():
    starts = (np.arange(6) * 300 + 150).astype(int)
    found = split(starts, np.full(6, 60))
    assert found.holdout.sum() == np.unique(found.blocks[found.holdout]).size >= BLOCKS_LEAST
