"""Curves, tables of them and the published ones, against plain arithmetic and the sources' own words."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.applications.curves.core.curve import CurveError, polynomial, through
from sinemora.applications.curves.core.library import LIBRARY, published
from sinemora.applications.curves.core.table import tabulate

# Threshold and powers of x as printed, UCAM-CL-TR-937 equations 5.4 to 5.7.
PRINTED = [
    ("memcached-server", 40, "1.067 -3.093e-3 4.084e-6 -1.898e-9"),
    ("strads-lasso", 20, "1.009 -2.095e-3 2.571e-6 -1.232e-9"),
    ("spark-glm", 200, "1.0199 -1.161e-4"),
    ("tensorflow-mnist", 40, "1.005 -5.146e-4 5.837e-7 -3.46e-10"),
]
latencies = st.floats(0, 5000)


@pytest.mark.parametrize(("key", "threshold", "powers"), PRINTED)
@given(x=st.floats(0, 1000))
def test_published_formulas_are_exact_in_their_domain(key, threshold, powers, x):
    exact = sum(Fraction(c) * Fraction(x) ** k for k, c in enumerate(powers.split())) if x >= threshold else 1
    assert abs(float(published(key).curve(x)) - exact) <= 1e-12


@pytest.mark.parametrize("entry", LIBRARY, ids=lambda entry: entry.key)
def test_nothing_is_extrapolated(entry):
    end = entry.curve.end_us
    assert entry.curve([end + 0.1, 2 * end, 1e9]).tolist() == [entry.curve.smallest] * 3
    assert entry.curve(end) == entry.curve.smallest


@pytest.mark.parametrize("entry", LIBRARY, ids=lambda entry: entry.key)
def test_published_curves_fall_within_0_and_1_from_their_threshold_on(entry):
    values = entry.curve(np.linspace(0, 1.2 * entry.curve.end_us, 5000))
    assert values[0] == 1
    assert (values > 0).all()
    assert (np.diff(values) <= 0).all()
    assert entry.curve(entry.flat_until_us - 1e-9) == 1


@pytest.mark.parametrize(
    ("entry", "point"),
    [(e, p) for e in LIBRARY for p in e.stated if not p.setup],
    ids=lambda value: getattr(value, "key", None) or f"{value.added_us:.0f}",
)
def test_published_curves_keep_near_what_their_sources_say(entry, point):
    # The authors' fit misses their own points by up to 0.04 (STRADS at 1 ms).
    ours = float(entry.curve(point.added_us))
    if point.relation == "<":
        assert ours <= point.performance
    elif point.relation == ">":
        assert ours >= point.performance
    else:
        assert ours == pytest.approx(point.performance, abs=0.04)


def test_unknown_latency_has_unknown_performance():
    curve = published("dns").curve
    assert np.isnan(curve([50, np.nan])).tolist() == [False, True]
    table = tabulate([curve])
    assert np.isnan(table.nearest([np.nan])).all()


@pytest.mark.parametrize(
    ("key", "performance", "budget_us"),
    [
        ("memcached-server", 0.95, 40),
        ("memcached-server", 0.5, 264),
        ("strads-lasso", 0.9, 56),
        ("dns", 0.74, 300),
        ("spark-glm", 0.95, 602),
        ("spark-glm", 0.9, None),
    ],
)
def test_budget_is_the_largest_latency_that_keeps_a_performance(key, performance, budget_us):
    curve = published(key).curve
    found_us = curve.budget_us(performance)
    if budget_us is None:
        assert found_us is None
    else:
        assert found_us == pytest.approx(budget_us, abs=0.6)
        assert curve(found_us) >= performance > curve(found_us + 0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: polynomial(40, [1.0, 1e-3], 1000),
        lambda: polynomial(0, [1.2, -1e-4], 1000),
        lambda: polynomial(0, [1.0, -2e-3], 1000),
        lambda: polynomial(1000, [1.0], 40),
        lambda: through([0, 10], [1, 1.1]),
        lambda: through([0, 10], [0.5, 0.6]),
        lambda: through([0, 10], [1, 0]),
        lambda: through([5, 10], [1, 0.5]),
        lambda: through([0, 10, 10], [1, 0.5, 0.4]),
        lambda: through([0, 10], [1, np.nan]),
    ],
)
def test_unlawful_curves_are_refused(wrong):
    with pytest.raises(CurveError):
        wrong()


def test_ten_microsecond_tables_round_to_the_nearest_step():
    curve = published("strads-lasso").curve
    table = tabulate([curve])
    for added_us, step in [(0, 0), (14.9, 10), (15.1, 20), (996, 1000), (4000, 1000)]:
        assert table.nearest([added_us])[0, 0] == curve(step)


@given(st.lists(latencies, min_size=1, max_size=50))
def test_tables_agree_with_the_curves(added_us):
    curves = [entry.curve for entry in LIBRARY]
    rows = tabulate(curves, 1).nearest(added_us)
    for column, curve in enumerate(curves):
        assert (rows[:, column] <= curve(np.floor(added_us)) + 1e-12).all()
        assert (rows[:, column] >= curve(np.ceil(added_us)) - 1e-12).all()
