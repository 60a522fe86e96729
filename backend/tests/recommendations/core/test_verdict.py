"""Verdicts on applied moves, against worlds whose truth is known."""

import numpy as np
import pytest

from lab.benchmarks import verdicts
from sinemora.recommendations.core.verdict import (
    Interval,
    MetricHistory,
    Missing,
    MoveVerdict,
    by_delays,
    by_metric,
    decide,
    mean_of,
)

HOUR = 3600
MOVED_AT = 48 * HOUR
SINCE = MOVED_AT + 120
PROMISED = Interval(0.3, 0.2, 0.4)


@pytest.mark.parametrize(
    ("observed", "verdict", "words"),
    [
        (Interval(0.25, 0.1, 0.4), MoveVerdict.HELD, "agrees"),
        (Interval(0.1, 0.05, 0.15), MoveVerdict.NOT_HELD, "smaller"),
        (Interval(0.6, 0.5, 0.7), MoveVerdict.NOT_HELD, "larger"),
        (Interval(0.0, -0.1, 0.1), MoveVerdict.NOT_HELD, "No gain"),
        (Interval(-0.2, -0.3, -0.1), MoveVerdict.NOT_HELD, "fell"),
        (Interval(0.2, -0.1, 0.5), MoveVerdict.CANNOT_TELL, "too wide"),
    ],
)
def test_held_needs_a_gain_and_the_promise(observed, verdict, words):
    decision = decide(observed, PROMISED)
    assert (decision.verdict, words in decision.reason) == (verdict, True)


def test_a_vague_promise_is_not_kept_by_nothing():
    # It used to hold: the intervals touch.
    vague = Interval(0.3, -0.5, 1.0)
    assert decide(Interval(0.0, -0.01, 0.01), vague).verdict is MoveVerdict.NOT_HELD
    assert decide(Interval(0.1, -0.4, 0.6), vague).verdict is MoveVerdict.CANNOT_TELL


def test_delays_compare_both_placements_in_the_same_windows():
    rng = np.random.default_rng(1)
    at_s = np.arange(0, MOVED_AT + 2 * HOUR, 60)
    weather = 0.05 * rng.standard_normal(at_s.size)
    good, bad = 0.9 + weather, 0.6 + weather
    gain = by_delays(at_s, good, bad, MOVED_AT, SINCE)
    assert isinstance(gain, Interval)
    assert gain.mean == pytest.approx(0.3)
    assert gain.low < gain.mean < gain.high
    # The old placement was bad until the move, and is as good as the new one since.
    noise = 0.01 * rng.standard_normal(at_s.size)
    returned = by_delays(at_s, good, np.where(at_s < SINCE, bad, good + noise), MOVED_AT, SINCE)
    assert isinstance(returned, Interval)
    assert decide(returned, PROMISED).verdict is MoveVerdict.NOT_HELD
    # The curve's error widens the interval.
    wide = by_delays(at_s, good, bad, MOVED_AT, SINCE, curve_error=0.2)
    assert isinstance(wide, Interval)
    assert wide.high - wide.low > 0.8


