from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sinemora.alerts.evaluation import state_codec
from sinemora.alerts.evaluation.baseline import LEARNT, LEARNT_LONG, LONG, SHORT, Baseline
from sinemora.alerts.evaluation.breach import BreachHistory, Season, breaches_of, limit
from sinemora.alerts.evaluation.change_point import change_point
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.recurring import Recurring
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule, Timescale, defaults
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from tests.alerts.evaluation.windows import series, window_of


def test_a_baseline_follows_its_path_but_not_events():
    rng = np.random.default_rng(5)
    baseline = Baseline.new((50,))
    for _ in range(1000):
        values = 200_000 + rng.standard_normal(50) * 8_000
        values[rng.random(50) < 0.02] += 2_000_000  # spikes
        baseline.learn(values.astype(np.float32))
    assert np.abs(baseline.level[SHORT] - 200_000).max() < 6_000
    assert np.all((baseline.spread[SHORT] > 5_000) & (baseline.spread[SHORT] < 14_000))
    for _ in range(60):  # an event of ten minutes
        baseline.learn(np.full(50, 400_000, np.float32))
    assert np.abs(baseline.level[SHORT] - 200_000).max() < 12_000
    assert np.all(baseline.deviations(np.full(50, 400_000, np.float32), SHORT) > 6)


def test_a_young_baseline_shows_only_gross_rises():
    baseline, rng = Baseline.new((40,)), np.random.default_rng(4)
    for count in range(LEARNT):
        rise = baseline.deviations(np.full(40, 8e5, np.float32), SHORT)
        assert np.isnan(rise).all() if count < 30 else (rise > 6).all(), count
        assert count < 30 or (baseline.deviations(np.full(40, 2.2e5, np.float32), SHORT) < 2).all(), count
        baseline.learn((2e5 + 5e3 * rng.standard_normal(40)).astype(np.float32))
    assert np.isnan(baseline.deviations(np.ones(40, np.float32), LONG)).all()


@pytest.mark.parametrize(
    ("bad", "fires"),
    [
        (lambda at: at % 60 == 0, True),  # one window in ten minutes, for three hours
        (lambda at: at % 12 < 2, True),
        (lambda at: at % 360 == 0, False),  # one in an hour
        (lambda at: 300 <= at < 420, False),  # an event of twenty minutes is one breach
        (lambda _: False, False),
    ],
)
def test_a_path_that_is_bad_again_and_again_is_found(bad: Callable[[int], bool], fires: bool):
    recurring, known = Recurring.new((6, 6)), ~np.eye(6, dtype=bool)
    where, seen = np.zeros((6, 6), bool), np.zeros((6, 6), bool)
    where[1, 2] = True
    for at in range(1080):
        often, _ = recurring.step(where & bad(at), known & (at % 7 != 3), 3600, 10)
        seen |= often
    assert np.array_equal(seen, where & fires)
    for _ in range(360):
        often, _ = recurring.step(~known, known, 3600, 10)
    assert not often.any()


def test_breaches_that_recur_on_all_paths_are_usual_for_the_mesh():
    rng, recurring, known = np.random.default_rng(6), Recurring.new((8, 8)), ~np.eye(8, dtype=bool)
    signals = np.zeros((8, 8), bool)
    for at in range(2880):
        bad = rng.random((8, 8)) < 1 / 40
        bad[1, 2] |= at % 6 == 0
        signals, _ = recurring.step(bad & known, known, 3600, 10)
    assert signals[1, 2]
    assert signals.sum() <= 2


