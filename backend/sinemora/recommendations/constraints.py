"""What a placement must keep to, checked by itself: whatever the solver did, a recommendation breaks no limit."""

from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Indices
from sinemora.recommendations.instance import Deployed, World


@dataclass(frozen=True, slots=True)
class Broken:
    """A limit that a placement breaks, in words, and which would have to be relaxed."""

    words: str


def broken(world: World, at: tuple[Indices, ...], machines: set[int], places: set[int]) -> Broken | None:
    """The first limit broken on `machines` or by applications `places` when tasks run `at` these machines."""
    for machine in sorted(machines):
        found = _overfull(world, at, machine) or _shared(world, at, machine)
        if found is not None:
            return found
    for place in sorted(places):
        found = _astray(world, at, place) or _crowded(world, at, place)
        if found is not None:
            return found
    return None


def all_broken(world: World, at: tuple[Indices, ...]) -> list[str]:
    """Every limit that does not hold when tasks run `at` these machines, crowded as they may have been before."""
    found = []
    for machine in range(len(world.machines)):
        found += [one.words for one in (_overfull(world, at, machine), _shared(world, at, machine)) if one is not None]
    for place, one in enumerate(world.applications):
        apart = replace(one, at=np.full_like(one.at, -1))
        fresh = replace(world, applications=(*world.applications[:place], apart, *world.applications[place + 1 :]))
        found += [
            broken.words for broken in (_astray(fresh, at, place), _crowded(fresh, at, place)) if broken is not None
        ]
    return found


def stated(world: World) -> list[str]:
    """The limits there are, in words: what a recommendation was checked against."""
    words = [f"slots of all {len(world.machines)} VMs"]
    if any(one.cpu_millicores is not None or one.memory_mib is not None for one in world.machines):
        words.append("CPU and memory of the VMs that state them")
    pinned = sum(need.pinned for one in world.applications for need in one.tasks)
    if pinned:
        words.append(f"{pinned} pinned tasks")
    for one in world.applications:
        if one.allowed is not None:
            zones = sorted({world.machines[at].zone for at in np.flatnonzero(one.allowed).tolist()})
            words.append(f"{one.name} only in {', '.join(zones)}")
        for level, most in (("VM", one.per_vm_max), ("host", one.per_host_max), ("zone", one.per_zone_max)):
            if most is not None:
                words.append(f"{one.name}: at most {most} tasks a {level}")
        for other in sorted(one.apart_from):
            if world.applications[other].name > one.name:
                words.append(f"{one.name} and {world.applications[other].name} share no VM")
    return words


def _overfull(world: World, at: tuple[Indices, ...], machine: int) -> Broken | None:
    vm = world.machines[machine]
    slots = cpu = memory = 0
    for one, where in zip(world.applications, at, strict=True):
        for need in (one.tasks[position] for position in np.flatnonzero(where == machine).tolist()):
            slots, cpu, memory = slots + need.slots, cpu + need.cpu_millicores, memory + need.memory_mib
    for has, takes, what in (
        (vm.slots, slots, "slots"),
        (vm.cpu_millicores, cpu, "millicores"),
        (vm.memory_mib, memory, "MiB"),
    ):
        if has is not None and takes > has:
            unit = "slot" if (has, what) == (1, "slots") else what
            return Broken(f"{vm.name} has {has} {unit}, and {takes} would be needed")
    return None


def _shared(world: World, at: tuple[Indices, ...], machine: int) -> Broken | None:
    present = [place for place, where in enumerate(at) if (where == machine).any()]
    for place in present:
        for other in world.applications[place].apart_from & set(present):
            names = sorted((world.applications[place].name, world.applications[other].name))
            return Broken(f"{names[0]} and {names[1]} must not share {world.machines[machine].name}")
    return None


def _astray(world: World, at: tuple[Indices, ...], place: int) -> Broken | None:
    one = world.applications[place]
    if one.allowed is None:
        return None
    strayed = [m for m in set(at[place].tolist()) - set(one.at.tolist()) if m >= 0 and not one.allowed[m]]
    return Broken(f"{one.name} may not use the zone of {world.machines[strayed[0]].name}") if strayed else None


def _crowded(world: World, at: tuple[Indices, ...], place: int) -> Broken | None:
    one = world.applications[place]
    levels: tuple[tuple[str, int | None, Indices], ...] = (
        ("VM", one.per_vm_max, np.arange(len(world.machines), dtype=np.intp)),
        ("host", one.per_host_max, world.racks),
        ("zone", one.per_zone_max, world.zones),
    )
    for level, most, domain in levels:
        if most is None:
            continue
        after, before = (_counted(one, where, domain, len(world.machines)) for where in (at[place], one.at))
        # What is too crowded already may stay so, but not grow.
        worse = (after > most) & (after > before)
        if worse.any():
            return Broken(f"{one.name} may have {most} tasks on one {level}, not {int(after[worse].max())}")
    return None


def _counted(one: Deployed, where: Indices, domain: Indices, size: int) -> Indices:
    """Tasks in each domain, the root left out."""
    placed = where >= 0
    if one.root is not None:
        placed[one.root] = False
    return np.bincount(domain[where[placed]], minlength=size)
