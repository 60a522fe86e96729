"""Loss over many windows: the exact test, and its time."""

from math import comb

import numpy as np
import pytest

from sinemora.alerts.evaluation import state_codec
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.loss_counts import LossCounts, tail
from sinemora.alerts.evaluation.rule import Kind, defaults
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from tests.alerts.evaluation.windows import series, window_of

(RULE,) = [rule for rule in defaults() if rule.condition.kind is Kind.LOSS]
SIZE = 4


@pytest.mark.parametrize(("lost", "sent", "ratio"), [(0, 10, 0.01), (1, 10, 0.2), (3, 60, 0.02), (17, 3600, 0.002)])
def test_the_tail_is_that_of_the_binomial_distribution(lost: int, sent: int, ratio: float):
    below = sum(comb(sent, k) * ratio**k * (1 - ratio) ** (sent - k) for k in range(lost))
    assert tail(np.array([lost]), np.array([sent]), ratio)[0] == pytest.approx(1 - below, rel=1e-6)


@pytest.mark.parametrize("sent", [1_000, 3_600, 28_800, 1_000_000])
def test_a_breach_begins_just_above_the_limit(sent: int):
    def counts(lost: int) -> LossCounts:
        one = LossCounts.new(1, 1)
        one.add(np.full((1, 1), sent, np.float32), np.full((1, 1), lost, np.float32), 10, 3600)
        return one

    most = round(float(counts(0).limit(0.002)[0, 0]) * sent)
    assert not counts(most).above(0.002)[0].any()
    assert counts(most + 1).above(0.002)[0].all()


def mesh_window(number: int, lost: np.ndarray, sent: int = 80) -> EvaluationWindow:
    packets = np.full((SIZE, SIZE), float(sent), np.float32)
    values = series(np.full((SIZE, SIZE), 2e5), loss=lost / sent)
    return window_of(number, np.arange(SIZE) // 2, values, packets=lambda: (packets, lost.astype(np.float32)))


def fired_after(share: np.ndarray, windows: int, seed: int = 1, sent: int = 80) -> np.ndarray:
    """Return by path the first window in which the default rule fires, -1 for never."""
    state, rng = EvaluationState(np.arange(SIZE)), np.random.default_rng(seed)
    first = np.full((SIZE, SIZE), -1)
    for number in range(1, windows + 1):
        step(state, [RULE], mesh_window(number, rng.binomial(sent, share), sent))
        firing = state.rule_states[RULE.id].firing
        first[firing & (first < 0)] = number
    return first


def test_the_worst_hour_of_a_cloud_is_seen_and_its_usual_hours_are_not():
    """Table 4.4 of UCAM-CL-TR-937: worst hours 46.96e-4 in a disturbance, up to 16.533e-4 without one."""
    share = np.full((SIZE, SIZE), 5e-4)
    share[0, 1] = 46.961e-4
    share[2, 3] = 16.533e-4
    first = fired_after(share, 360)
    assert 0 < first[0, 1] <= 360
    assert np.count_nonzero(first > 0) == 1


def test_few_packets_are_no_evidence():
    share = np.zeros((SIZE, SIZE))
    share[0, 1] = 0.03
    assert fired_after(share, 12, sent=10).max() < 0  # 120 packets cannot show 0.2 %


def test_a_path_that_lost_earlier_is_well_soon_after():
    state, lost = EvaluationState(np.arange(SIZE)), np.zeros((SIZE, SIZE))
    lost[0, 1] = 4
    for number in range(1, 61):
        step(state, [RULE], mesh_window(number, lost))
    assert state.rule_states[RULE.id].firing[0, 1]
    for number in range(61, 61 + 30):  # 0.2 % of 24 packets a window: five minutes without loss do not fit
        step(state, [RULE], mesh_window(number, np.zeros((SIZE, SIZE))))
    assert not state.rule_states[RULE.id].firing.any()


def test_quarters_that_passed_are_dropped():
    counts, one = LossCounts.new(1, 1), np.ones((1, 1), np.float32)
    for ended_at_s in (10, 3600, 3610, 10):  # the last one is late, and its quarter is gone
        counts.add(100 * one, one, ended_at_s, 3600)
    assert counts.sent.sum() == 200
    counts.add(100 * one, one, 20_000, 3600)
    assert counts.sent.sum() == 100


def test_counts_and_rises_survive_a_restart_and_a_new_member():
    state = EvaluationState(np.arange(SIZE))
    for number in range(1, 4):
        step(state, defaults(), mesh_window(number, np.arange(SIZE * SIZE).reshape(SIZE, SIZE)))
    state.rises[Metric.ONE_WAY_DELAY].level[:] = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    encoded = state_codec.encode(state, baselines=False), state_codec.encode(state, baselines=True)
    again = state_codec.decode(*encoded)
    assert np.array_equal(again.loss_counts[3600].lost, state.loss_counts[3600].lost)
    assert again.loss_counts[3600].part == state.loss_counts[3600].part
    moved = again.loss_counts[3600].rearranged(np.array([3, -1, 0]))
    assert moved.lost.sum(axis=0).tolist() == [[45, 0, 36], [0, 0, 0], [9, 0, 0]]
    assert moved.sent.sum(axis=0)[1].tolist() == [0, 0, 0]
    assert np.array_equal(again.rises[Metric.ONE_WAY_DELAY].level, state.rises[Metric.ONE_WAY_DELAY].level)
    assert (Metric.ONE_WAY_DELAY, Statistic.P50) in again.baselines