def window(at: int, delay_ns: np.ndarray, keys: tuple[int, ...] = (1, 2, 3, 4)) -> EvaluationWindow:
    size = len(keys)
    values = delay_ns.astype(np.float32)
    np.fill_diagonal(values, np.nan)
    return window_of(at, np.arange(size) // 2, series(values), keys=np.array(keys))


OVER = Rule("over", "Over", Condition(Kind.THRESHOLD, Metric.ONE_WAY_DELAY, Statistic.P50, above=1000.0), x=2, y=3)


def slow(row: int | None = None, size: int = 4) -> np.ndarray:
    delays = np.full((size, size), 500.0)
    if row is not None:
        delays[row] = 2000.0
    return delays


def test_state_survives_a_restart_and_a_new_member():
    state = EvaluationState(np.zeros(0, np.int64))
    step(state, [OVER, Rule("usual", "Usual", Condition(Kind.BASELINE))], window(1, slow(2)))
    again = state_codec.decode(state_codec.encode(state, baselines=False), state_codec.encode(state, baselines=True))
    learnt = (Metric.ONE_WAY_DELAY, Statistic.P50)
    assert np.array_equal(again.baselines[learnt].level, state.baselines[learnt].level, equal_nan=True)
    with pytest.raises(state_codec.StateError):
        state_codec.decode(b"SNA1 and nothing more", None)
    evaluation = step(again, [OVER], window(2, slow(3, 5), (9, 1, 2, 3, 4)))  # the slow VM moved one position
    assert [(one.cause.culprit.suspect, one.cause.culprit.at) for one in evaluation.detections] == [("egress", 3)]


def test_breaches_seen_by_too_few_vms_are_no_detection():
    few = Rule("few", "Few", OVER.condition, x=1, y=1, sources_min=2)
    delays = slow()
    delays[0, 1] = delays[1, 0] = 5000.0
    unread = replace(window(1, delays), hosts=lambda: pytest.fail("hosts were read for nobody"))
    evaluation = step(EvaluationState(np.zeros(0, np.int64)), [few], unread)
    assert (evaluation.detections, evaluation.firing, evaluation.alone) == ([], 2, 2)


def test_a_silent_agent_explains_firing_rules_on_its_paths():
    silent = Rule("silent", "Silent", Condition(Kind.SILENT), x=1, y=1)
    now = window(1, slow(0))
    now.silent[0] = True
    evaluation = step(
        EvaluationState(np.zeros(0, np.int64)), [Rule("now", "Now", OVER.condition, x=1, y=1), silent], now
    )
    assert [(one.cause.culprit.suspect, one.cause.culprit.at) for one in evaluation.detections] == [("agent", 0)]


@pytest.mark.parametrize(("low", "high", "at"), [(100, 200, 20), (100, 40, 33)])
def test_onset_is_where_the_series_changes(low: int, high: int, at: int):
    rng = np.random.default_rng(2)
    series = np.where(np.arange(60) < at, low, high) + rng.standard_normal(60) * 5
    series[5] = 1000.0
    series[[7, 40]] = np.nan
    change = change_point(series)
    assert abs(change[0] - at) <= 1
    assert change[1] == pytest.approx(high - low, abs=5)
    assert change_point(rng.standard_normal(60)) is None


def learnt(value: float, windows: int) -> Baseline:
    baseline, rng = Baseline.new((2, 2)), np.random.default_rng(2)
    for _ in range(windows):
        baseline.learn((value + 3000 * rng.standard_normal((2, 2))).astype(np.float32))
    return baseline


@pytest.mark.parametrize(
    ("timescale", "weekly_ns", "seen_ns", "breach"),
    [
        (Timescale.SHORT, None, 400_000, True),
        (Timescale.SHORT, 400_000, 400_000, False),  # usual at this hour
        (Timescale.SHORT, 200_000, 400_000, True),  # not usual at this hour
        (Timescale.LONG, None, 400_000, True),
        (Timescale.LONG, 400_000, 400_000, False),
        (Timescale.WEEKLY, None, 400_000, False),
        (Timescale.WEEKLY, 200_000, 400_000, True),
        (Timescale.WEEKLY, 400_000, 400_000, False),
        (Timescale.WEEKLY, 130_000, 200_000, True),  # the weekly dip is missing
    ],
)
def test_a_weekly_event_is_no_breach(timescale: Timescale, weekly_ns: float | None, seen_ns: float, breach: bool):
    condition = Condition(Kind.BASELINE, deviations=5.0, rise_ns=20_000, timescale=timescale)
    seen = np.full((2, 2), seen_ns, np.float32)
    season = None if weekly_ns is None else Season(*np.full((2, 2, 2), weekly_ns, np.float32))
    breaches = breaches_of(condition, lambda *_: seen, BreachHistory(learnt(200_000, LEARNT_LONG + 10), season))
    assert breaches.breach.all() == breaches.breach.any() == breach
    assert breaches.known.all() == (timescale is not Timescale.WEEKLY or season is not None)


@pytest.mark.parametrize("timescale", list(Timescale))
@pytest.mark.parametrize("weekly_ns", [None, 150_000.0, 330_000.0])
def test_the_limit_is_where_breaches_begin(timescale: Timescale, weekly_ns: float | None):
    condition = Condition(Kind.BASELINE, deviations=5.0, rise_ns=20_000, timescale=timescale)
    season = None if weekly_ns is None else Season(*np.full((2, 2, 2), weekly_ns, np.float32))
    baseline = learnt(200_000, LEARNT_LONG + 10)
    none = np.zeros((2, 2), np.float32)
    above = limit(condition, lambda *_: none, BreachHistory(baseline, season))
    if timescale is Timescale.WEEKLY and season is None:
        assert np.isnan(above).all()
        return
    for share, breach in ((0.999, False), (1.001, True)):
        breaches = breaches_of(
            condition, lambda *_, share=share: above * np.float32(share), BreachHistory(baseline, season)
        )
        assert breaches.breach.all() == breaches.breach.any() == breach


SPIKES = [rule for rule in defaults() if rule.condition.kind is Kind.SPIKE]
FAR = 70_000_000.0
"""One-way delay of a path to another continent, ns."""


def spiky(state: EvaluationState, number: int, rise_ns: np.ndarray, base_ns: float = 2e5) -> list[str]:
    """Evaluate a window with these rises above the median; return the names of the rules with a detection."""
    size = rise_ns.shape[0]
    median = np.full((size, size), base_ns, np.float32)
    np.fill_diagonal(median, np.nan)
    values = series(median, median + rise_ns.astype(np.float32))
    seen = step(state, SPIKES, window_of(number, np.repeat(np.arange(2), size // 2), values))
    return sorted(rule for one in seen.detections for rule in one.rules)


def usual_rises(rng: np.random.Generator, usual_ns: float, size: int = 6) -> np.ndarray:
    return rng.gumbel(usual_ns, 0.2 * usual_ns, (size, size))


def test_usual_spikes_of_long_paths_do_not_fire_for_ever():
    """Spikes of 2 ms are usual on a path of 70 ms; an absolute limit of 0.5 ms would fire in every window."""
    state, rng = EvaluationState(np.arange(6)), np.random.default_rng(6)
    fired = [spiky(state, number, usual_rises(rng, 2e6), FAR) for number in range(1, 400)]
    assert not any(fired[LEARNT:])
    rises = usual_rises(rng, 2e6)
    rises[0, 3:] = rises[1, 3:] = 4e7
    assert spiky(state, 400, rises, FAR) == ["strong-spike"]


def test_one_strong_spike_on_several_paths_is_detected_at_once_and_on_one_path_is_not():
    state, rng = EvaluationState(np.arange(6)), np.random.default_rng(7)
    for number in range(1, LEARNT + 10):
        assert spiky(state, number, usual_rises(rng, 3e4)) == []
    one, several = usual_rises(rng, 3e4), usual_rises(rng, 3e4)
    one[0, 4] = one[4, 0] = 1.55e6
    several[0, 3:] = several[3:, 0] = 1.55e6  # from 0.2 ms to 1.75 ms (UCAM-CL-TR-937, figure 4.14)
    assert spiky(state, 200, one) == []
    assert spiky(state, 220, several) == ["strong-spike"]


def test_a_new_path_is_compared_with_its_pair_of_zones():
    condition = next(rule.condition for rule in SPIKES if rule.id == "strong-spike")
    rises, zone_of = Baseline.new((6, 6)), np.repeat(np.arange(2), 3)
    rng = np.random.default_rng(8)
    for _ in range(LEARNT + 10):
        usual = usual_rises(rng, 2e6).astype(np.float32)
        usual[0, 5] = np.nan  # this path is new
        rises.learn(usual)

    def breach(rise_ns: float) -> bool:
        def values(_: Metric, statistic: Statistic) -> np.ndarray:
            return np.full((6, 6), rise_ns if statistic is Statistic.MAX else 0, np.float32)

        return bool(breaches_of(condition, values, BreachHistory(rises=rises, zone_of=zone_of)).breach[0, 5])

    assert not breach(4e6)
    assert breach(4e7)


def test_a_path_far_above_its_baseline_needs_one_window():
    (rule,) = [one for one in defaults() if one.id == "far"]
    state, rng = EvaluationState(np.arange(4)), np.random.default_rng(9)

    def evaluated(number: int, burst_ns: float) -> list[str]:
        delays = 2e5 + 5e3 * rng.standard_normal((4, 4))
        delays[0, 3] += burst_ns
        seen = step(state, [rule], window(number, delays))
        return [one.cause.culprit.suspect for one in seen.detections]

    assert not any(evaluated(number, 0) for number in range(1, LEARNT + 10))
    assert evaluated(LEARNT + 10, 3e5) == []
    assert evaluated(LEARNT + 11, 1.55e6) == ["path"]


def test_rare_spikes_elsewhere_do_not_hide_a_lasting_rise():
    size, rng = 12, np.random.default_rng(4)
    zone_of = np.repeat(np.arange(3), 4)
    rise = np.zeros((size, size), bool)
    rise[:4, 4:8] = True
    rules = [
        Rule("above", "Above", Condition(Kind.THRESHOLD, above=450_000)),
        Rule("spikes", "Spikes", Condition(Kind.SPIKE, rise_ns=500_000), x=1, y=1),
    ]
    state = EvaluationState(np.arange(size))
    for at in range(1, 4):
        median = np.where(rise, 600_000, 200_000).astype(np.float32)
        most = np.where(rng.random((size, size)) < 0.6, median + 900_000, median + 9_000).astype(np.float32)
        seen = step(state, rules, window_of(at, zone_of, series(median, most)))
    first, *others = seen.detections
    assert first.cause.culprit == Culprit(Suspect.ZONE_PAIR, 0, 1)
    assert "above" in first.rules
    assert not first.spikes
    assert all(other.spikes for other in others)
    assert others
