"""Variable latency against the few numbers and the ranking the measurements state (UCAM-CL-TR-914, section 5.3)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.curves.core.library import published
from sinemora.curves.core.variable import WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS, deviations, excess_us, under_variance

SHAPES = ("normal", "pareto-normal", "pareto", "uniform")


@pytest.mark.parametrize(
    ("key", "magnitude_us", "waits", "stated", "within"),
    [
        ("strads-lasso", 20, WAITS_SYNCHRONOUS, 0.95, 0.015),
        ("strads-lasso", 160, WAITS_SYNCHRONOUS, 0.75, 0.015),
        ("dns", 50, WAITS_CLOSED_LOOP, 1.0, 0.005),
        ("spark-glm", 160, WAITS_SYNCHRONOUS, 1.0, 0.03),
    ],
)
def test_stated_numbers_at_a_median_of_200_us(key, magnitude_us, waits, stated, within):
    result = under_variance(published(key).curve, 200, deviations("uniform", magnitude_us), waits)
    assert result.factor == pytest.approx(stated, abs=within)
    assert result.factor_low - within <= stated <= result.factor_high + within
    assert result.performance == result.static * result.factor


@pytest.mark.parametrize("waits", [2, WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS])
def test_normal_harms_least_uniform_most_heavy_tails_lie_between(waits):
    curve = published("memcached-server").curve
    factors = [under_variance(curve, 50, deviations(shape, 40), waits).factor for shape in SHAPES]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > factors[-1]


def test_small_variance_hurts_memcached_where_its_static_curve_is_almost_flat():
    result = under_variance(published("memcached-server").curve, 50, deviations("uniform", 20), WAITS_CLOSED_LOOP)
    assert 0.9 < result.factor < 0.98


@given(st.lists(st.floats(1, 1e4), min_size=1, max_size=5), st.integers(1, 4))
def test_excess_is_the_mean_slowest_of_all_possible_draws(round_trips_us, waits):
    slowest = [max(draws) for draws in itertools.product(round_trips_us, repeat=waits)]
    expected = max(np.mean(slowest) - np.median(round_trips_us), 0)
    assert excess_us(round_trips_us, waits) == pytest.approx(expected, abs=1e-9)


@given(st.sampled_from(SHAPES), st.floats(0, 500), st.floats(0, 900))
def test_variance_never_helps(shape, magnitude_us, median_us):
    result = under_variance(published("strads-lasso").curve, median_us, deviations(shape, magnitude_us), 8)
    assert 0 < result.factor_low <= result.factor <= result.factor_high <= 1
    assert result.low <= result.performance <= result.high <= result.static


def test_steady_latency_loses_nothing_more():
    result = under_variance(published("dns").curve, 150, np.full(10, 333.0), 8)
    assert (result.factor, result.static, result.extrapolated) == (1, 0.87, False)


def test_leaving_the_domain_is_told():
    assert under_variance(published("dns").curve, 900, deviations("uniform", 300), 8).extrapolated


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: excess_us([], 3), "at least one finite round trip"),
        (lambda: excess_us([1, np.nan], 3), "at least one finite round trip"),
        (lambda: excess_us([1], 0.5), "waits of at least 1"),
        (lambda: deviations("uniform", -1), "magnitude"),
        (lambda: deviations("triangle", 1), "is not normal"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
