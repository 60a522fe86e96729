"""The capacity model: from VMs and a strategy to packets, bytes, processors, memory, disk and money. Pure.

Packets and bytes follow from the plan (`meshes/strategies`). Processor time, memory and disk are linear in reports,
pairs and VMs, with measured coefficients.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sinemora.fleet.meshes.strategies.cost import Probing
from sinemora.fleet.meshes.strategies.load import MeshLoad, mesh_load
from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.operations.capacity.coefficients import KEY_KEPT_S, Coefficients

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
    agent_packets_per_s_max: float
    probe_bytes_per_s: float
    upload_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Processors:
    """Busy processors of API, workers (merging) and PostgreSQL, and how many to provide."""

    api: float
    workers: float
    database: float
    provided: int

    @property
    def busy(self) -> float:
        return self.api + self.workers + self.database


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes: of API processes, worker processes, PostgreSQL."""

    api: float
    workers: float
    database: float

    @property
    def total(self) -> float:
        return self.api + self.workers + self.database


@dataclass(frozen=True, slots=True)
class Money:
    """USD a month: traffic of probing (None without a price of the provider), and machines of the backend."""

    probing: float | None
    machines: float


@dataclass(frozen=True, slots=True)
class Prices:
    """USD a month for a processor, a GiB of memory and a GiB of disk; traffic by the provider's list, if it has one."""

    core_month: float
    memory_gib_month: float
    disk_gib_month: float
    egress: EgressPrice | None


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of a fleet. `disk` has bytes by tier; `beyond` names what exceeds the measured sizes."""

    fleet: Fleet
    rates: Rates
    processors: Processors
    memory: Memory
    disk: Mapping[str, float]
    money: Money
    beyond: tuple[str, ...]

    @property
    def disk_bytes(self) -> float:
        """Return the bytes of all tiers."""
        return sum(self.disk.values())


def needs_of(fleet: Fleet, tiers: tuple[TierKept, ...], measured: Coefficients, prices: Prices) -> Needs:
    """Return what a fleet needs. `tiers` begin with the windows as reported, each is merged from the one before."""
    load = mesh_load(fleet.strategy, fleet.mesh_zones)
    rates = _rates(fleet, load, measured)
    stored = _stored(fleet, load, tiers)
    processors = _processors(fleet, rates, stored, tiers, measured)
    memory = _memory(fleet, rates, processors, measured)
    disk = {
        tier.name: tier.days * DAY_S / tier.step_s * (measured.frame * frames + measured.pair_bytes(exchanges) * pairs)
        for tier, (frames, pairs, exchanges) in zip(tiers, stored, strict=True)
    }
    machines = (
        processors.provided * prices.core_month
        + memory.total / GIB * prices.memory_gib_month
        + sum(disk.values()) / GIB * prices.disk_gib_month
    )
    money = Money(_probing_usd(fleet, load, prices.egress), machines)
    return Needs(fleet, rates, processors, memory, disk, money, _beyond(fleet, rates, measured))


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
        agent_packets_per_s_max=_most_peers(fleet) * exchanges_per_s * packets,
        probe_bytes_per_s=pairs * exchanges_per_s * size,
        upload_bytes_per_s=measured.upload.of(reports_per_s, pairs / fleet.window_s),
    )


def _most_peers(fleet: Fleet) -> float:
    """Return the peers of the busiest VM in its busiest window."""
    sizes = [size for region in fleet.mesh_zones for size in region]
    others = sum(sizes) - 1
    match fleet.strategy.kind:
        case StrategyKind.FULL:
            return others
        case StrategyKind.SPARSE | StrategyKind.EVENT:
            return math.ceil(others / fleet.strategy.period)
        case StrategyKind.ZONES:
            chosen = [min(size, fleet.strategy.representatives) for size in sizes]
            return max(size - 1 + sum(chosen) - one for size, one in zip(sizes, chosen, strict=True))


def _stored(fleet: Fleet, load: MeshLoad, tiers: tuple[TierKept, ...]) -> list[tuple[float, float, float]]:
    """Return, by tier, the frames and the pairs of a step and the exchanges that a pair summarises."""
    exchanges = fleet.probing.rate_hz * fleet.probing.flows * fleet.window_s
    result: list[tuple[float, float, float]] = []
    for tier in tiers:
        windows = max(1.0, tier.step_s / fleet.window_s)
        pairs = load.different_in(windows) * fleet.meshes
        frames = fleet.vms * max(1, math.ceil(pairs / fleet.vms / FRAME_PAIRS))
        summarised = load.per_window * fleet.meshes * windows * exchanges / pairs if pairs else exchanges
        result.append((frames, pairs, summarised))
    return result


def _processors(
    fleet: Fleet,
    rates: Rates,
    stored: list[tuple[float, float, float]],
    tiers: tuple[TierKept, ...],
    measured: Coefficients,
) -> Processors:
    looked_up = min(1.0, fleet.window_s / KEY_KEPT_S) * rates.reports_per_s
    api = measured.api.of(rates.reports_per_s, rates.pairs_per_s, looked_up)
    database = measured.database.of(rates.reports_per_s, rates.pairs_per_s, looked_up)
    workers = 0.0
    for tier, (_, finer, _), coarser, (frames, pairs, _) in zip(tiers, stored, tiers[1:], stored[1:], strict=False):
        load = frames / coarser.step_s, finer / tier.step_s, pairs / coarser.step_s
        workers += measured.merge.of(*load)
        database += measured.merge_database.of(*load)
    return Processors(api, workers, database, max(1, math.ceil((api + workers + database) / BUSY)))


def _memory(fleet: Fleet, rates: Rates, processors: Processors, measured: Coefficients) -> Memory:
    """Return the memory; a process uses at most one processor."""
    api, workers = (max(1, math.ceil(busy / BUSY)) for busy in (processors.api, processors.workers))
    merged = rates.pairs_per_report * max(1.0, MINUTE_S / fleet.window_s)
    return Memory(
        api=api * measured.api_memory.of(1, fleet.vms),
        workers=workers * measured.worker_memory.of(1, merged),
        database=measured.database_memory,
    )


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
    if fleet.vms / fleet.meshes > sizes.vms_max:
        reasons.append(f"meshes of more than {sizes.vms_max:,} VMs")
    if rates.pairs_per_report > sizes.pairs_max + 1:  # a mesh of an even number of VMs has half a pair more
        reasons.append(f"more than {sizes.pairs_max:,.0f} pairs in a report")
    return tuple(reasons)
