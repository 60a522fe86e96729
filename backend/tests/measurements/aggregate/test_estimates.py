"""Estimates of unmeasured delays, against the true delays of simulated meshes."""

import numpy as np
import pytest

from sinemora.measurements.aggregate import estimates
from sinemora.measurements.aggregate.estimates import COVERAGE, estimate

VMS = 80


def true_delays(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Delays of a mesh of four zones, ns: of zones, of each host in each direction, and of the route of each path."""
    rng = np.random.default_rng(seed)
    zone_of = np.sort(rng.integers(0, 4, VMS))
    of_zones = rng.lognormal(np.log(300e3), 0.5, (4, 4))
    delays = of_zones[np.ix_(zone_of, zone_of)] + rng.exponential(8e3, (VMS, 1)) + rng.exponential(8e3, (1, VMS))
    return delays * np.exp(rng.normal(0, 0.05, delays.shape)), zone_of


def measured_pairs(share: float, seed: int) -> np.ndarray:
    """Choose pairs, both directions of each."""
    draw = np.triu(np.random.default_rng(seed).random((VMS, VMS)), 1)
    return (draw + draw.T < share) & ~np.eye(VMS, dtype=bool)


@pytest.mark.parametrize("seed", range(5))
def test_intervals_contain_the_true_delays_of_pairs_left_out_at_random(seed: int):
    delays, zone_of = true_delays(seed)
    measured = measured_pairs(0.2, seed + 50)
    found = estimate(np.where(measured, delays, np.nan), zone_of, ~measured)
    known = found.known
    assert known.sum() == (~measured).sum() - VMS
    assert not (known & measured).any()
    assert ((delays >= found.low_ns) & (delays <= found.high_ns))[known].mean() >= COVERAGE
    # An interval that contains everything would say nothing.
    assert np.median((found.high_ns / found.low_ns)[known]) < 1.5
    of_zones_only = np.abs(np.log(delays / np.nanmean(np.where(measured, delays, np.nan))))
    assert np.median(np.abs(np.log(found.values_ns / delays))[known]) < 0.3 * np.median(of_zones_only)


def test_nothing_is_estimated_where_too_little_is_measured():
    delays, zone_of = true_delays(1)
    measured = measured_pairs(0.2, 2)
    measured[7] = measured[:, 7] = False
    within = zone_of == 3
    measured[np.ix_(within, within)] = False
    found = estimate(np.where(measured, delays, np.nan), zone_of, ~measured)
    assert not found.known[7].any()
    assert not found.known[:, 7].any()
    assert not found.known[np.ix_(within, within)].any()
    assert found.known[np.ix_(within, zone_of == 0)].any()
    few = np.where(measured_pairs(0.005, 3), delays, np.nan)
    assert (estimate(few, zone_of, np.isnan(few)).measured, estimate(few, zone_of, np.isnan(few)).known.sum()) == (0, 0)


def test_equal_data_have_equal_estimates():
    delays, zone_of = true_delays(4)
    values = np.where(measured_pairs(0.3, 5), delays, np.nan)
    one, other = (estimate(values, zone_of, np.isnan(values)) for _ in range(2))
    np.testing.assert_array_equal(one.values_ns, other.values_ns)
    assert not estimates.nothing(3).known.any()
