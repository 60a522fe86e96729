"""Faults of the simulated network, five of them at once, and the names under which a page shows each of them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sinemora.operations.embedded.simulated.faults import Fault, FaultKind, make_faults
from sinemora.operations.embedded.simulated.world import World

LOSS = 0.4
"""Share of packets that the lossy pair loses, each way."""
_DRIFT_NS, _DRIFT_S = 160e3, 7_200
# Three standard deviations of an hour between zones (`windows.py`): a larger drift is more than noise.
_DETECTABLE_NS = 68e3


@dataclass(frozen=True, slots=True)
class Sight:
    """Appearance of a fault on a page.

    `names`: names that one entry of the overview has, in this order unless `both`; `sources` and `targets`: VMs that
    are the ends of its paths, of a zone pair without the sick and the silent VM; `zones`: its pair of zones, if it is
    about one; `has_paths`: paths with a delay or loss show it, not only a missing agent. It lasts from `since_s` to
    `until_s` (Unix s), None: it continues.
    """

    fault: str
    text: str
    names: tuple[str, ...]
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    zones: tuple[str, ...]
    both: bool
    has_paths: bool
    since_s: int
    until_s: int | None


def drift_of(world: World, detectable_at_s: int) -> Fault:
    """Return the slow drift between two zones that reaches three standard deviations at a time (Unix s)."""
    began_s = detectable_at_s - round(_DRIFT_S * _DETECTABLE_NS / _DRIFT_NS)
    return replace(_of_kind(world, FaultKind.DRIFT), started_at_s=began_s, added_ns=_DRIFT_NS, ramp_s=_DRIFT_S)


def sudden_of(world: World, started_at_s: int) -> list[Fault]:
    """Return the others, which start at a time (Unix s): a sick VM, a zone pair one way, a lossy pair, a silent VM."""
    sick, pair, lossy, silent = (
        replace(_of_kind(world, kind), started_at_s=started_at_s)
        for kind in (FaultKind.SLOW_VM, FaultKind.ZONE_PAIR, FaultKind.LOST_PAIR, FaultKind.SILENT_VM)
    )
    return [sick, pair, replace(lossy, loss=LOSS), silent]


def sights_of(world: World, faults: Sequence[Fault]) -> list[Sight]:
    """Return how a page shows these faults."""
    between_zones = (FaultKind.ZONE_PAIR, FaultKind.DRIFT, FaultKind.PAST_ZONE_PAIR)
    single = {vm for fault in faults if fault.kind in (FaultKind.SLOW_VM, FaultKind.SILENT_VM) for vm in _ends(fault)}
    sights = []
    for fault in faults:
        is_pair = fault.kind in between_zones
        ends = [tuple(vm for vm in some if not is_pair or vm not in single) for some in (fault.sources, fault.targets)]
        zones = tuple(world.zones[world.zone_of[some[0]]] for some in (fault.sources, fault.targets)) if is_pair else ()
        sources, targets = (tuple(world.names[vm] for vm in some) for some in ends)
        names = zones or tuple(world.names[vm] for vm in _ends(fault))
        text = f"{fault.kind}: {' to '.join(names)}"
        span = fault.started_at_s, fault.ended_at_s
        sights.append(Sight(fault.kind, text, names, sources, targets, zones, fault.both, not fault.silent, *span))
    return sights


def _ends(fault: Fault) -> tuple[int, ...]:
    """Return the VMs at which a fault lies: its source, and its target if it is about one pair."""
    return fault.sources + fault.targets if len(fault.targets) == 1 else fault.sources


def _of_kind(world: World, kind: FaultKind) -> Fault:
    return next(fault for fault in make_faults(world, 0) if fault.kind is kind)
