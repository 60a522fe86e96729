import numpy as np
import pytest

from sinemora.fleet.meshes.strategies.cost import LONG_EXCHANGE, SHORT_EXCHANGE, Probing, ZonePlace, cost_of
from sinemora.fleet.meshes.strategies.prices import EgressPrice, listed
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from tests.fleet.meshes.strategies.test_turns import turns

GIB_PER_PAIR = 8 * SHORT_EXCHANGE[1] * 86_400 / 2**30
PRICES = {"aws": EgressPrice("aws", 0.02, 0.05, ""), "gcp": EgressPrice("gcp", 0.01, 0.02, "")}
HOME, NEAR, FAR = ZonePlace("aws", "eu"), ZonePlace("aws", "eu"), ZonePlace("aws", "us")


def cost(sizes: list[int], places: list[ZonePlace], kind: StrategyKind = StrategyKind.FULL, period: int = 10):
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    of_plan = turns(kind, sizes, period), Strategy(kind, period, 2).period
    return cost_of(*of_plan, Probing(8, 1, 1000), zone_of, places, PRICES)


def test_a_full_mesh_of_ten_by_hand():
    found = cost([6, 4], [HOME, NEAR])
    assert found.pairs_per_window == 45
    # 9 peers, 8 exchanges per second of 2 packets each.
    assert found.agent_packets_per_s == found.agent_packets_per_s_max == 9 * 8 * 2
    assert found.packets_per_s == 45 * 8 * 2
    assert found.traffic.between_zones_bytes_per_day == pytest.approx(24 * GIB_PER_PAIR * 2**30)
    assert found.traffic.same_zone_bytes_per_day == pytest.approx(21 * GIB_PER_PAIR * 2**30)
    assert found.usd_per_day == pytest.approx(24 * GIB_PER_PAIR * 0.02)


def test_each_kind_of_traffic_has_its_price():
    found = cost([2, 1, 3], [HOME, NEAR, FAR])
    assert found.usd_per_day == pytest.approx(GIB_PER_PAIR * (2 * 0.02 + 9 * 0.05))


@pytest.mark.parametrize("other", [ZonePlace("gcp", "eu"), ZonePlace("onprem", "eu")])
def test_an_unknown_price_is_not_zero(other):
    assert cost([2, 2], [HOME, other]).usd_per_day is None
    assert cost([2, 2], [other, ZonePlace(other.provider, "us")]).usd_per_day == (
        None if other.provider == "onprem" else pytest.approx(4 * GIB_PER_PAIR * 0.02)
    )


def test_a_tenth_of_the_windows_costs_a_tenth():
    full, sparse = (cost([50, 50], [HOME, NEAR], kind) for kind in (StrategyKind.FULL, StrategyKind.SPARSE))
    assert sparse.packets_per_s == pytest.approx(full.packets_per_s / 10, rel=0.01)
    assert sparse.agent_packets_per_s_max <= 1.2 * sparse.agent_packets_per_s


@pytest.mark.parametrize(
    ("rate_hz", "deadline_ms", "exchange"),
    [(1, 1000, SHORT_EXCHANGE), (1, 900, LONG_EXCHANGE), (2, 400, LONG_EXCHANGE), (128, 100, SHORT_EXCHANGE)],
)
def test_an_exchange_is_short_if_the_next_request_follows_before_the_deadline(rate_hz, deadline_ms, exchange):
    assert Probing(rate_hz, 1, deadline_ms).exchange == exchange


def test_the_price_list_is_dated_and_complete():
    checked_on, prices = listed()
    assert checked_on.year >= 2026
    assert {"aws", "gcp", "azure"} <= prices.keys()
    assert all(price.source.startswith("https://") for price in prices.values())
