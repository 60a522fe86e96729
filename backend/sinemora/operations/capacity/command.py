"""`sinemora capacity`: what the backend needs for a number of VMs, and what probing costs."""

import tomllib
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from typer import BadParameter, Option, Typer

from sinemora.fleet.meshes.strategies import prices as egress
from sinemora.fleet.meshes.strategies.cost import Probing
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import PERIOD_WINDOWS_RANGE, Strategy, StrategyKind
from sinemora.kit.config import settings
from sinemora.operations.capacity.coefficients import stored
from sinemora.operations.capacity.model import GIB, Fleet, Needs, Prices, TierKept, needs_of
from sinemora_client.commands import print_json, table

_EPILOG = """\b
Examples:
  sinemora capacity --vms 1000
  sinemora capacity --vms 1000 --vms 10000 --strategy sparse --period 20 --zones 12 --regions 3 --provider aws
  sinemora capacity --vms 100000 --vms-per-mesh 1000 --strategy zones --json

Packets and bytes of probing follow from the plan. Processors, memory and disk are predicted from measured coefficients;
the last line shows their date and errors. Without --strategy all four are shown.

Exit codes: 0 success, 2 invalid options."""

HEADER = (
    "VMs", "strategy", "pairs a report", "packets/s", "an agent", "probing MB/s", "cores busy", "provide",
    "memory GiB", "disk GiB", "machines $/month", "probing $/month",
)  # fmt: skip

_LOSS_DEADLINE_MS = 1000
"""Default of a mesh."""

app = Typer(add_completion=False, rich_markup_mode=None)


def kept_tiers(window_s: int) -> tuple[TierKept, ...]:
    """Return the tiers of the store with their retention; the first has the windows as reported."""
    kept = settings()
    return (
        TierKept("windows", window_s, kept.retention_raw_days),
        TierKept("minutes", 60, kept.retention_1m_days),
        TierKept("quarters", 900, kept.retention_15m_days),
        TierKept("hours", 3600, kept.retention_1h_days),
        TierKept("days", 86_400, kept.retention_1d_days),
    )


@cache
def list_prices() -> Prices:
    return Prices(**tomllib.loads(files(__package__).joinpath("prices.toml").read_text("utf-8")))


