"""Shares of a delay: their sum, their bounds, and what a distance separates."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sinemora.measurements.latency_budget.split import (
    Bounded,
    Cause,
    Delays,
    Separation,
    fibre_delay_ns,
    split,
    typical,
)


def of_paths(*paths: tuple[int, int, int, int]) -> Delays:
    """Return the typical delays of paths: smallest, p50, p99 and clock error of each, ns."""
    return typical(*np.array(paths, np.int64).reshape(-1, 4).T)


DELAYS_NS = st.integers(-50_000, 200_000_000)
ERRORS_NS = st.integers(0, 5_000_000)
PATHS = st.lists(st.tuples(st.lists(DELAYS_NS, min_size=3, max_size=3).map(sorted), ERRORS_NS), min_size=1, max_size=9)
PROPAGATION_NS = st.none() | st.integers(0, 100_000_000)


@given(PATHS, PROPAGATION_NS)
def test_shares_add_up_to_the_measured_figure(paths, propagation_ns):
    budget = split(of_paths(*((*delays, error) for delays, error in paths)), propagation_ns)
    for shares, whole in (
        (budget.base, budget.delays.minimum),
        (budget.p50, budget.delays.p50),
        (budget.p99, budget.delays.p99),
    ):
        assert sum(share.delay.delay_ns for share in shares) == whole.delay_ns
    assert all(share.delay.delay_ns >= 0 for share in budget.p99 if share.cause is not Cause.BASE)


@given(st.data())
def test_bounds_hold_the_true_shares(data):
    """True delays, a clock that is wrong by up to its error differently each time, and percentiles of sketches."""
    true_paths, paths = [], []
    propagation_ns = data.draw(st.integers(0, 1_000_000))
    for _ in range(data.draw(st.integers(1, 7))):
        true_ns = [
            propagation_ns + extra
            for extra in sorted(data.draw(st.lists(st.integers(0, 9_000_000), min_size=3, max_size=3)))
        ]
        error_ns = data.draw(st.integers(0, 400_000))
        seen_ns = [delay + data.draw(st.integers(-error_ns, error_ns)) for delay in true_ns]
        seen_ns[1:] = [delay + int(delay * data.draw(st.floats(-1 / 129, 1 / 129))) for delay in seen_ns[1:]]
        assume(seen_ns == sorted(seen_ns))
        true_paths.append((*true_ns, 0))
        paths.append((*seen_ns, error_ns))
    truth, budget = of_paths(*true_paths), split(of_paths(*paths), propagation_ns)
    base_ns = truth.minimum.delay_ns
    true_ns = {Cause.PROPAGATION: propagation_ns, Cause.PROCESSING: base_ns - propagation_ns, Cause.BASE: base_ns}
    for shares, whole in ((budget.p50, truth.p50), (budget.p99, truth.p99)):
        for share in shares:
            expected = true_ns.get(share.cause, whole.delay_ns - base_ns)
            assert share.delay.low_ns <= expected <= share.delay.high_ns, share
    assert budget.separation is not Separation.DISTANCE_TOO_LONG


@pytest.mark.parametrize(
    ("distance_km", "separation", "causes"),
    [
        (None, "distance_unknown", ["base", "queueing"]),
        (0, "separated", ["propagation", "processing", "queueing"]),
        (20, "separated", ["propagation", "processing", "queueing"]),
        (40, "distance_not_resolved", ["base", "queueing"]),  # 196 µs of a base of 180 ± 20 µs
        (60, "distance_too_long", ["base", "queueing"]),
    ],
)
def test_distance_separates_propagation_unless_light_needs_longer(distance_km, separation, causes):
    propagation_ns = None if distance_km is None else fibre_delay_ns(distance_km)
    budget = split(of_paths((180_000, 312_000, 900_000, 20_000)), propagation_ns)
    assert budget.separation == separation
    assert [share.cause for share in budget.p50] == causes


def test_queueing_is_the_rest_above_the_smallest_delay():
    budget = split(of_paths((180_000, 312_000, 900_000, 0)), fibre_delay_ns(10))
    assert [(share.cause.value, share.delay.delay_ns) for share in budget.p50] == [
        ("propagation", 48_967),
        ("processing", 131_033),
        ("queueing", 132_000),
    ]
    assert budget.p99[-1].delay.delay_ns == 720_000


def test_bounds_widen_with_the_clock_error_and_never_have_width_zero():
    exact, uncertain = (split(of_paths((180_000, 312_000, 900_000, error)), None) for error in (0, 30_000))
    assert exact.base[0].delay == Bounded(180_000, 180_000, 180_000)  # a smallest delay is stored to the nanosecond
    assert uncertain.base[0].delay == Bounded(180_000, 150_000, 210_000)
    queueing = [budget.p50[-1].delay for budget in (exact, uncertain)]
    assert queueing[0] == Bounded(132_000, 132_000 - 2_438, 132_000 + 2_438)
    assert queueing[1] == Bounded(132_000, 132_000 - 62_438, 132_000 + 62_438)


def test_typical_is_the_median_of_each_figure():
    paths = [(low, low + rise, low + 9 * rise, 10) for low, rise in ((100, 50), (300, 5), (200, 900))]
    middle = of_paths(*paths)
    assert (middle.minimum.delay_ns, middle.p50.delay_ns, middle.p99.delay_ns) == (200, 305, 550)
    with pytest.raises(ValueError, match="no paths"):
        of_paths()
