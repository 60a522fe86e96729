"""The capacity model: plans against real plans, sums of measured costs, and sizes beyond the measured ones."""

from dataclasses import astuple, replace
from datetime import date

import numpy as np
import pytest

from sinemora.fleet.inventory import agents
from sinemora.fleet.meshes.strategies.cost import Probing, ZonePlace, cost_of
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import turns_of
from sinemora.operations.capacity import coefficients
from sinemora.operations.capacity.coefficients import KEY_KEPT_S, Coefficients, Errors, Ingest, Line, Measured, Merge
from sinemora.operations.capacity.model import GIB, Fleet, Prices, TierKept, needs_of

MEASURED = Coefficients(
    measured_on=date(2026, 11, 26),
    host="a host",
    api=Ingest(1e-3, 1e-6, 1e-4),
    database=Ingest(2e-4, 2e-6, 1e-5),
    merge=Merge(1e-4, 1e-6, 3e-6),
    merge_database=Merge(2e-4, 2e-6, 4e-6),
    upload=Line(500, 50),
    frame=200,
    pair_sizes=[(10, 60), (60, 90), (900, 200)],
    api_memory=Line(200e6, 1000),
    worker_memory=Line(180e6, 2000),
    database_memory=500e6,
    measured=Measured(100, 10_000, 25, 499),
    errors=Errors(5, 5, 5),
)
TIERS = (TierKept("windows", 10, 3), TierKept("minutes", 60, 30))
EGRESS = EgressPrice("p", between_zones=0.01, between_regions=0.02, source="")
PRICES = Prices(20, 2, 0.1, EGRESS)


def fleet_of(vms: int, kind: StrategyKind, **settings: int) -> Fleet:
    strategy = Strategy(kind, settings.get("period", 10), 2)
    per_mesh = settings.get("vms_per_mesh", vms)
    return Fleet(vms, strategy, settings.get("zones", 6), settings.get("regions", 2), per_mesh, 10, Probing(1, 1, 1000))


@pytest.mark.parametrize("kind", StrategyKind)
@pytest.mark.parametrize("vms", [120, 301])
def test_packets_bytes_and_price_of_probing_are_those_of_a_real_plan(kind: StrategyKind, vms: int) -> None:
    fleet = fleet_of(vms, kind)
    needs = needs_of(fleet, TIERS, MEASURED, PRICES)
    sizes = [size for region in fleet.mesh_zones for size in region]
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    places = [ZonePlace("p", f"r{at}") for at, region in enumerate(fleet.mesh_zones) for _ in region]
    planned = ~np.eye(vms, dtype=bool)
    turns = turns_of(fleet.strategy, zone_of, planned, np.zeros(vms, bool), None, 1)
    plan = cost_of(turns, fleet.strategy.period, fleet.probing, zone_of, places, {"p": EGRESS})
    assert needs.rates.pairs_per_window == pytest.approx(plan.pairs_per_window, rel=0.02)
    assert needs.rates.packets_per_s == pytest.approx(plan.packets_per_s, rel=0.02)
    assert needs.rates.agent_packets_per_s == pytest.approx(plan.agent_packets_per_s, rel=0.02)
    assert needs.rates.agent_packets_per_s_max == pytest.approx(plan.agent_packets_per_s_max, rel=0.1)
    assert needs.rates.probe_bytes_per_s * 86_400 == pytest.approx(plan.bytes_per_day, rel=0.02)
    assert plan.usd_per_day is not None
    assert needs.money.probing == pytest.approx(30 * plan.usd_per_day, rel=0.03)


def test_processors_are_the_sum_of_measured_costs() -> None:
    # 100 VMs, every pair: 10 reports and 495 pairs a second. Each credential is read again: windows are 10 s.
    needs = needs_of(fleet_of(100, StrategyKind.FULL), TIERS, MEASURED, PRICES)
    assert needs.rates.reports_per_s == 10
    assert needs.rates.pairs_per_s == pytest.approx(495)
    assert needs.processors.api == pytest.approx(10 * (1e-3 + 1e-4) + 495e-6)
    # A minute has 100 frames of 4,950 pairs, merged from 29,700.
    assert needs.processors.workers == pytest.approx((100 * 1e-4 + 29_700 * 1e-6 + 4950 * 3e-6) / 60)
    merging = (100 * 2e-4 + 29_700 * 2e-6 + 4950 * 4e-6) / 60
    assert needs.processors.database == pytest.approx(10 * (2e-4 + 1e-5) + 495 * 2e-6 + merging)
    assert needs.processors.provided == 1
    assert needs.rates.upload_bytes_per_s == pytest.approx(10 * 500 + 495 * 50)


