"""The capacity model: real plans, sums of measured costs, sizes beyond the measured ones; and its command."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinemora.fleet.inventory import agents
from sinemora.fleet.meshes.strategies.cost import Probing, ZonePlace, cost_of
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import turns_of
from sinemora.operations.capacity.coefficients import KEY_KEPT_S, Coefficients, stored
from sinemora.operations.capacity.model import GIB, Fleet, Needs, Prices, TierKept, needs_of

MEASURED = Coefficients(
    measured_on="2026-11-26",
    host="a host",
    api={"report": 1e-3, "pair": 1e-6, "vm": 1e-4},
    database={"report": 2e-4, "pair": 2e-6, "vm": 1e-5},
    merge={"frame": 1e-4, "read": 1e-6, "pair": 3e-6},
    merge_database={"frame": 2e-4, "read": 2e-6, "pair": 4e-6},
    upload={"report": 500, "pair": 50},
    frame_bytes=200,
    pair_sizes=[(10, 60), (60, 90), (900, 200)],
    api_memory={"process": 200e6, "vm": 1000},
    worker_memory={"process": 180e6, "pair": 2000},
    database_memory=500e6,
    measured={"vms_min": 100, "vms_max": 10_000, "pairs_min": 25, "pairs_max": 499},
    errors={},
)
TIERS = (TierKept("windows", 10, 3), TierKept("minutes", 60, 30))
EGRESS = EgressPrice("p", between_zones=0.01, between_regions=0.02, source="")
PRICES = Prices(20, 2, 0.1, date(2025, 1, 1), "")


def needs(vms: int, kind: StrategyKind = StrategyKind.FULL, price: EgressPrice | None = EGRESS, **more: Any) -> Needs:
    """Return the needs of VMs in six zones of two regions, unless `more` has other numbers."""
    settings = {"zones": 6, "regions": 2, "vms_per_mesh": vms, "window_s": 10, "probing": Probing(1, 1, 1000)} | more
    return needs_of(Fleet(vms, Strategy(kind, 10, 2), **settings), TIERS, MEASURED, PRICES, price)


@pytest.mark.parametrize("kind", StrategyKind)
@pytest.mark.parametrize("vms", [120, 301])
def test_packets_bytes_and_price_of_probing_are_those_of_a_real_plan(kind: StrategyKind, vms: int) -> None:
    found = needs(vms, kind)
    fleet = found.fleet
    sizes = [size for region in fleet.mesh_zones for size in region]
    zone_of = np.repeat(np.arange(len(sizes)), sizes)
    places = [ZonePlace("p", f"r{at}") for at, region in enumerate(fleet.mesh_zones) for _ in region]
    planned = ~np.eye(vms, dtype=bool)
    turns = turns_of(fleet.strategy, zone_of, planned, np.zeros(vms, bool), None, 1)
    plan = cost_of(turns, fleet.strategy.period, fleet.probing, zone_of, places, {"p": EGRESS})
    assert found.rates.pairs_per_window == pytest.approx(plan.pairs_per_window, rel=0.02)
    assert found.rates.packets_per_s == pytest.approx(plan.packets_per_s, rel=0.02)
    assert found.rates.agent_packets_per_s == pytest.approx(plan.agent_packets_per_s, rel=0.02)
    assert found.rates.probe_bytes_per_s * 86_400 == pytest.approx(plan.bytes_per_day, rel=0.02)
    assert plan.usd_per_day is not None
    assert found.probing_usd == pytest.approx(30 * plan.usd_per_day, rel=0.03)


def test_processors_are_the_sum_of_measured_costs() -> None:
    # 100 VMs, every pair: 10 reports and 495 pairs a second. Each credential is read again: windows are 10 s.
    found = needs(100)
    assert found.rates.reports_per_s == 10
    assert found.processors["api"] == pytest.approx(10 * (1e-3 + 1e-4) + 495e-6)
    # A minute has 100 frames of 4,950 pairs, merged from 29,700.
    assert found.processors["workers"] == pytest.approx((100 * 1e-4 + 29_700 * 1e-6 + 4950 * 3e-6) / 60)
    merging = (100 * 2e-4 + 29_700 * 2e-6 + 4950 * 4e-6) / 60
    assert found.processors["database"] == pytest.approx(10 * (2e-4 + 1e-5) + 495 * 2e-6 + merging)
    assert found.provided == 1
    assert found.rates.upload_bytes_per_s == pytest.approx(10 * 500 + 495 * 50)
    # In shorter windows a credential is read as often as the API forgets it.
    assert KEY_KEPT_S == agents.CACHED_S
    assert needs(100, window_s=1).processors["api"] == pytest.approx(100 * (1e-3 + 1e-4 / KEY_KEPT_S) + 4950e-6)


def test_disk_is_kept_days_of_frames_and_pairs() -> None:
    found = needs(100)
    assert found.disk["windows"] == pytest.approx(3 * 8640 * (100 * 200 + 4950 * 60))
    assert found.disk["minutes"] == pytest.approx(30 * 1440 * (100 * 200 + 4950 * 90))
    machines = found.provided * 20 + sum(found.memory.values()) / GIB * 2 + sum(found.disk.values()) / GIB * 0.1
    assert found.machines_usd == pytest.approx(machines)
    # Large reports are several frames.
    assert needs(1000).disk["windows"] == pytest.approx(3 * 8640 * (2000 * 200 + 499_500 * 60))


def test_a_rotating_plan_has_more_pairs_in_a_minute_than_in_a_window() -> None:
    # Six windows of a period of ten: six tenths of all pairs, each measured once.
    found = needs(101, StrategyKind.SPARSE)
    assert found.rates.pairs_per_window == pytest.approx(505)
    assert found.disk["minutes"] == pytest.approx(30 * 1440 * (101 * 200 + 3030 * 60))


def test_meshes_share_nothing_but_the_backend() -> None:
    whole, ten = needs(100), needs(1000, vms_per_mesh=100)
    assert ten.rates.packets_per_s == pytest.approx(10 * whole.rates.packets_per_s)
    assert sum(ten.processors.values()) == pytest.approx(10 * sum(whole.processors.values()))


def test_what_exceeds_the_measured_sizes_is_named() -> None:
    assert needs(900).beyond == ()
    assert needs(100_000).beyond == ("meshes of more than 10,000 VMs", "more than 499 pairs in a report")
    assert needs(100_000, vms_per_mesh=900).beyond == ()


def test_a_price_is_unknown_without_one_of_the_provider() -> None:
    assert needs(100, price=None).probing_usd is None
    assert needs(100, price=None, zones=1, regions=1).probing_usd == 0


def test_the_stored_coefficients_are_within_the_bar() -> None:
    assert max(stored().errors.values()) <= 15
    sizes = [stored().pair_bytes(exchanges) for exchanges in (1, 30, 60, 300, 1e6)]
    assert sizes == sorted(sizes)


PAGE = Path(__file__).resolve().parents[4] / "docs" / "capacity.md"


def test_json_has_all_figures(run) -> None:
    asked = ("--vms", "500", "--vms", "5000", "--strategy", "sparse", "--provider", "aws")
    document = json.loads(run("capacity", *asked, "--json"))
    assert [(item["vms"], item["strategy"]) for item in document["items"]] == [(500, "sparse"), (5000, "sparse")]
    small, large = document["items"]
    assert large["rates"]["reports_per_s"] == pytest.approx(500)
    assert large["processors"]["busy"] > small["processors"]["busy"] > 0
    assert set(small["disk_bytes"]) == {"windows", "minutes", "quarters", "hours", "days"}
    assert small["usd_per_month"]["probing"] > 0
    assert set(document["error_percent"]) == {"processor", "disk", "memory"}
    assert (document["usd"]["core_month"], document["usd"]["as_of"]) == (27, "2025-01-01")
    assert document["measured"]["vms_max"] == 10_000


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "--vms"),
        (("--vms", "1"), "'--vms': 1 is not in the range"),
        (("--vms", "100", "--strategy", "dense"), "'dense' is not one of"),
        (("--vms", "100", "--period", "61"), "'--period': 61 is not in the range"),
        (("--vms", "100", "--zones", "2", "--regions", "3"), "3 regions with 2 zones"),
        (("--vms", "100", "--provider", "acme"), "There is no list price of 'acme'. Known: aws"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[str, ...], part: str, run) -> None:
    assert part in run("capacity", *arguments, code=2)


def test_the_page_shows_what_the_command_prints(run) -> None:
    """The table of the documentation is the output of the command that stands above it."""
    _, block, _ = PAGE.read_text().split("```", 2)
    command, *lines = block.strip().splitlines()
    name, _, options = command.removeprefix("$ ").partition(" capacity ")
    assert name == "sinemora"
    assert [line.rstrip() for line in run("capacity", *options.split()).splitlines()] == lines
