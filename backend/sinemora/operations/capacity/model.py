"""The capacity model: from VMs and a strategy to packets, bytes, processors, memory, disk and money. Pure.

Packets and bytes follow from the plan (`meshes/strategies`). Processor time, memory and disk are linear in reports,
pairs and VMs, with measured coefficients.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sinemora.fleet.meshes.strategies.cost import Probing
from sinemora.fleet.meshes.strategies.load import MeshLoad, mesh_load
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import Strategy
from sinemora.operations.capacity.coefficients import KEY_KEPT_S, Coefficients, total

MINUTE_S = 60
DAY_S = 86_400
MONTH_DAYS = 30
GIB = 1 << 30
BUSY = 0.6
"""Share of the provided processors that is busy: the rest is for queries, alerts, backups and for what was late."""
FRAME_PAIRS = 256
"""Largest number of pairs of a stored frame."""


@dataclass(frozen=True, slots=True)
class TierKept:
    """Tier of stored frames: the length of a step (s) and for how many days it is kept."""

    name: str
    step_s: int
    days: int


@dataclass(frozen=True, slots=True)
class Fleet:
    """VMs and how they are measured. VMs are spread evenly over meshes, their zones over regions."""

    vms: int
    strategy: Strategy
    zones: int
    regions: int
    vms_per_mesh: int
    window_s: int
    probing: Probing

    @property
    def meshes(self) -> int:
        return math.ceil(self.vms / self.vms_per_mesh)

    @property
    def mesh_zones(self) -> list[list[int]]:
        """Return the numbers of VMs of the zones of each region, of one mesh."""
        size = round(self.vms / self.meshes)
        zones = min(self.zones, size)
        sizes = [size // zones + (at < size % zones) for at in range(zones)]
        return [sizes[region :: self.regions] for region in range(min(self.regions, zones))]


@dataclass(frozen=True, slots=True)
class Rates:
    """Load of a fleet, all its meshes together; packets of an agent are those it sends and receives."""

    pairs_per_window: float
    pairs_per_report: float
    reports_per_s: float
    pairs_per_s: float
    packets_per_s: float
    agent_packets_per_s: float
    probe_bytes_per_s: float
    upload_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Prices:
    """USD a month for a processor, a GiB of memory and a GiB of disk: list prices of a day, and their page."""

    core_month: float
    memory_gib_month: float
    disk_gib_month: float
    as_of: date
    source: str


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of a fleet.

    `processors` that are busy and `memory` (bytes) are those of API, workers and PostgreSQL, `provided` the processors
    to provide; `disk` has bytes by tier. USD are those of a month, of probing None without a price of the provider.
    `beyond` names what exceeds the measured sizes.
    """

    fleet: Fleet
    rates: Rates
    processors: Mapping[str, float]
    provided: int
    memory: Mapping[str, float]
    disk: Mapping[str, float]
    probing_usd: float | None
    machines_usd: float
    beyond: tuple[str, ...]


def needs_of(
    fleet: Fleet, tiers: Sequence[TierKept], measured: Coefficients, prices: Prices, egress: EgressPrice | None
) -> Needs:
    """Return what a fleet needs. `tiers` begin with the windows as reported, each is merged from the one before."""
    load = mesh_load(fleet.strategy, fleet.mesh_zones)
    rates = _rates(fleet, load, measured)
    stored = [_stored(fleet, load, tier) for tier in tiers]
    processors = _processors(fleet, rates, stored, tiers, measured)
    provided = _provided(sum(processors.values()))
    merged = rates.pairs_per_report * max(1.0, MINUTE_S / fleet.window_s)
    memory = {
        "api": _provided(processors["api"]) * total(measured.api_memory, process=1, vm=fleet.vms),
        "workers": _provided(processors["workers"]) * total(measured.worker_memory, process=1, pair=merged),
        "database": measured.database_memory,
    }
    disk = {}
    for tier, (frames, pairs, exchanges) in zip(tiers, stored, strict=True):
        step_bytes = measured.frame_bytes * frames + measured.pair_bytes(exchanges) * pairs
        disk[tier.name] = tier.days * DAY_S / tier.step_s * step_bytes
    machines_usd = (
        provided * prices.core_month
        + sum(memory.values()) / GIB * prices.memory_gib_month
        + sum(disk.values()) / GIB * prices.disk_gib_month
    )
    probing_usd = _probing_usd(fleet, load, egress)
    beyond = _beyond(fleet, rates, measured)
    return Needs(fleet, rates, processors, provided, memory, disk, probing_usd, machines_usd, beyond)