@app.command("capacity", epilog=_EPILOG)
def capacity(
    vms: Annotated[list[int], Option(help="Number of VMs; repeatable.", min=2, max=10_000_000)],
    strategy: Annotated[
        list[StrategyKind] | None, Option(help="Strategy of the plan; repeatable.", show_default="all")
    ] = None,
    zones: Annotated[int, Option(help="Zones of a mesh.", min=1, max=1000)] = 6,
    regions: Annotated[int, Option(help="Regions that the zones lie in.", min=1, max=100)] = 1,
    vms_per_mesh: Annotated[
        int | None, Option(help="VMs of a mesh; more VMs are spread over several meshes.", min=2, show_default="all")
    ] = None,
    period: Annotated[
        int, Option(help="Period of the turns, windows.", min=PERIOD_WINDOWS_RANGE[0], max=PERIOD_WINDOWS_RANGE[1])
    ] = Strategy().period_windows,
    window_s: Annotated[int, Option("--window", help="Length of a window, s.", min=1, max=60)] = 10,
    rate_hz: Annotated[int, Option("--rate", help="Exchanges of a flow per second.", min=1, max=128)] = 1,
    flows: Annotated[int, Option(help="Flows of a pair.", min=1, max=16)] = 1,
    provider: Annotated[
        str | None, Option(help="Provider whose list price of traffic counts.", show_default="no price")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Predict what the backend needs for a number of VMs, and what probing costs."""
    if regions > zones:
        raise BadParameter(f"{regions} regions with {zones} zones: a region has at least one.", param_hint="--regions")
    _, listed_egress = egress.listed()
    if provider is not None and provider not in listed_egress:
        known = ", ".join(sorted(listed_egress))
        raise BadParameter(f"There is no list price of '{provider}'. Known: {known}.", param_hint="--provider")
    price = listed_egress[provider] if provider else None
    probing = Probing(rate_hz, flows, _LOSS_DEADLINE_MS)
    fleets = [
        Fleet(count, Strategy(kind, period), zones, regions, vms_per_mesh or count, window_s, probing)
        for count in vms
        for kind in strategy or StrategyKind
    ]
    needs = [needs_of(fleet, kept_tiers(window_s), stored(), list_prices(), price) for fleet in fleets]
    if as_json:
        print_json(_as_json(needs, price))
    else:
        _print(needs, price)


def row_of(needs: Needs) -> tuple[str, ...]:
    """Return the row of the printed table; a star marks what lies beyond the measured sizes."""
    rates = needs.rates
    return (
        f"{needs.fleet.vms:,}",
        needs.fleet.strategy.kind + (" *" if needs.beyond else ""),
        _short(rates.pairs_per_report),
        _short(rates.packets_per_s),
        _short(rates.agent_packets_per_s),
        _short(rates.probe_bytes_per_s / 1e6),
        _short(sum(needs.processors.values())),
        f"{needs.provided:,}",
        _short(sum(needs.memory.values()) / GIB),
        _short(sum(needs.disk.values()) / GIB),
        _short(needs.machines_usd),
        "unknown" if needs.probing_usd is None else _short(needs.probing_usd),
    )


def _short(value: float) -> str:
    """Return a number with three significant digits at most, and two after a point."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 or rounded == 0 else f"{float(f'{value:.2g}'):g}"


def _print(needs: list[Needs], price: EgressPrice | None) -> None:
    print(table(HEADER, [row_of(one) for one in needs]))
    for reason in sorted({reason for one in needs for reason in one.beyond}):
        print(f"* beyond what was measured: {reason}")
    measured, prices = stored(), list_prices()
    errors, sizes = measured.errors, measured.measured
    print(
        f"Measured on {measured.measured_on} on {measured.host}, in meshes of {sizes['vms_min']:,} to"
        f" {sizes['vms_max']:,} VMs with {sizes['pairs_min']:,.0f} to {sizes['pairs_max']:,.0f} pairs in a report."
        f" Largest error at sizes not used to fit: processors {errors['processor']:.0f} %,"
        f" disk {errors['disk']:.0f} %, memory {errors['memory']:.0f} %."
    )
    print(
        f"Machines: {prices.core_month:g} USD a month for a processor, {prices.memory_gib_month:g} for a GiB of memory,"
        f" {prices.disk_gib_month:g} for a GiB of disk; list prices of {prices.as_of}, {prices.source}."
    )
    if price is not None:
        print(
            f"Probing: {price.between_zones:g} USD for a GiB between zones, {price.between_regions:g}"
            f" between regions; list prices of {egress.listed()[0]}, {price.source}."
        )


def _as_json(needs: list[Needs], price: EgressPrice | None) -> dict[str, Any]:
    measured = stored()
    return {
        "measured_on": measured.measured_on,
        "host": measured.host,
        "measured": measured.measured,
        "error_percent": measured.errors,
        "usd": asdict(list_prices()) | {"as_of": str(list_prices().as_of), "egress": price and asdict(price)},
        "items": [_item(one) for one in needs],
    }


def _item(needs: Needs) -> dict[str, Any]:
    fleet = needs.fleet
    return {
        "vms": fleet.vms,
        "strategy": fleet.strategy.kind,
        "meshes": fleet.meshes,
        **{name: getattr(fleet, name) for name in ("vms_per_mesh", "zones", "regions", "window_s")},
        "period_windows": fleet.strategy.period_windows,
        **asdict(fleet.probing),
        "rates": asdict(needs.rates),
        "processors": {**needs.processors, "busy": sum(needs.processors.values()), "provided": needs.provided},
        "memory_bytes": {name: round(value) for name, value in needs.memory.items()},
        "disk_bytes": {name: round(value) for name, value in needs.disk.items()},
        "usd_per_month": {"probing": needs.probing_usd, "machines": needs.machines_usd},
        "beyond": list(needs.beyond),
    }
