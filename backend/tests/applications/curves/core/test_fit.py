"""Fitting: lawful whatever comes in, close to the truth behind noisy samples, without rows that do not belong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.applications.curves.core import families
from sinemora.applications.curves.core.fit import FAMILIES, fit
from sinemora.applications.curves.core.formulas import cubic_coefficients
from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.observations import ObservationError, normalise
from sinemora.applications.curves.core.outliers import demand_fall, outliers_of
from tests.seeds import examples, seeds

FORMULAS = ("memcached-server", "strads-lasso", "spark-glm", "tensorflow-mnist")
ALL = (
    families.HYPERBOLIC,
    families.CLOSED_LOOP,
    families.LINEAR,
    families.CUBIC,
    families.TWO_STAGE,
    families.piecewise(np.array([0, 0.1, 0.4, 1.0])),
)


def noisy(key, n, noise, seed, repeats=1, baseline=1.0):
    """Samples of a published curve at `n` equal steps."""
    rng = np.random.default_rng(seed)
    curve = published(key).curve
    x = np.repeat(np.linspace(0, curve.end_us, n + 1)[1 if baseline else 0 :], repeats)
    return curve, normalise(x, curve(x) * (1 + noise * rng.standard_normal(x.size)), baseline=baseline)


@pytest.mark.parametrize("family", ALL, ids=lambda family: family.name)
@given(data=st.data())
def test_every_member_of_every_family_is_lawful(family, data):
    z = np.array([data.draw(st.lists(st.floats(-8, 8), min_size=family.dimensions, max_size=family.dimensions))])
    p = family.at(z, np.linspace(0, 1, 300))[0]
    assert p[0] == 1
    assert (p > 0).all()
    assert (p <= 1 + 1e-12).all()
    assert (np.diff(p) <= 1e-12).all()


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_written_polynomials_are_the_fitted_ones(z):
    z = np.array([z])
    p = families.CUBIC.parameters(z)
    x = np.linspace(p["threshold"][0] * 800 + 1e-6, 800, 50)
    written = np.polynomial.polynomial.polyval(x, cubic_coefficients(p, 800))
    # A threshold next to the end of the sweep makes large coefficients that cancel.
    assert written == pytest.approx(families.CUBIC.curve(z, x / 800)[0], abs=1e-6)


positive = st.floats(1e-3, 1e3)


@pytest.mark.thorough
@settings(max_examples=examples(40))
@given(
    rows=st.lists(st.tuples(st.integers(0, 10**7), positive), min_size=3, max_size=20, unique_by=lambda row: row[0]),
    baseline=st.none() | positive,
    metric=st.sampled_from(["rate", "duration"]),
)
def test_any_rows_give_a_curve_and_band_that_never_rise_within_0_and_1(rows, baseline, metric):
    x, y = (np.array(column) for column in zip(*rows, strict=True))
    x = x / 1000
    if baseline is None:
        x[np.argmin(x)] = 0
    fitted = fit(normalise(x, y, metric=metric, baseline=baseline))
    at = np.linspace(0, 1.3 * x.max(), 400)
    for curve in (fitted.low, fitted.curve, fitted.high):
        p = curve(at)
        assert (p > 0).all()
        assert (p <= 1).all()
        assert (np.diff(p) <= 0).all()
    band = fitted.at(at[at <= fitted.curve.end_us])
    assert (band.low <= band.performance).all()
    assert (band.performance <= band.high).all()


@pytest.mark.parametrize("key", FORMULAS)
def test_exact_samples_give_the_curve_back(key):
    curve, samples = noisy(key, 25, 0, seed=0)
    fitted = fit(samples)
    at = np.linspace(0, 1000, 400)
    assert np.sqrt(np.mean((fitted.curve(at) - curve(at)) ** 2)) < 0.006


def test_the_same_samples_give_the_same_fit():
    _, samples = noisy("dns", 12, 0.05, seed=4)
    one, two = fit(samples), fit(samples)
    assert one.curve(np.arange(1000)).tolist() == two.curve(np.arange(1000)).tolist()
    assert one.reason == two.reason


@pytest.mark.thorough
@pytest.mark.parametrize("repeats", [1, 3])
def test_recovers_curves_within_half_the_noise_and_the_band_holds_them(repeats):
    errors, covered = [], []
    for index in range(16):
        noise = (0.01, 0.03, 0.1)[index % 3]
        baseline = 1.0 if repeats == 1 else None
        curve, samples = noisy(FORMULAS[index % 4], 6 + index % 20, noise, index, repeats, baseline)
        fitted = fit(samples)
        at = np.linspace(0, 1000, 101)
        band = fitted.at(at)
        errors.append(np.sqrt(np.mean((band.performance - curve(at)) ** 2)) / noise)
        covered.append(np.mean((band.low <= curve(at) + 1e-9) & (curve(at) <= band.high + 1e-9)))
    assert np.median(errors) <= 0.5
    # 32 curves are few and their points go together: the standard deviation of this mean is about 0.025.
    assert 0.88 <= np.mean(covered) <= 1


@pytest.mark.parametrize(("key", "within_us"), [("memcached-server", 20), ("strads-lasso", 20), ("dns", 40)])
def test_finds_the_threshold(key, within_us):
    fitted = [fit(noisy(key, 20, 0.05, seed)[1]).threshold for seed in range(8)]
    truth = published(key).flat_until_us
    assert np.median([abs(threshold.at_us - truth) for threshold in fitted]) <= within_us
    assert np.mean([threshold.low_us <= truth <= threshold.high_us for threshold in fitted]) >= 0.75


def test_a_baseline_measured_badly_is_corrected():
    curve, _ = noisy("strads-lasso", 5, 0, 0)
    x = np.concatenate(([0], np.linspace(5, 1000, 30)))
    y = 1e5 * curve(x)
    y[0] *= 0.9
    fitted = fit(normalise(x, y))
    assert fitted.samples.baseline * fitted.baseline_factor == pytest.approx(1e5, rel=0.05)
    assert "baseline_not_saturated" in [warning.code for warning in fitted.warnings]


def test_beyond_the_domain_anything_lower_is_possible():
    _, samples = noisy("strads-lasso", 12, 0.02, 1)
    band = fit(samples).at([1000, 1500, np.nan])
    assert band.extrapolated.tolist() == [False, True, False]
    assert band.performance[1] == band.performance[0]
    assert (band.low[0] > 0.1, band.low[1]) == (True, 0)
    assert np.isnan([band.performance[2], band.low[2], band.high[2]]).all()


def test_the_reason_names_the_families_and_their_shares():
    _, samples = noisy("memcached-server", 30, 0.01, 2)
    fitted = fit(samples)
    assert fitted.chosen == fitted.candidates[0].family == "cubic"
    assert "Best leave-one-out prediction of 30 samples: “flat, then a falling cubic”" in fitted.reason
    assert fitted.candidates[0].formula.startswith("1 below")
    assert sum(candidate.weight for candidate in fitted.candidates) == pytest.approx(1)


@pytest.mark.parametrize("name", FAMILIES)
def test_one_family_can_be_asked_for(name):
    _, samples = noisy("tensorflow-mnist", 15, 0.02, 3)
    fitted = fit(samples, among=[name])
    assert [candidate.family for candidate in fitted.candidates] == [name]
    assert fitted.curve(0) == 1


@pytest.mark.parametrize(("among", "words"), [(["spline"], "'spline' is not one of"), ([], "none given")])
def test_unknown_families_are_refused(among, words):
    with pytest.raises(ObservationError, match=words):
        fit(noisy("dns", 8, 0.01, 0)[1], among=among)


@pytest.mark.parametrize("baseline", [None, 1.0])
def test_steps_may_be_anywhere_between_their_samples_and_the_curve_warns_of_that(baseline):
    x = np.linspace(0, 1000, 21)[baseline is not None :]
    y = np.select([x < 190, x < 610], [1, 0.7], 0.3) * (1 + 0.01 * np.tile([1, -1, 0], 7)[: x.size])
    fitted = fit(normalise(x, y, baseline=baseline))
    assert fitted.chosen == "steps"
    # The steps lie between 150 and 200 µs and between 600 and 650 µs.
    at = fitted.at([100, 155, 195, 300, 500, 605, 645, 800])
    assert at.low == pytest.approx([1, 0.7, 0.7, 0.7, 0.7, 0.3, 0.3, 0.3], abs=0.03)
    assert at.high == pytest.approx([1, 1, 1, 0.7, 0.7, 0.7, 0.7, 0.3], abs=0.03)
    assert any("between 600 and 650 µs" in one.message for one in fitted.warnings if one.code == "steps")


X = np.linspace(0, 1000, 16)
WIGGLE = 0.003 * np.tile([1, -1], 8)


@pytest.mark.parametrize(
    ("x", "y", "code"),
    [
        (X[::4], 1 - X[::4] / 2000, "few_points"),
        (X, 1 - 0.8 * np.sin(X / 1000 * np.pi) + WIGGLE, "not_monotone"),
        (X, np.where(X > 0, 1.2, 1.0) - X / 2000 + WIGGLE, "baseline_not_saturated"),
        (X, np.ones(16) + WIGGLE, "no_effect"),
        (X, 1 - X / 10_000 + WIGGLE, "short_sweep"),
        (np.concatenate((X[:4], X[-4:])), 1 / (1 + np.concatenate((X[:4], X[-4:])) / 300), "gap"),
        (X, (1 - X / 2000) * np.tile([1.5, 0.6], 8), "noisy"),
        (X, 1 / (1 + X / 300) + WIGGLE + 0.2 * (np.arange(16) == 8), "outlier"),
    ],
)
def test_warns(x, y, code):
    fitted = fit(normalise(x, y, baseline=1.0))
    assert code in [warning.code for warning in fitted.warnings]


def test_good_samples_raise_no_warning():
    _, samples = noisy("strads-lasso", 20, 0.02, 7)
    assert fit(samples).warnings == ()


def test_residuals_are_what_the_plot_needs():
    _, samples = noisy("strads-lasso", 25, 0.03, 8)
    fitted = fit(samples)
    assert fitted.residuals == pytest.approx(samples.performance - fitted.fitted)
    assert np.std(fitted.standardised) == pytest.approx(1, abs=0.35)
    assert fitted.noise == pytest.approx(0.03, rel=0.6)


STEPS = np.linspace(0, 1000, 20)


def sweep(truth, noise=0.03, seed=1, **wrong):
    """Rows of a curve with noise; `wrong` is the factor of rows by their position: r5=10."""
    rng = np.random.default_rng(seed)
    y = truth(STEPS) * (1 + noise * rng.standard_normal(STEPS.size))
    for name, factor in wrong.items():
        y[int(name[1:])] *= factor
    return normalise(STEPS, y)


# A tenth of little is within the noise of a steep fall: the row at 842 µs is too high only.
@pytest.mark.parametrize(("at", "factor"), [(3, 10), (3, 0.1), (9, 10), (9, 0.1), (16, 10)])
def test_one_wrong_row_is_named_and_changes_little(at, factor):
    truth = published("memcached-server").curve
    found = fit(sweep(truth, **{f"r{at}": factor}))
    (warning,) = [warning for warning in found.warnings if warning.code == "outlier"]
    assert f"{STEPS[at]:.0f} µs" in warning.message
    assert found.samples.added_us.size == STEPS.size - 1
    assert np.sqrt(np.mean((found.curve(STEPS) - truth(STEPS)) ** 2)) < 0.05


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
    found = fit(normalise(STEPS * factor, published("memcached-server").curve(STEPS)))
    assert [unit in warning.message for warning in found.warnings if warning.code == "unit"] == [True]
