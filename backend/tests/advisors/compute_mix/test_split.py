"""Splits, profiles and provider prices against brute force and the source.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
chapter 4. Costs follow its equations with the parameters of figure 4.2 (utilisation limit 0.9); the parameters of
figure 4.5 are recovered from its printed prices.
"""

from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.advisors.compute_mix.core.load_profile import Infeasible, through_hours
from sinemora.advisors.compute_mix.core.market import Market, equilibrium, peaks
from sinemora.advisors.compute_mix.core.mix import Serverless, VmType, cost_curve, mix
from sinemora.advisors.compute_mix.core.queueing import Service, Target
from sinemora.advisors.compute_mix.core.split import Prices, Regime, cheapest, serverless_only, vm_only, vms_for
from tests.seeds import examples


@pytest.mark.parametrize(
    ("price", "load", "cost", "vms", "to_serverless"),
    [
        # Price of a busy container; rates 10 and 7, VM price 1, limit 0.9.
        (10.0, 3.0, 1.0, 1, 0.0),
        (10.0, 8.0, 2.0, 2, 0.0),
        (10.0, 12.0, 2.0, 2, 0.0),
        (10.0, 15.0, 3.0, 3, 0.0),
        (3.0, 3.0, 0.9, 0, 3.0),
        (3.0, 8.0, 1.51, 1, 1.7),
        (3.0, 12.0, 2.0, 2, 0.0),
        (3.0, 15.0, 2.72, 2, 2.4),
        (1.3, 3.0, 0.39, 0, 3.0),
        (1.3, 8.0, 1.04, 0, 8.0),
        (1.3, 12.0, 1.56, 0, 12.0),
        (1.3, 15.0, 1.95, 0, 15.0),
    ],
)
def test_splits_of_the_source(price: float, load: float, cost: float, vms: int, to_serverless: float):
    found = cheapest(load, Prices(6.3, 1.0, price / 10 / 3600))
    assert found.cost_per_hour == pytest.approx(cost, abs=1e-6)
    assert found.serverless_per_s == pytest.approx(to_serverless, abs=1e-6)
    assert found.vms == vms


def figure_market(load: float) -> Market:
    """Return the market of figure 4.5."""
    return Market(load, vm_rate=1, serverless_rate=2, vm_price=1, vm_cost=0.1, utilisation_max=0.9)


@pytest.mark.parametrize(
    ("load", "profits", "best"),
    [
        # Closed form: p1 = λ(1/0.9 - 0.1/4); p2 = 0.9 n + 1 - 0.1 e/4; p3 = 0.9 (n + 1).
        (3.0, (3 * (1 / 0.9 - 0.025), 0.9 * 3 + 1 - 0.025 * 0.3, 3.6), Regime.MIXED),
        (15.0, (15 * (1 / 0.9 - 0.025), 0.9 * 16 + 1 - 0.025 * 0.6, 15.3), Regime.SERVERLESS_ONLY),
    ],
)
def test_profits_of_the_source(load: float, profits: tuple[float, ...], best: Regime):
    market = figure_market(load)
    assert [peak.profit for peak in peaks(market)] == pytest.approx(profits, abs=1e-6)
    assert equilibrium(market).regime is best


@pytest.mark.parametrize(("load", "first", "second"), [(3.0, 2.2222, 6.6667), (15.0, 2.2222, 3.3333)])
def test_the_split_changes_at_the_prices_of_the_source(load: float, first: float, second: float):
    """Figure 4.5 prints 2.22; 6.6 and 3.4."""
    market = figure_market(load)
    for price, full in ((first, 0), (second, market.full)):
        assert market.split(price - 1e-4).vms <= full < market.split(price + 1e-4).vms


CAPACITIES = st.floats(0.1, 20)
# Many loads are an exact multiple of the capacity.
LOADS = st.one_of(st.floats(0, 300), st.builds(lambda vms, capacity: vms * capacity, st.integers(0, 29), CAPACITIES))


@settings(max_examples=examples(400))
@given(LOADS, CAPACITIES, st.floats(0.01, 5), st.floats(0.001, 1))
def test_no_other_number_of_vms_is_cheaper(load: float, capacity: float, vm_price: float, job_price: float):
    prices = Prices(capacity, vm_price, job_price / 3600)
    costs = [
        vms * vm_price + prices.serverless_cost(max(load - vms * capacity, 0.0))
        for vms in range(ceil(load / capacity) + 2)
    ]
    found = cheapest(load, prices)
    assert found.cost_per_hour == pytest.approx(min(costs), rel=1e-6, abs=1e-6)
    assert found.vms * capacity + found.serverless_per_s >= load - 1e-6 * (1 + load)


@pytest.mark.parametrize(
    ("load", "job_price", "regime"),
    [
        (3.0, 1.3 / 10, Regime.SERVERLESS_ONLY),
        (8.0, 3 / 10, Regime.MIXED),
        (12.6, 3 / 10, Regime.VM_ONLY),  # an exact multiple of the capacity
        (12.6 + 1e-12, 3 / 10, Regime.VM_ONLY),
        (3.0, 10 / 10, Regime.VM_ONLY),
    ],
)
def test_regimes(load: float, job_price: float, regime: Regime):
    assert cheapest(load, Prices(6.3, 1.0, job_price / 3600)).regime is regime


