"""Impact: values of affected paths against usual ones, and both directions of each."""

import numpy as np

from sinemora.alerts.evaluation.baseline import LEARNT, Baseline, Floats
from sinemora.alerts.evaluation.impact import changes_of, impact_of, shift_of
from sinemora.alerts.evaluation.rule import Condition, Kind
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from tests.alerts.evaluation.windows import series, window_of

USUAL = 200_000.0
ONE_WAY = (Metric.ONE_WAY_DELAY, Statistic.P50)


def learnt(windows: int = LEARNT) -> EvaluationState:
    """Return the state of three VMs after quiet windows."""
    state = EvaluationState(np.arange(3), baselines={ONE_WAY: Baseline.new((3, 3))})
    for _ in range(windows):
        state.baselines[ONE_WAY].learn(np.full((3, 3), USUAL, np.float32))
    return state


def window(median_ns: Floats) -> EvaluationWindow:
    """Return a window with these medians; the largest delays are 1 ms above them, and nothing is lost."""
    return window_of(10, np.zeros(3, np.int64), series(median_ns, median_ns + np.float32(1_000_000)))


def medians(**changes: float) -> Floats:
    """Return usual delays, with changes by path such as `p01`."""
    found = np.full((3, 3), USUAL, np.float32)
    for name, change in changes.items():
        found[int(name[1]), int(name[2])] += change
    return found


def test_the_worst_path_comes_first_with_its_usual_value_and_limit():
    cells, condition = np.array([1, 2]), Condition(Kind.BASELINE, *ONE_WAY, deviations=5.0, rise_ns=15_000)
    impact = impact_of(cells, condition, learnt(), window(medians(p01=100_000, p02=300_000)))
    assert impact.cells.tolist() == [2, 1]
    assert impact.values.tolist() == [500_000, 300_000]
    np.testing.assert_allclose(impact.usual, USUAL, rtol=1e-3)
    assert ((impact.limits > USUAL + 14_000) & (impact.limits < 300_000)).all()


def test_a_spike_is_compared_with_the_median_of_its_window():
    condition = Condition(Kind.SPIKE, Metric.ONE_WAY_DELAY, rise_ns=500_000)
    impact = impact_of(np.array([1]), condition, learnt(), window(medians()))
    assert (impact.values[0], impact.usual[0], impact.limits[0]) == (USUAL + 1_000_000, USUAL, USUAL + 500_000)


def test_a_threshold_without_a_baseline_has_no_usual_value():
    state = EvaluationState(np.arange(3))
    condition = Condition(Kind.THRESHOLD, *ONE_WAY, above=400_000)
    impact = impact_of(np.array([1]), condition, state, window(medians(p01=300_000)))
    assert np.isnan(impact.usual[0])
    assert impact.limits[0] == 400_000
    assert shift_of(np.array([1]), state, window(medians())) is None
    assert changes_of(state, window(medians())) is None


def test_directions_and_round_trip_are_compared_by_path():
    step = window(medians(p01=300_000, p10=-300_000, p02=310_000, p20=-310_000))
    shift = shift_of(np.array([1, 2]), learnt(), step)
    assert (shift.compared, shift.slower) == (2, 2)
    np.testing.assert_allclose([shift.change_ns, shift.reverse_change_ns], [305_000, -305_000], rtol=0.01)
    assert abs(shift.round_trip_change_ns) < 500


def test_nothing_is_compared_before_the_baseline_is_learnt():
    assert shift_of(np.array([1]), learnt(LEARNT - 1), window(medians(p01=300_000))) is None
