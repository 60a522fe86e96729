"""Bands of curves, against quantiles of the errors that they state."""

import numpy as np
import pytest

from sinemora.applications.curves.core.band import DRAWS, TRANSFER_FACTOR, FittedBand, transfer_band
from sinemora.applications.curves.core.curve import through
from sinemora.applications.curves.core.library import LIBRARY

AT = np.linspace(0, 1, 201)


@pytest.mark.parametrize("entry", LIBRARY, ids=lambda entry: entry.key)
def test_a_published_curve_has_a_band_for_other_hardware(entry):
    band = transfer_band(entry.key, entry.curve, entry.residuals)
    at = AT * entry.curve.end_us
    low, middle, high = (curve(at) for curve in (band.low, entry.curve, band.high))
    assert (low[0], high[0]) == (1, 1)
    assert (low <= middle + 1e-9).all()
    assert (middle <= high + 1e-9).all()
    assert (low > 0).all()
    assert (high <= 1).all()
    # Lines between 256 knots smooth the steps of formulas within a few microseconds of them.
    away = np.abs(at[:, None] - entry.curve.starts_us[None] * np.array([[[1]], [[2]], [[0.5]]])).min(axis=(0, 2)) > 5
    assert (low[away] <= entry.curve(at * TRANSFER_FACTOR)[away] + 2e-3).all()
    assert (high[away] >= entry.curve(at / TRANSFER_FACTOR)[away] - 2e-3).all()
    assert (high - low).max() > 0.02


@pytest.mark.parametrize("entry", LIBRARY, ids=lambda entry: entry.key)
def test_draws_fall_and_are_within_the_band_as_often_as_it_states(entry):
    band = transfer_band(entry.key, entry.curve, entry.residuals)
    at = AT * entry.curve.end_us
    draws = band.draws(at)
    assert draws.shape == (DRAWS, at.size)
    assert (np.diff(draws, axis=1) <= 1e-12).all()
    inside = (draws >= band.low(at) - 0.01) & (draws <= band.high(at) + 0.01)
    assert inside.mean() >= 0.93


def test_draws_of_a_fit_scatter_as_its_band():
    curve = through([0, 100, 1000], [1, 0.8, 0.4])
    band = FittedBand("own", curve, through([0, 100, 1000], [1, 0.75, 0.3]), through([0, 100, 1000], [1, 0.83, 0.45]))
    draws = band.draws(np.array([0.0, 100, 110, 1000]))
    assert (draws[:, 0] == 1).all()
    assert np.quantile(draws[:, 1], [0.025, 0.5, 0.975]) == pytest.approx([0.75, 0.8, 0.83], abs=0.01)
    errors = (draws - draws.mean(axis=0))[:, 1:]
    near, far = (np.corrcoef(errors[:, 0], errors[:, other])[0, 1] for other in (1, 2))
    # The gain across a step is as uncertain as the step, also a fifth of the domain away.
    gain = np.diff(band.draws(np.array([100.0, 300.0])), axis=1)
    assert np.diff(np.quantile(gain, [0.025, 0.975])) > 0.1
    assert near > 0.95
    assert abs(far) < 0.5


def test_beyond_the_domain_draws_go_on_without_a_step_and_fall_at_most_as_the_square():
    curve = through([0, 100], [1, 0.5])
    band = FittedBand("own", curve, curve, curve)
    draws = band.draws(np.array([100.0, 100.01, 200.0]))
    assert draws[:, 1] == pytest.approx(draws[:, 0], rel=1e-3)
    # Half of the performance in a closed loop, all of it if nothing falls any more, a quarter by the square.
    assert np.quantile(draws[:, 2], [0.5, 0, 1]) == pytest.approx([0.25, 0.125, 0.5], abs=0.03)


def test_bands_of_one_key_draw_the_same_curves_and_others_different_ones():
    entry = LIBRARY[0]
    first, again, other = (
        transfer_band(key, entry.curve, entry.residuals).draws(np.array([200.0]))[:, 0] for key in ("a", "a", "b")
    )
    assert (first == again).all()
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.5
    assert sorted(first) == pytest.approx(sorted(other), abs=0.05)
