"""Variable latency: the calibrated constants, statements they were not calibrated to, and the properties of the model.

The source is UCAM-CL-TR-914, section 5.3.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.variable import (
    WAITS_CLOSED_LOOP,
    WAITS_SYNCHRONOUS,
    deviations,
    excess_us,
    under_variance,
)

SHAPES = ("normal", "pareto-normal", "pareto", "uniform")


@pytest.mark.parametrize(("magnitude_us", "stated"), [(20, 0.95), (160, 0.75)])
def test_calibrated_waits_reproduce_the_numbers_they_were_chosen_for(magnitude_us, stated):
    result = under_variance(
        published("strads-lasso").curve, 200, deviations("uniform", magnitude_us), WAITS_SYNCHRONOUS
    )
    assert result.factor == pytest.approx(stated, abs=0.015)
    assert result.performance == result.static * result.factor


@pytest.mark.parametrize("waits", [2, WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS])
def test_calibrated_tails_keep_the_ranking_they_were_scaled_for(waits):
    curve = published("memcached-server").curve
    factors = [under_variance(curve, 50, deviations(shape, 40), waits).factor for shape in SHAPES]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] > factors[-1]


@pytest.mark.parametrize(
    ("key", "magnitude_us", "waits", "within"),
    [("dns", 50, WAITS_CLOSED_LOOP, 0.005), ("spark-glm", 160, WAITS_SYNCHRONOUS, 0.03)],
)
def test_dns_and_spark_at_200_us_lose_nothing_as_stated(key, magnitude_us, waits, within):
    """Neither statement was used to choose a constant."""
    result = under_variance(published(key).curve, 200, deviations("uniform", magnitude_us), waits)
    assert result.factor == pytest.approx(1, abs=within)


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
