"""Rows that do not belong to a falling curve are named and left out; a sweep that only rises is refused."""

import numpy as np
import pytest

from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.observations import ObservationError, normalise
from sinemora.applications.curves.core.outliers import demand_fall, outliers_of
from tests.seeds import seeds

X = np.linspace(0, 1000, 20)


def sweep(truth, noise=0.03, seed=1, **wrong):
    """Rows of a curve with noise; `wrong` is the factor of rows by their position: r5=10."""
    rng = np.random.default_rng(seed)
    y = truth(X) * (1 + noise * rng.standard_normal(X.size))
    for name, factor in wrong.items():
        y[int(name[1:])] *= factor
    return normalise(X, y)


# A tenth of little is within the noise of a steep fall: the row at 842 µs is too high only.
@pytest.mark.parametrize(("at", "factor"), [(3, 10), (3, 0.1), (9, 10), (9, 0.1), (16, 10)])
def test_one_wrong_row_is_named_and_changes_little(at, factor):
    truth = published("memcached-server").curve
    found = fit(sweep(truth, **{f"r{at}": factor}))
    (warning,) = [warning for warning in found.warnings if warning.code == "outlier"]
    assert f"{X[at]:.0f} µs" in warning.message
    assert found.samples.added_us.size == X.size - 1
    assert np.sqrt(np.mean((found.curve(X) - truth(X)) ** 2)) < 0.05


@pytest.mark.parametrize("tau", [15, 60, 100, 300, 1000])
@pytest.mark.parametrize("noise", [0, 0.03])
def test_steep_falls_have_no_outliers_and_a_small_error(tau, noise):
    def truth(x):
        return np.exp(-x / tau)

    found = fit(sweep(truth, noise))
    assert not outliers_of(sweep(truth, noise)).size
    grid = np.linspace(0, 1000, 201)
    assert np.sqrt(np.mean((found.curve(grid) - truth(grid)) ** 2)) < 0.05


@pytest.mark.parametrize("seed", seeds(range(10)))
def test_noise_alone_has_no_outliers(seed):
    for noise in (0.01, 0.15):
        assert not outliers_of(sweep(published("dns").curve, noise, seed)).size


def test_performance_that_rises_is_refused_with_the_likely_reason():
    with pytest.raises(ObservationError, match=r"rises with latency by \d+ %; for durations name the column duration"):
        demand_fall(sweep(lambda x: 1 + x / 1000, 0.01))


def test_rises_within_noise_are_no_reason_to_refuse():
    demand_fall(sweep(lambda x: np.ones_like(x), 0.1))
    demand_fall(sweep(lambda x: np.where(x > 0, 1.0, 0.6), 0.02))  # a baseline without enough load is another fault


@pytest.mark.parametrize(("factor", "unit"), [(1e-3, "milliseconds"), (1e3, "nanoseconds")])
def test_latencies_in_another_unit_are_doubted(factor, unit):
    found = fit(normalise(X * factor, published("memcached-server").curve(X)))
    assert [unit in warning.message for warning in found.warnings if warning.code == "unit"] == [True]
