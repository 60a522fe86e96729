"""Faults of the simulated network, and the truth about them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.operations.embedded.simulated.world import World

_HOUR_S, _DAY_S = 3600, 86_400
# Alert rules see it on the longest paths too: sketches have steps of 1.6 %, and a baseline of three hours is young.
_SLOW_VM_NS = 15e6
ONGOING_S = 20 * 60
"""Faults that continue began this long before the tenant was loaded."""


class FaultKind(StrEnum):
    """Kind of a fault. The first two are over; the last four began just before loading."""

    PAST_ZONE_PAIR = "past_zone_pair"
    LOSSY_VM = "lossy_vm"
    DRIFT = "drift"
    SLOW_VM = "slow_vm"
    ZONE_PAIR = "zone_pair"
    LOST_PAIR = "lost_pair"
    SILENT_VM = "silent_vm"


@dataclass(frozen=True, slots=True)
class Fault:
    """Fault of the paths from `sources` to `targets` (VMs by position), and back if `both`.

    `added_ns` is reached after `ramp_s`; `loss` is the share of lost packets; `silent`: the agents of `sources` neither
    respond nor report. It lasts from `started_at_s` (Unix s) to before `ended_at_s`; None: it continues. `text` has the
    truth in words.
    """

    kind: FaultKind
    text: str
    started_at_s: int
    ended_at_s: int | None
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    both: bool = True
    added_ns: float = 0.0
    ramp_s: int = 0
    loss: float = 0.0
    silent: bool = False

    def strength(self, at_s: int) -> float:
        """Return the share of the full effect at a time."""
        if at_s < self.started_at_s or (self.ended_at_s is not None and at_s >= self.ended_at_s):
            return 0.0
        return min(1.0, (at_s - self.started_at_s) / self.ramp_s) if self.ramp_s else 1.0


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of all faults in a window: added delay, ns, and share of lost packets [source][target]; silent VMs."""

    added_ns: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    silent: npt.NDArray[np.bool_]


def effects_of(faults: Sequence[Fault], at_s: int, size: int) -> Effects:
    """Return the effects of faults at a time (Unix s) on `size` VMs."""
    effects = Effects(np.zeros((size, size)), np.zeros((size, size)), np.zeros(size, np.bool_))
    for fault in faults:
        if not (strength := fault.strength(at_s)):
            continue
        for ends in ((fault.sources, fault.targets), (fault.targets, fault.sources))[: 1 + fault.both]:
            paths = np.ix_(*ends)
            effects.added_ns[paths] += strength * fault.added_ns
            effects.loss[paths] = 1 - (1 - effects.loss[paths]) * (1 - strength * fault.loss)
        effects.silent[list(fault.sources)] |= fault.silent
    return effects


def make_faults(world: World, began_s: int) -> list[Fault]:
    """Return the faults of a network loaded at `began_s` (Unix s): two that are over, a drift, four that just began."""
    rng = np.random.default_rng([world.seed, 4])
    pairs = _zone_pairs(world)
    # Three pairs of zones; the slow one of today is the last.
    past, drift, slow = (pairs[at][:: rng.choice((-1, 1))] for at in rng.choice(len(pairs), 3, replace=False))
    apart = np.flatnonzero(~np.isin(world.zone_of, slow))
    vms = apart if apart.size >= 5 else np.arange(world.size)
    lossy, slow_vm, silent, one = (int(vm) for vm in rng.choice(vms, 4, replace=False))
    other = int(rng.choice(_neighbours(world, one, (lossy, slow_vm, silent))))
    hour_s = began_s // _HOUR_S * _HOUR_S
    long_ago_s = hour_s - int(rng.integers(6, 21)) * _DAY_S - int(rng.integers(24)) * _HOUR_S - 600
    lossy_s = hour_s - 3 * _DAY_S - 600
    drift_s, now_s = began_s - 2 * _DAY_S, began_s - ONGOING_S
    return [
        Fault(
            FaultKind.PAST_ZONE_PAIR,
            f"From zone {_zone(world, past[0])} to zone {_zone(world, past[1])} delay was 350 µs higher, one way,"
            f" {_times(long_ago_s, long_ago_s + 2 * _HOUR_S)}.",
            long_ago_s,
            long_ago_s + 2 * _HOUR_S,
            _members(world, past[0]),
            _members(world, past[1]),
            both=False,
            added_ns=350e3,
        ),
        Fault(
            FaultKind.LOSSY_VM,
            f"VM {world.names[lossy]} lost 12 % of its packets, both ways, {_times(lossy_s, lossy_s + 6 * _HOUR_S)}.",
            lossy_s,
            lossy_s + 6 * _HOUR_S,
            (lossy,),
            _others(world, lossy),
            loss=0.12,
        ),
        Fault(
            FaultKind.DRIFT,
            f"Between zones {_zone(world, drift[0])} and {_zone(world, drift[1])} delay rises slowly, both ways, since"
            f" {_time(drift_s)}: by 160 µs within two days, and stays there.",
            drift_s,
            None,
            _members(world, drift[0]),
            _members(world, drift[1]),
            added_ns=160e3,
            ramp_s=2 * _DAY_S,
        ),
        Fault(
            FaultKind.SLOW_VM,
            f"VM {world.names[slow_vm]} is slow since {_time(now_s)}: 15 ms more on each of its paths, both ways.",
            now_s,
            None,
            (slow_vm,),
            _others(world, slow_vm),
            added_ns=_SLOW_VM_NS,
        ),
        Fault(
            FaultKind.ZONE_PAIR,
            f"From zone {_zone(world, slow[0])} to zone {_zone(world, slow[1])} delay is 400 µs higher, one way, since"
            f" {_time(now_s)}.",
            now_s,
            None,
            _members(world, slow[0]),
            _members(world, slow[1]),
            both=False,
            added_ns=400e3,
        ),
        Fault(
            FaultKind.LOST_PAIR,
            f"Between VMs {world.names[one]} and {world.names[other]} all packets are lost since {_time(now_s)}.",
            now_s,
            None,
            (one,),
            (other,),
            loss=1.0,
        ),
        Fault(
            FaultKind.SILENT_VM,
            f"VM {world.names[silent]} is silent since {_time(now_s)}: its agent neither responds nor reports.",
            now_s,
            None,
            (silent,),
            _others(world, silent),
            loss=1.0,
            silent=True,
        ),
    ]


def _zone_pairs(world: World) -> list[tuple[int, int]]:
    """Return the pairs of zones within a region, except the asymmetric one."""
    zones = range(len(world.zones))
    pairs = [(a, b) for a in zones for b in zones if a < b and world.region_of[a] == world.region_of[b]]
    fitting = [pair for pair in pairs if set(pair) != set(world.asymmetric)]
    return fitting if len(fitting) >= 3 else pairs


def _neighbours(world: World, vm: int, without: Sequence[int]) -> npt.NDArray[np.int64]:
    region = world.region_of[world.zone_of]
    near = np.flatnonzero(region == region[vm])
    return near[~np.isin(near, [vm, *without])]


def _members(world: World, zone: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(world.zone_of == zone).tolist())


def _others(world: World, vm: int) -> tuple[int, ...]:
    return tuple(other for other in range(world.size) if other != vm)


def _zone(world: World, zone: int) -> str:
    return world.zones[zone]


def _time(at_s: int) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d %H:%M} UTC"


def _times(start_s: int, end_s: int) -> str:
    return f"from {_time(start_s)} to {_time(end_s)}"
