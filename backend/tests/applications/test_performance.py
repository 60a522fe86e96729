"""What applications reach under given round trips, against answers worked out by hand."""

import numpy as np
import pytest

from sinemora.applications.curves.core.band import FittedBand, transfer_band
from sinemora.applications.curves.core.library import published
from sinemora.applications.performance import Sensitivity, graph, reached, star

CURVE = published("memcached-server").curve
EXACT = FittedBand("exact", CURVE, CURVE, CURVE)
PLAIN = Sensitivity(CURVE, EXACT, 0.0)
NAN = np.nan
# Round trips between three machines, µs.
TRIPS = np.array([[NAN, 100, 300], [100, NAN, NAN], [300, NAN, NAN]]) * 1e3


def at(*machines: int) -> np.ndarray:
    return np.array(machines, np.intp)


def test_a_star_is_the_mean_over_the_tasks_that_are_not_the_root():
    result = reached(star(0, 3), at(0, 1, 2), TRIPS, PLAIN)
    assert result.performance.tolist() == [float(CURVE(100)), float(CURVE(300))]
    assert result.mean() == pytest.approx((float(CURVE(100)) + float(CURVE(300))) / 2)
    assert result.worst == float(CURVE(300))


def test_the_costs_of_all_links_add_up_to_the_loss_of_the_application():
    result = reached(graph([(0, 1, 3.0), (0, 2, 1.0), (1, 2, 5.0)]), at(0, 1, 2), TRIPS, PLAIN)
    to_1, to_2, unknown = (np.arange(3) == link for link in range(3))
    assert result.cost(to_1) == pytest.approx(3 / 4 * (1 - float(CURVE(100))))
    assert result.cost(to_1) + result.cost(to_2) == pytest.approx(1 - result.mean())
    assert result.cost(unknown) is None


@pytest.mark.parametrize(
    ("machines", "measured", "mean"),
    [
        ((0, 1, -1), 1, float(CURVE(100))),  # the third waits to be placed
        ((1, 0, 2), 1, float(CURVE(100))),  # nobody measures between 1 and 2
        ((0, 0, 0), 2, 1.0),  # no network between tasks of one machine
        ((-1, 1, 2), 0, None),
    ],
)
def test_what_is_unknown_does_not_count(machines, measured, mean):
    result = reached(star(0, 3), at(*machines), TRIPS, PLAIN)
    assert (result.measured, result.mean()) == (measured, pytest.approx(mean) if mean is not None else None)


def test_beyond_the_domain_nothing_is_promised():
    result = reached(star(0, 2), at(0, 1), np.array([[NAN, 5e6], [5e6, NAN]]), Sensitivity(CURVE, EXACT, 0.0))
    assert result.extrapolated.tolist() == [True]
    assert result.performance.tolist() == [CURVE.smallest]
    assert (result.low.tolist(), result.high.tolist()) == ([0.0], [CURVE.smallest])


def test_a_published_curve_predicts_an_interval_with_width():
    band = transfer_band("memcached-server", CURVE, published("memcached-server").residuals)
    result = reached(star(0, 2), at(0, 1), TRIPS, Sensitivity(CURVE, band, 0.0))
    # Half and twice the latency, with 95 %: the band is at least that wide.
    assert result.low[0] <= CURVE(200) < result.performance[0] < CURVE(50) <= result.high[0]
