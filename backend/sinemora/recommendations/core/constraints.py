"""Feasibility checks of a placement, independent of the solver: a recommendation violates no constraint."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Indices
from sinemora.recommendations.core.instance import Deployment, Instance
from sinemora.recommendations.placement.move_sequence import TaskMove


@dataclass(frozen=True, slots=True)
class Violation:
    """Violated constraint, in words."""

    words: str


def first_violation(
    instance: Instance, at: tuple[Indices, ...], machines: set[int], places: set[int]
) -> Violation | None:
    """Return the first violation on `machines` or of applications `places` for the placement `at`."""
    for machine in sorted(machines):
        violation = _capacity_violation(instance, at, machine) or _anti_affinity_violation(instance, at, machine)
        if violation is not None:
            return violation
    for place in sorted(places):
        violation = _zone_violation(instance, at, place) or _spread_violation(instance, at, place)
        if violation is not None:
            return violation
    return None


def joined_by_spread(instance: Instance, moves: Sequence[TaskMove]) -> Iterator[list[TaskMove]]:
    """Yield moves that a spread limit makes depend on one another: tasks may come only because others leave."""
    for place in sorted({move.task[0] for move in moves}):
        application = instance.applications[place]
        mine = [move for move in moves if move.task[0] == place and move.task[1] != application.root]
        for _, most, domain in _spread_limits(instance, application):
            if most is None:
                continue
            before = _count_per_domain(application, application.at, domain, len(instance.machines))
            for number in {int(domain[move.target]) for move in mine}:
                comes = [move for move in mine if domain[move.target] == number]
                leaves = [move for move in mine if not move.starts and domain[move.source] == number]
                if before[number] + len(comes) > max(most, before[number]):
                    yield list(dict.fromkeys([*comes, *leaves]))


def all_violations(instance: Instance, at: tuple[Indices, ...]) -> list[str]:
    """Return every violation of the placement `at`, whatever the current placement violates."""
    words = []
    for machine in range(len(instance.machines)):
        words += [
            violation.words
            for violation in (
                _capacity_violation(instance, at, machine),
                _anti_affinity_violation(instance, at, machine),
            )
            if violation is not None
        ]
    for place, application in enumerate(instance.applications):
        apart = replace(application, at=np.full_like(application.at, -1))
        fresh = replace(
            instance, applications=(*instance.applications[:place], apart, *instance.applications[place + 1 :])
        )
        words += [
            violation.words
            for violation in (_zone_violation(fresh, at, place), _spread_violation(fresh, at, place))
            if violation is not None
        ]
    return words


def describe(instance: Instance) -> list[str]:
    """Describe the constraints that a recommendation was checked against."""
    words = [f"slots of all {len(instance.machines)} VMs"]
    if any(machine.cpu_millicores is not None or machine.memory_mib is not None for machine in instance.machines):
        words.append("CPU and memory of the VMs that state them")
    pinned = sum(need.pinned for application in instance.applications for need in application.tasks)
    if pinned:
        words.append(f"{pinned} pinned tasks")
    for application in instance.applications:
        if application.allowed is not None:
            zones = sorted({instance.machines[at].zone for at in np.flatnonzero(application.allowed).tolist()})
            words.append(f"{application.name} only in {', '.join(zones)}")
        for level, most in (
            ("VM", application.per_vm_max),
            ("host", application.per_host_max),
            ("zone", application.per_zone_max),
        ):
            if most is not None:
                words.append(f"{application.name}: at most {counted(most, 'tasks')} a {level}")
        for other in sorted(application.apart_from):
            if instance.applications[other].name > application.name:
                words.append(f"{application.name} and {instance.applications[other].name} share no VM")
    return words


def _capacity_violation(instance: Instance, at: tuple[Indices, ...], machine: int) -> Violation | None:
    vm = instance.machines[machine]
    slots = cpu = memory = 0
    for application, where in zip(instance.applications, at, strict=True):
        for need in (application.tasks[position] for position in np.flatnonzero(where == machine).tolist()):
            slots, cpu, memory = slots + need.slots, cpu + need.cpu_millicores, memory + need.memory_mib
    for has, takes, resource in (
        (vm.slots, slots, "slots"),
        (vm.cpu_millicores, cpu, "millicores"),
        (vm.memory_mib, memory, "MiB"),
    ):
        if has is not None and takes > has:
            return Violation(f"Capacity exceeded on {vm.name}: {takes} {resource} needed, {has} available")
    return None


def _anti_affinity_violation(instance: Instance, at: tuple[Indices, ...], machine: int) -> Violation | None:
    present = [place for place, where in enumerate(at) if (where == machine).any()]
    for place in present:
        for other in instance.applications[place].apart_from & set(present):
            names = sorted((instance.applications[place].name, instance.applications[other].name))
            return Violation(f"{names[0]} and {names[1]} must not share {instance.machines[machine].name}")
    return None


def _zone_violation(instance: Instance, at: tuple[Indices, ...], place: int) -> Violation | None:
    application = instance.applications[place]
    if application.allowed is None:
        return None
    strayed = [
        m for m in set(at[place].tolist()) - set(application.at.tolist()) if m >= 0 and not application.allowed[m]
    ]
    return (
        Violation(f"{application.name} may not use the zone of {instance.machines[strayed[0]].name}")
        if strayed
        else None
    )


def _spread_violation(instance: Instance, at: tuple[Indices, ...], place: int) -> Violation | None:
    application = instance.applications[place]
    for level, most, domain in _spread_limits(instance, application):
        if most is None:
            continue
        after, before = (
            _count_per_domain(application, where, domain, len(instance.machines))
            for where in (at[place], application.at)
        )
        # A spread limit that is exceeded already may stay so but not grow.
        worse = (after > most) & (after > before)
        if worse.any():
            return Violation(f"{application.name} may have {most} tasks on one {level}, not {int(after[worse].max())}")
    return None


def _spread_limits(instance: Instance, application: Deployment) -> tuple[tuple[str, int | None, Indices], ...]:
    """Return each level, its limit (None: unlimited), and the domain of each machine."""
    return (
        ("VM", application.per_vm_max, np.arange(len(instance.machines), dtype=np.intp)),
        ("host", application.per_host_max, instance.racks),
        ("zone", application.per_zone_max, instance.zones),
    )


def _count_per_domain(application: Deployment, where: Indices, domain: Indices, size: int) -> Indices:
    """Count tasks in each domain, without the root."""
    placed = where >= 0
    if application.root is not None:
        placed[application.root] = False
    return np.bincount(domain[where[placed]], minlength=size)


def moves_allowed(most: int) -> str:
    """Return a budget of moves in words: "no moves allowed", "at most 2 moves"."""
    return "no moves allowed" if most == 0 else f"at most {counted(most, 'moves')}"


def counted(count: int | None, unit: str) -> str:
    """Return a number with its unit: "1 slot", "2 slots"."""
    return f"{count} {unit.removesuffix('s') if count == 1 else unit}"
