"""Response times against closed forms and a simulated queue."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.advisors.compute_mix.core.queueing import (
    UTILISATION_MAX,
    Service,
    Target,
    response_exceeds,
    serverless_response_s,
    utilisation_limit,
)


@pytest.mark.parametrize("utilisation", [0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("percentile", [50, 95, 99.9])
def test_exponential_service_has_exponential_responses(utilisation: float, percentile: float):
    expected = -log(1 - percentile / 100) * 0.004 / (1 - utilisation)
    exceeding = response_exceeds(Service(0.004, 1), utilisation, expected)
    assert exceeding == pytest.approx(1 - percentile / 100, rel=1e-6)


def simulated(variation: float, utilisation: float) -> np.ndarray:
    """Return responses of a FIFO queue by Lindley's recursion, service time 1."""
    rng = np.random.default_rng(3)
    jobs = 1_000_000
    service = rng.gamma(1 / variation, variation, jobs) if variation else np.ones(jobs)
    steps = np.concatenate([[0], service[:-1] - rng.exponential(1 / utilisation, jobs - 1)])
    walk = np.cumsum(steps)
    return walk - np.minimum.accumulate(walk) + service


def mean_response_s(service: Service, utilisation: float) -> float:
    """Return the mean response time of an M/G/1 queue, s (Pollaczek–Khinchine)."""
    return service.mean_s * (1 + utilisation * (1 + service.variation) / (2 * (1 - utilisation)))


@pytest.mark.parametrize("variation", [0, 0.01, 0.25, 4])
def test_percentiles_and_mean_are_those_of_a_simulated_queue(variation: float):
    responses = simulated(variation, 0.6)
    service = Service(1.0, variation)
    assert mean_response_s(service, 0.6) == pytest.approx(responses.mean(), rel=0.02)
    for percentile in (75, 95, 99):
        expected = np.percentile(responses, percentile)
        assert response_exceeds(service, 0.6, expected) == pytest.approx(1 - percentile / 100, rel=0.06)


@given(
    st.floats(0, 20),
    st.floats(1.01, 100),
    st.sampled_from([None, 50.0, 90.0, 99.0, 99.9]),
)
def test_the_limit_keeps_the_target_and_no_more(variation: float, times: float, percentile: float | None):
    service, target = Service(0.02, variation), Target(0.02 * times, percentile)
    limit = utilisation_limit(service, target)
    assert 0 <= limit <= UTILISATION_MAX

    def keeps(utilisation: float) -> bool:
        if percentile is None:
            return mean_response_s(service, utilisation) <= target.response_s * (1 + 1e-9)
        return response_exceeds(service, utilisation, target.response_s) <= (1 - percentile / 100) + 1e-8

    assert limit == 0 or keeps(limit)
    if limit < 0.99:
        assert not keeps(limit + 0.005)


def test_the_closed_forms_of_the_source():
    # The mean by Pollaczek–Khinchine; for exponential service the limit is 1 + ln(1-q) / (rate x target).
    assert utilisation_limit(Service(0.1, 1), Target(0.5)) == pytest.approx(0.8)
    assert utilisation_limit(Service(0.1, 1), Target(1.0, 95)) == pytest.approx(1 + log(0.05) / 10, rel=1e-6)
    assert utilisation_limit(Service(0.1, 0), Target(0.1)) == 0
    assert utilisation_limit(Service(0.1, 1), Target(-1.0, 95)) == 0


def test_serverless_waits_for_cold_starts_only():
    service = Service(0.1, 1)
    assert serverless_response_s(service, 0.2, 1.0, None) == pytest.approx(0.3)
    assert serverless_response_s(service, 0.0, 1.0, 95) == pytest.approx(-0.1 * log(0.05))
    # With 2 % cold starts of a second, the 99th percentile is a cold one, the median is not.
    assert serverless_response_s(service, 0.02, 1.0, 99) > 1.0
    assert serverless_response_s(service, 0.02, 1.0, 50) < 0.08