def test_what_keeps_no_target_is_left_out():
    assert cheapest(5.0, Prices(0.0, 1.0, None)).regime is Regime.INFEASIBLE
    assert cheapest(5.0, Prices(0.0, 1.0, 1e-6)).regime is Regime.SERVERLESS_ONLY
    assert cheapest(5.0, Prices(2.0, 1.0, None)).vms == 3
    assert vm_only(5.0, Prices(0.0, 1.0, 1e-6)) is None
    assert serverless_only(5.0, Prices(2.0, 1.0, None)) is None
    assert cheapest(5.0, Prices(2.0, 1.0, 0.0)).cost_per_hour == 0.0


# The largest load needs three VMs of 3.0/s; long rentals overlap.
VMS_MAX = 5


@settings(max_examples=examples(30))
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=4),
    st.integers(1, 5),
    st.floats(0.05, 3),
    st.booleans(),
)
def test_a_profile_costs_what_the_best_of_all_rentals_costs(
    loads: list[int], term: int, job_cost: float, with_serverless: bool
):
    """Rentals start at any hour and last the term or longer, also into the next turn of the profile."""
    prices = Prices(3.0, 1.0, job_cost / 3600 if with_serverless else None)
    hours = len(loads)
    rentals = [
        np.bincount([(start + at) % hours for at in range(length)], minlength=hours)
        for start, length in product(range(hours), range(term, 2 * hours))
    ]
    if term >= hours:  # such a term keeps one number of VMs
        rentals = [np.ones(hours, int)]
    sums = {(0,) * hours}
    added = sums
    while added:
        both = {tuple(np.add(vms, rental)) for vms in added for rental in rentals}
        added = {vms for vms in both - sums if max(vms) <= VMS_MAX}
        sums |= added
    best = min(
        sum(vms) + sum(prices.serverless_cost(max(load - 3.0 * n, 0.0)) for load, n in zip(loads, vms, strict=True))
        for vms in sums
    )
    found = through_hours(loads, prices, term)
    assert sum(hour.cost for hour in found) == pytest.approx(best, abs=1e-6)


@given(
    st.lists(st.floats(0, 200), min_size=1, max_size=8),
    st.floats(0.5, 20),
    st.floats(0.01, 3),
)
def test_a_profile_with_one_number_of_vms_costs_the_least_of_all_numbers(
    loads: list[float], capacity: float, job_cost: float
):
    prices = Prices(capacity, 1.0, job_cost / 3600)
    most = max(vms_for(load, capacity) for load in loads)
    costs = [
        sum(vms + prices.serverless_cost(max(load - vms * capacity, 0.0)) for load in loads) for vms in range(most + 1)
    ]
    found = through_hours(loads, prices, len(loads))
    assert len({hour.vms for hour in found}) == 1
    assert sum(hour.cost for hour in found) == pytest.approx(min(costs), abs=1e-6)


def test_a_profile_of_many_vms_is_found_at_once():
    # 143 million numbers of VMs could be tried one by one.
    found = through_hours([1e9, 5e8], Prices(7.0, 0.1, 1e-5), 2)
    assert found[0].vms == 142857143


def test_a_profile_without_any_way_to_keep_the_target():
    with pytest.raises(Infeasible):
        through_hours([1.0, 2.0], Prices(0.0, 1.0, None), 1)
    assert [hour.vms for hour in through_hours([1.0, 2.0], Prices(0.0, 1.0, 1e-3), 1)] == [0, 0]


@settings(max_examples=examples(200))
@given(
    st.floats(0.2, 60),
    st.floats(0.2, 5),
    st.floats(1.0, 4),
    st.floats(0.01, 0.99),
    st.floats(0.3, 0.99),
)
def test_no_price_of_a_grid_pays_the_provider_more(load: float, rate: float, faster: float, cost: float, limit: float):
    market = Market(load, rate, rate * faster, 1.0, cost, limit)
    best = equilibrium(market)
    highest = 2 * (market.switch_to_vms or market.switch_to_mixed)
    profits = [market.profit(at) for at in np.linspace(0, min(highest, 1e6), 800)[1:].tolist()]
    assert max(profits) <= best.profit * (1 + 1e-9) + 1e-9
    assert best.profit == max(peak.profit for peak in peaks(market))


def test_a_multiple_of_the_capacity_has_one_switch():
    market = Market(1.8, 1.0, 2.0, 1.0, 0.1, 0.9)
    assert market.switch_to_vms is None
    assert [peak.regime for peak in peaks(market)] == [Regime.SERVERLESS_ONLY, Regime.VM_ONLY]
    assert peaks(market)[1].profit == pytest.approx(2 * 0.9)


SMALL = VmType("small", 1.0, Service(0.1, 1))
FAST = VmType("fast", 1.5, Service(0.02, 1))


def test_a_slower_network_costs_more_and_ends_in_no_mix():
    target = Target(0.5)
    offer = Serverless(Service(0.12, 1), 3 / 3600 / 8)
    costs = []
    for network_s in (0.0, 0.2, 0.3, 0.37):
        best = mix(12.0, target, [SMALL], offer, network_s).best
        costs.append(best.split.cost_per_hour)
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    far = mix(12.0, target, [SMALL], offer, 0.45)
    assert (far.best, far.options[0].utilisation_max) == (None, 0.0)


def test_the_cheapest_vm_type_is_the_best_and_savings_are_never_negative():
    found = mix(40.0, Target(0.3, 95), [SMALL, FAST], Serverless(Service(0.1, 1), 1e-4))
    assert found.best.vm is FAST
    assert all(option.saving_per_hour is None or option.saving_per_hour >= 0 for option in found.options)
    curve = cost_curve(found.best, 100.0)
    assert (curve.load_per_s[0], curve.load_per_s[-1], curve.mix[0]) == (0, 100, 0)
    assert all(a <= b + 1e-9 for a, b in zip(curve.mix, curve.vms_alone or [], strict=True))