def test_a_credential_is_read_again_as_often_as_the_api_forgets_it() -> None:
    assert KEY_KEPT_S == agents.CACHED_S
    fleet = replace(fleet_of(100, StrategyKind.FULL), window_s=1)
    needs = needs_of(fleet, TIERS, MEASURED, PRICES)
    assert needs.processors.api == pytest.approx(100 * (1e-3 + 1e-4 / KEY_KEPT_S) + 4950e-6)


def test_disk_is_kept_days_of_frames_and_pairs() -> None:
    needs = needs_of(fleet_of(100, StrategyKind.FULL), TIERS, MEASURED, PRICES)
    assert needs.disk["windows"] == pytest.approx(3 * 8640 * (100 * 200 + 4950 * 60))
    assert needs.disk["minutes"] == pytest.approx(30 * 1440 * (100 * 200 + 4950 * 90))
    machines = needs.processors.provided * 20 + needs.memory.total / GIB * 2 + needs.disk_bytes / GIB * 0.1
    assert needs.money.machines == pytest.approx(machines)


def test_a_rotating_plan_has_more_pairs_in_a_minute_than_in_a_window() -> None:
    # Six windows of a period of ten: six tenths of all pairs, each measured once.
    needs = needs_of(fleet_of(101, StrategyKind.SPARSE), TIERS, MEASURED, PRICES)
    assert needs.rates.pairs_per_window == pytest.approx(505)
    assert needs.disk["minutes"] == pytest.approx(30 * 1440 * (101 * 200 + 3030 * 60))


def test_large_reports_are_several_frames() -> None:
    one = needs_of(fleet_of(500, StrategyKind.FULL), TIERS, MEASURED, PRICES)
    two = needs_of(fleet_of(1000, StrategyKind.FULL), TIERS, MEASURED, PRICES)
    assert one.disk["windows"] == pytest.approx(3 * 8640 * (500 * 200 + 124_750 * 60))
    assert two.disk["windows"] == pytest.approx(3 * 8640 * (2000 * 200 + 499_500 * 60))


def test_meshes_share_nothing_but_the_backend() -> None:
    whole = needs_of(fleet_of(100, StrategyKind.FULL), TIERS, MEASURED, PRICES)
    ten = needs_of(fleet_of(1000, StrategyKind.FULL, vms_per_mesh=100), TIERS, MEASURED, PRICES)
    assert ten.fleet.meshes == 10
    assert ten.rates.packets_per_s == pytest.approx(10 * whole.rates.packets_per_s)
    assert ten.rates.pairs_per_report == whole.rates.pairs_per_report
    assert ten.processors.busy == pytest.approx(10 * whole.processors.busy)


def test_what_exceeds_the_measured_sizes_is_named() -> None:
    assert needs_of(fleet_of(900, StrategyKind.FULL), TIERS, MEASURED, PRICES).beyond == ()
    beyond = needs_of(fleet_of(100_000, StrategyKind.FULL), TIERS, MEASURED, PRICES).beyond
    assert beyond == ("meshes of more than 10,000 VMs", "more than 499 pairs in a report")
    assert needs_of(fleet_of(100_000, StrategyKind.FULL, vms_per_mesh=900), TIERS, MEASURED, PRICES).beyond == ()


def test_a_price_is_unknown_without_one_of_the_provider() -> None:
    without = replace(PRICES, egress=None)
    assert needs_of(fleet_of(100, StrategyKind.FULL), TIERS, MEASURED, without).money.probing is None
    one_zone = fleet_of(100, StrategyKind.FULL, zones=1, regions=1)
    assert needs_of(one_zone, TIERS, MEASURED, without).money.probing == 0


def test_the_size_of_a_pair_is_interpolated() -> None:
    assert MEASURED.pair_bytes(1) == 60
    assert MEASURED.pair_bytes(60) == 90
    assert 90 < MEASURED.pair_bytes(300) < 200
    assert MEASURED.pair_bytes(1e6) == 200


def test_the_document_of_coefficients_is_read_as_it_was_written() -> None:
    assert coefficients.parse(coefficients.document(MEASURED)) == MEASURED


def test_the_stored_coefficients_are_within_the_bar() -> None:
    stored = coefficients.stored()
    assert max(stored.errors.processor, stored.errors.disk, stored.errors.memory) <= 15
    assert all(min(astuple(getattr(stored, name))) >= 0 for name in coefficients.KINDS)
    sizes = [size for _, size in stored.pair_sizes]
    assert sizes == sorted(sizes)