def _provided(busy: float) -> int:
    """Return the processors to provide; a process uses at most one."""
    return max(1, math.ceil(busy / BUSY))


def _rates(fleet: Fleet, load: MeshLoad, measured: Coefficients) -> Rates:
    packets, size = fleet.probing.exchange
    exchanges_per_s = fleet.probing.rate_hz * fleet.probing.flows
    pairs = load.per_window * fleet.meshes
    reports_per_s = fleet.vms / fleet.window_s
    return Rates(
        pairs_per_window=pairs,
        pairs_per_report=pairs / fleet.vms,
        reports_per_s=reports_per_s,
        pairs_per_s=pairs / fleet.window_s,
        packets_per_s=pairs * exchanges_per_s * packets,
        # Both VMs of a pair send and receive its packets.
        agent_packets_per_s=2 * pairs / fleet.vms * exchanges_per_s * packets,
        probe_bytes_per_s=pairs * exchanges_per_s * size,
        upload_bytes_per_s=total(measured.upload, report=reports_per_s, pair=pairs / fleet.window_s),
    )


def _stored(fleet: Fleet, load: MeshLoad, tier: TierKept) -> tuple[float, float, float]:
    """Return the frames and the pairs of a step of a tier, and the exchanges that a pair summarises."""
    exchanges = fleet.probing.rate_hz * fleet.probing.flows * fleet.window_s
    windows = max(1.0, tier.step_s / fleet.window_s)
    pairs = load.different_in(windows) * fleet.meshes
    frames = fleet.vms * max(1, math.ceil(pairs / fleet.vms / FRAME_PAIRS))
    summarised = load.per_window * fleet.meshes * windows * exchanges / pairs if pairs else exchanges
    return frames, pairs, summarised


def _processors(
    fleet: Fleet,
    rates: Rates,
    stored: Sequence[tuple[float, float, float]],
    tiers: Sequence[TierKept],
    measured: Coefficients,
) -> dict[str, float]:
    looked_up = min(1.0, fleet.window_s / KEY_KEPT_S) * rates.reports_per_s
    counts = {"report": rates.reports_per_s, "pair": rates.pairs_per_s, "vm": looked_up}
    busy = {"api": total(measured.api, **counts), "workers": 0.0, "database": total(measured.database, **counts)}
    for tier, (_, finer, _), coarser, (frames, pairs, _) in zip(tiers, stored, tiers[1:], stored[1:], strict=False):
        counts = {"frame": frames / coarser.step_s, "read": finer / tier.step_s, "pair": pairs / coarser.step_s}
        busy["workers"] += total(measured.merge, **counts)
        busy["database"] += total(measured.merge_database, **counts)
    return busy


def _probing_usd(fleet: Fleet, load: MeshLoad, price: EgressPrice | None) -> float | None:
    """Return the price of a month of probing; traffic within a zone is free."""
    _, size = fleet.probing.exchange
    gib_per_pair = fleet.probing.rate_hz * fleet.probing.flows * size * DAY_S * MONTH_DAYS / GIB * fleet.meshes
    between_zones = load.between_zones.per_window * gib_per_pair
    between_regions = load.between_regions.per_window * gib_per_pair
    if price is None:
        return None if between_zones or between_regions else 0.0
    return between_zones * price.between_zones + between_regions * price.between_regions


def _beyond(fleet: Fleet, rates: Rates, measured: Coefficients) -> tuple[str, ...]:
    sizes = measured.measured
    reasons = []
    if fleet.vms / fleet.meshes > sizes["vms_max"]:
        reasons.append(f"meshes of more than {sizes['vms_max']:,} VMs")
    if rates.pairs_per_report > sizes["pairs_max"] + 1:  # a mesh of an even number of VMs has half a pair more
        reasons.append(f"more than {sizes['pairs_max']:,.0f} pairs in a report")
    return tuple(reasons)
