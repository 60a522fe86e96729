"""Normalising a tenant's rows, and naming what is wrong with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.applications.curves.core.observations import SAMPLES_MAX, ObservationError, normalise


def test_rates_and_durations_become_the_same_performance():
    rates = normalise([0, 100, 400], [990, 495, 330])
    durations = normalise([0, 100, 400], [50, 100, 150], metric="duration")
    assert rates.performance.tolist() == [1, 0.5, pytest.approx(1 / 3)]
    assert durations.performance == pytest.approx(rates.performance)
    assert (rates.baseline, durations.baseline) == (990, pytest.approx(50))


def test_a_stated_baseline_is_exact_and_a_measured_one_is_not():
    assert not normalise([1, 2, 3], [9, 8, 7], baseline=10).measured
    assert normalise([0, 2, 3], [9, 8, 7]).measured


def test_measured_latencies_count_from_the_smallest():
    samples = normalise([230, 180, 280], [8, 10, 6], latency="measured")
    assert samples.added_us.tolist() == [0, 50, 100]
    assert samples.performance.tolist() == [1, 0.8, 0.6]
    assert samples.latency_offset_us == 180


def test_latencies_within_a_nanosecond_are_one():
    samples = normalise([0, 10, 10.0002, 20, 1e-300], [4, 3, 3, 2, 4])
    assert samples.added_us.tolist() == [0, 10, 20]
    assert samples.repeats.tolist() == [2, 2, 1]


def test_repeats_become_one_sample_with_an_error():
    samples = normalise([0, 0, 0, 50, 50, 50, 90, 90, 90], [10, 11, 9, 8, 8.4, 7.6, 5, 5.2, 4.8])
    assert samples.added_us.tolist() == [0, 50, 90]
    assert samples.performance == pytest.approx([1, 0.8, 0.5])
    assert samples.repeats.tolist() == [3, 3, 3]
    # Relative spreads are 10, 5 and 4 %: each is drawn towards the common one, then divided by √3 runs.
    relative = samples.errors / samples.performance * np.sqrt(3)
    assert (relative > 0.04).all()
    assert (relative < 0.10).all()
    assert relative[0] > relative[1] > relative[2]


def test_spread_of_repeats_weighs_like_the_repeats_themselves():
    runs = np.array([[10, 11, 9], [8, 8.4, 7.6], [5, 5.2, 4.8]])
    rows = normalise(np.repeat([0, 50, 90], 3), runs.ravel())
    with_spread = normalise([0, 50, 90], runs.mean(axis=1), spread=runs.std(axis=1, ddof=1), repeats=[3, 3, 3])
    assert with_spread.errors == pytest.approx(rows.errors)


def test_without_spread_or_repeats_the_error_is_not_known():
    assert normalise([0, 1, 2], [3, 2, 1]).errors is None
    assert normalise([0, 1, 2], [3, 2, 1], spread=[0, 0, 0]).errors is None


@given(st.integers(SAMPLES_MAX + 1, 3 * SAMPLES_MAX), st.booleans())
def test_many_latencies_are_averaged_with_their_neighbours(n, spread):
    x = np.arange(n, dtype=float)
    y = 1000 - x
    samples = normalise(x, y, spread=np.full(n, 5.0) if spread else None)
    assert samples.added_us.size == SAMPLES_MAX
    assert samples.repeats.sum() == n
    assert samples.added_us @ samples.repeats == pytest.approx(x.sum())
    assert samples.performance == pytest.approx(1 - samples.added_us / 1000)
    assert (samples.added_us[0], samples.performance[0]) == (0, 1)


GOOD = {"latency_us": [0, 10, 20], "performance": [3.0, 2.0, 1.0]}


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"latency_us": [0, -1, 20]}, "/rows/1/latency_us", "must be 0"),
        ({"latency_us": [0, 10, float("nan")]}, "/rows/2/latency_us", "finite"),
        ({"latency_us": [0, 10, 1e9]}, "/rows/2/latency_us", "must be 0 … 60000000 µs"),
        ({"latency_us": [0, "fast", 20]}, "/rows/1/latency_us", "must be a number, not 'fast'"),
        ({"latency_us": [[0], [10], [20]]}, "/rows", "one number a row"),
        ({"latency_us": [], "performance": []}, "/rows", "no rows"),
        ({"latency_us": [0, 0, 20]}, "/rows", "2 different latencies; at least 3"),
        ({"latency_us": [5, 10, 20]}, "/baseline", "missing"),
        ({"performance": [3, 0, 1]}, "/rows/1/performance", "above 0"),
        ({"performance": [3, 2, float("inf")]}, "/rows/2/performance", "finite"),
        ({"performance": [3, None, 1]}, "/rows/1/performance", "finite"),
        ({"performance": [3, 2]}, "/rows", "performance has 2 values"),
        ({"performance": [1e300, 1e-300, 1]}, "/rows", "orders of magnitude"),
        ({"spread": [0.1, -0.1, 0]}, "/rows/1/spread", "standard deviation"),
        ({"repeats": [1, 2, 0]}, "/rows/2/repeats", "whole number"),
        ({"repeats": [1, 2.5, 3]}, "/rows/1/repeats", "whole number"),
        ({"baseline": 0}, "/baseline", "above 0"),
        ({"baseline": float("nan")}, "/baseline", "above 0"),
    ],
)
def test_bad_rows_are_named_by_place_and_told_what_is_right(change, pointer, words):
    with pytest.raises(ObservationError, match=words) as caught:
        normalise(**(GOOD | change))
    assert caught.value.pointer == pointer
    assert isinstance(caught.value, ValueError)