def test_windows_before_the_moves_show_how_much_hours_differ_and_nothing_else():
    rng = np.random.default_rng(2)
    at_s = np.arange(0, MOVED_AT, 60)
    good, bad = (level + 0.01 * rng.standard_normal(at_s.size) for level in (0.9, 0.6))
    answer = by_delays(at_s, good, bad, MOVED_AT, SINCE)
    assert isinstance(answer, Missing)
    assert not answer.final
    later = np.arange(SINCE, SINCE + HOUR, 60)
    ends = [0.7 + 0.01 * rng.standard_normal(later.size) for _ in range(2)]
    # Weather that remembers hours shifts whole hours against one another.
    shifts = 0.05 * rng.standard_normal(at_s.size // 60).repeat(60)
    calm, wild = (
        by_delays(
            np.concatenate([at_s, later]),
            np.concatenate([good + shift, ends[0]]),
            np.concatenate([bad, ends[1]]),
            MOVED_AT,
            SINCE,
        )
        for shift in (0.0, shifts)
    )
    alone = by_delays(later, ends[0], ends[1], MOVED_AT, SINCE)
    assert isinstance(calm, Interval)
    assert isinstance(wild, Interval)
    assert isinstance(alone, Interval)
    assert calm.mean == wild.mean == alone.mean
    assert wild.high - wild.mean > 0.08 > alone.high - alone.mean > calm.high - calm.mean


def test_a_daily_course_that_others_do_not_share_is_no_gain():
    verdicts_of = {gain: [verdicts.daily(np.random.default_rng(n), gain) for n in range(8)] for gain in (0.0, 0.05)}
    assert MoveVerdict.HELD not in verdicts_of[0.0]
    assert verdicts_of[0.05].count(MoveVerdict.HELD) >= 5


def test_paths_that_are_not_measured_are_named():
    at_s = np.arange(SINCE, SINCE + HOUR, 60)
    some, none = np.full(at_s.size, 0.8), np.full(at_s.size, np.nan)
    for moved, stayed, words in ((none, some, "new placement"), (some, none, "tasks left")):
        answer = by_delays(at_s, moved, stayed, MOVED_AT, SINCE)
        assert isinstance(answer, Missing)
        assert words in answer.reason
    few = by_delays(at_s[:10], some[:10], some[:10], MOVED_AT, SINCE)
    assert isinstance(few, Missing)
    assert "Too few windows" in few.reason


def history(
    *, gain: float = 0.0, shared: float = 0.0, old_us: tuple[float, float] = (300.0, 300.0), controls: int = 1, hours=48
) -> MetricHistory:
    """Metric that rises by `gain`, and by `shared` with its controls, at the move; the old paths before and after."""
    rng = np.random.default_rng(3)
    at_s = np.arange(MOVED_AT - hours * HOUR, MOVED_AT + 2 * HOUR, 60)
    after = at_s >= MOVED_AT
    demand = 0.2 * np.sin(at_s / 5000) + shared * after
    rows = [demand + 0.02 * rng.standard_normal(at_s.size) + level for level in range(1 + controls)]
    path = np.where(after, old_us[1], old_us[0]) * (1 + 0.01 * rng.standard_normal(at_s.size))
    return MetricHistory(
        at_s, rows[0][None] + gain * after, np.array(rows[1:]).reshape(controls, at_s.size), at_s, path
    )


def test_a_gain_of_the_metric_is_relative_and_less_that_of_the_controls():
    gain = by_metric(history(gain=np.log(1.5), shared=0.4), MOVED_AT, SINCE, 0.6)
    assert isinstance(gain, Interval)
    assert gain.mean == pytest.approx(0.3, abs=0.02)
    assert gain.low < gain.mean < gain.high
    assert decide(gain, PROMISED).verdict is MoveVerdict.HELD


@pytest.mark.parametrize("shared", [0.0, 0.4])
def test_a_metric_that_rose_as_its_controls_did_refutes_the_promise(shared: float):
    gain = by_metric(history(shared=shared), MOVED_AT, SINCE, 0.6)
    assert isinstance(gain, Interval)
    assert decide(gain, PROMISED).verdict is MoveVerdict.NOT_HELD


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (history(gain=0.4, controls=0), "No control group"),
        (history(gain=0.4, old_us=(300.0, 80.0)), "changed too: their round trip is 80 µs now, as in 0 of 48 hours"),
        (history(gain=0.4, old_us=(300.0, np.nan)), "no longer measured"),
        (history(gain=0.4, hours=4), "Too little history: 4 hours"),
    ],
)
def test_what_is_missing_for_a_metric_is_named(seen: MetricHistory, words):
    answer = by_metric(seen, MOVED_AT, SINCE, 0.6)
    assert isinstance(answer, Missing)
    assert words in answer.reason


def test_only_hours_with_the_present_paths_are_compared():
    # The paths were bad for the last six hours, and the metric with them; they returned as the tasks moved.
    seen = history()
    spell = (seen.at_s >= MOVED_AT - 6 * HOUR) & (seen.at_s < MOVED_AT)
    bad = MetricHistory(
        seen.at_s,
        seen.moved - np.where(spell, np.log(1.5), 0),
        seen.control,
        seen.at_s,
        np.where(spell, 4 * seen.old_path_us, seen.old_path_us),
    )
    gain = by_metric(bad, MOVED_AT, SINCE, 0.6)
    assert isinstance(gain, Interval)
    assert gain.mean == pytest.approx(0, abs=0.02)
    assert decide(gain, PROMISED).verdict is MoveVerdict.NOT_HELD


def test_gains_of_several_applications_are_averaged():
    assert mean_of([Interval(0.1, 0.0, 0.2), Interval(0.3, 0.2, 0.4)]) == Interval(0.2, 0.1, pytest.approx(0.3))


def test_worlds_where_nothing_improved_seldom_hold():
    rng = np.random.default_rng(5)
    of = {world: [verdicts.judged(verdicts.course(world, rng), "delays") for _ in range(5)] for world in verdicts.World}
    assert MoveVerdict.HELD not in of[verdicts.World.REGRESSION] + of[verdicts.World.DRIFT]
    assert MoveVerdict.HELD in of[verdicts.World.GAIN]
