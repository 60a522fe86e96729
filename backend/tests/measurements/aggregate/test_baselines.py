"""Baselines from steps, and deviations from them: against plain Python for each path."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sinemora.measurements.aggregate import baselines
from sinemora.measurements.aggregate.baselines import DEAD_BAND_MIN_NS, NO_BASELINE, STEPS_MIN, Baselines, Basis
from sinemora.measurements.aggregate.matrix import CellState, Matrix, Metric
from sinemora.measurements.codec import llq16

STEPS = st.integers(1, 14)
DELAYS = st.one_of(st.just(np.nan), st.floats(1e3, 2e8, width=32))
FEW = {3: 1.495, 4: 1.363, 5: 1.206, 6: 1.2, 7: 1.14, 8: 1.129, 9: 1.107}


def steps(draw, paths: int = 3):
    count = draw(STEPS)
    p50 = draw(arrays(np.float32, (count, paths), elements=DELAYS))
    return p50, p50 * np.float32(draw(st.floats(1, 2)))


def now(values: list[int], clock_error_ns: int = 0, state: CellState = CellState.MEASURED) -> Matrix:
    row = np.array([values], np.int64)
    states = np.full(row.shape, state, np.uint8)
    valued = np.full(row.shape, state in (CellState.MEASURED, CellState.STALE))
    return Matrix(Metric.ONE_WAY_DELAY, row, np.full(row.shape, clock_error_ns), states, valued, states.astype(int))


def usual(level: float, spread: float, size: int = 1, basis: Basis = Basis.SAME_HOUR) -> Baselines:
    known = level if basis else np.nan
    shape = (1, size)
    return Baselines(
        np.full(shape, known, np.float32),
        np.full(shape, spread, np.float32),
        np.full(shape, 6, np.uint8),
        np.full(shape, basis, np.uint8),
    )


@given(st.data())
def test_level_and_spread_are_those_of_each_path_alone(data):
    p50, p90 = steps(data.draw)
    found, zones = baselines.estimate(p50, p90), baselines.estimate(p50, p90, of_zones=True)
    for path in range(p50.shape[1]):
        values = [float(value) for value in p50[:, path] if np.isfinite(value)]
        assert found.steps[path] == len(values)
        if len(values) < STEPS_MIN:
            assert np.isnan(found.level_ns[path])
            continue
        level = statistics.median(values)
        far = [float(value) for value in p90[:, path] - p50[:, path] if np.isfinite(value)]
        factor = FEW.get(len(values), len(values) / (len(values) - 0.8))
        deviation = 1.4826 * factor * statistics.median(abs(value - level) for value in values)
        spread = max(math.hypot(deviation, statistics.median(far) / 2), 0.006 * level)
        assert zones.spread_ns[path] == pytest.approx(
            max(deviation, statistics.median(far) / 3, 0.006 * level), rel=1e-3, abs=64
        )
        assert found.level_ns[path] == pytest.approx(level, rel=1e-5)
        assert found.spread_ns[path] == pytest.approx(spread, rel=1e-3, abs=64)


def test_the_best_basis_that_knows_a_path_is_used():
    known = np.array([[100, np.nan], [100, np.nan], [100, 7]], np.float32)
    hour, day = baselines.estimate(known, known), baselines.estimate(2 * known[:, ::-1], 2 * known[:, ::-1])
    found = baselines.best_of([(Basis.SAME_HOUR, hour), (Basis.LAST_DAY, day)], (2,))
    assert found.basis.tolist() == [Basis.SAME_HOUR, Basis.LAST_DAY]
    assert found.level_ns.tolist() == [100, 200]
    nothing = baselines.best_of([], (2,))
    assert nothing.basis.tolist() == [Basis.NONE, Basis.NONE]


@pytest.mark.parametrize(
    ("value", "clock_error_ns", "spread", "is_unusual"),
    [
        (205_000, 0, 10, False),  # the least dead band
        (205_001, 0, 10, True),
        (194_999, 0, 10, True),
        (206_000, 6_000, 10, False),  # the clock error
        (206_001, 6_000, 10, True),
        (230_000, 0, 10_000, False),  # three spreads
        (230_001, 0, 10_000, True),
    ],
)
def test_a_deviation_is_unusual_beyond_its_dead_band(value, clock_error_ns, spread, is_unusual):
    found = baselines.deviations_of(now([value], clock_error_ns), usual(200_000, spread))
    assert found.unusual.tolist() == [[is_unusual]]
    assert found.values.tolist() == [[value - 200_000]]
    assert (found.codes()[0, 0] == 32_768) is not is_unusual


@given(st.integers(-(10**8), 10**9), st.floats(1e3, 1e8, width=32), st.floats(0, 1e6, width=32))
def test_codes_keep_the_sign_and_size_of_unusual_deviations(value, level, spread):
    found = baselines.deviations_of(now([value]), usual(level, spread))
    deviation, code = int(found.values[0, 0]), int(found.codes()[0, 0]) - 32_768
    if found.unusual[0, 0]:
        assert (code > 0) is (deviation > 0)
        assert abs(code) == llq16.bins_of(abs(deviation))
    else:
        assert code == 0
        assert abs(deviation) <= max(DEAD_BAND_MIN_NS, round(3 * float(np.float32(spread))))


@pytest.mark.parametrize("state", CellState)
def test_states_are_kept_and_a_measured_path_without_baseline_has_its_own(state):
    unknown = baselines.deviations_of(now([200_000], 0, state), usual(0, 0, basis=Basis.NONE))
    assert unknown.states.tolist() == [[NO_BASELINE if state is CellState.MEASURED else state]]
    assert unknown.codes().tolist() == [[0]]
    known = baselines.deviations_of(now([300_000], 0, state), usual(200_000, 10))
    assert known.states.tolist() == [[state]]
    assert known.valued.tolist() == [[state in (CellState.MEASURED, CellState.STALE)]]


@pytest.mark.parametrize("within_ns", [5_000, 25_000])
def test_noise_of_many_paths_is_not_unusual_and_a_step_is(within_ns):
    """Before, 5 % of these paths were: three spreads of four steps each; then 0.1 %: windows vary within steps too."""
    rng = np.random.default_rng(1)
    level = rng.uniform(1e5, 9e5, (100, 100)).astype(np.float32)
    steps = level + rng.normal(0, 20_000, (5, 100, 100)).astype(np.float32)
    found = baselines.pooled(baselines.estimate(steps[:4], steps[:4] + 2 * within_ns))
    values = (steps[4] + rng.normal(0, within_ns, (100, 100))).astype(np.int64)
    values[:5, 20:30] += 400_000
    measured = Matrix(Metric.ONE_WAY_DELAY, values, values * 0, (values * 0).astype(np.uint8), values > 0, values * 0)
    unusual = baselines.deviations_of(measured, baselines.best_of([(Basis.SAME_HOUR, found)], values.shape)).unusual
    assert unusual[:5, 20:30].all()
    assert unusual.sum() - 50 <= 1
