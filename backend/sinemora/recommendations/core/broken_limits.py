"""Limits that the recommended placement breaks, in words, with the reason and what would mend it.

Running tasks that break a limit may stay, and a move is made for its gain alone. So a limit stays broken where it
contradicts pins, the VMs there are, or a budget of moves, or where no move that mends it gains enough.
"""

from collections.abc import Iterator

import numpy as np

from sinemora.applications.performance import Flags, Indices
from sinemora.recommendations.core.constraints import counted
from sinemora.recommendations.core.instance import Deployment, Instance
from sinemora.recommendations.core.options import Options

_NAMED = 5
"""Tasks named in a sentence."""
_LEVELS = ("VM", "host", "zone")
_UNITS = ("slots", "millicores", "MiB")


def broken_limits(instance: Instance, after: tuple[Indices, ...], options: Options) -> list[str]:
    """Describe the limits of the selected applications that the placement `after` breaks."""
    moved = [
        int(((application.at >= 0) & (at != application.at)).sum())
        for application, at in zip(instance.applications, after, strict=True)
    ]
    words: list[str] = []
    for place, application in enumerate(instance.applications):
        if application.chosen:
            why = _why(application, moved[place], sum(moved), options)
            words += _zones(instance, application, after[place], why)
            words += _spread(instance, application, after[place], why)
            words += _apart(instance, place, after, why)
    return [*words, *_capacity(instance, after)]


def _why(application: Deployment, moved: int, moved_in_all: int, options: Options) -> str:
    """Return why a task of an application that may move does not leave."""
    if moved_in_all >= options.moves_max:
        allowed = counted(options.moves_max, "moves")
        return f"moves_max of the request allows {allowed}: raise it, or move a task yourself"
    if application.moves_max is not None and moved >= application.moves_max:
        allowed = counted(application.moves_max, "moves")
        return f"moves_max of {application.name} allows {allowed}: raise it, or move a task yourself"
    return "no move that mends this gains enough: move a task yourself, or relax the limit"


def _zones(instance: Instance, application: Deployment, at: Indices, why: str) -> Iterator[str]:
    if application.allowed is None:
        return
    if not application.allowed.any():
        yield f"{application.name} may use no VM: the mesh has none in its zones. Add one there, or allow another zone."
        return
    pinned = _pinned(application)
    for machine in np.unique(at[at >= 0]).tolist():
        if application.allowed[machine]:
            continue
        vm = instance.machines[machine]
        for tasks, held in ((at == machine) & pinned, True), ((at == machine) & ~pinned, False):
            if not tasks.any():
                continue
            be, them = ("is", "it") if tasks.sum() == 1 else ("are", "them")
            where = f"{vm.name} in zone {vm.zone}, which {application.name} may not use"
            if held:
                yield f"{_names(application, tasks)} {be} pinned to {where}: unpin {them}, or allow zone {vm.zone}."
            else:
                yield f"{_names(application, tasks)} {be} on {where}; {why}."


def _spread(instance: Instance, application: Deployment, at: Indices, why: str) -> Iterator[str]:
    counts = at >= 0
    if application.root is not None:
        counts[application.root] = False  # roots count towards no spread limit
    pinned = _pinned(application) & counts
    mosts = (application.per_vm_max, application.per_host_max, application.per_zone_max)
    domains = (np.arange(len(instance.machines)), instance.racks, instance.zones)
    for level, most, domain in zip(_LEVELS, mosts, domains, strict=True):
        if most is None:
            continue
        field = f"per_{level.lower()}_max"
        total = int(counts.sum())
        usable = np.unique(domain if application.allowed is None else domain[application.allowed]).size
        if total > most * usable > 0:
            yield (
                f"{application.name} has {total} tasks, and {counted(usable, f'{level}s')} with at most {most} on each"
                f" hold {most * usable}: raise {field} to {-(-total // usable)}, or add {level}s."
            )
            continue
        there, fixed = (np.bincount(domain[at[some]], minlength=int(domain.max()) + 1) for some in (counts, pinned))
        for number in np.flatnonzero(there > most).tolist():
            name = _domain_name(instance, level, int(np.flatnonzero(domain == number)[0]))
            if fixed[number] > most:
                over = int(fixed[number]) - most
                yield (
                    f"{counted(int(fixed[number]), 'tasks')} of {application.name} are pinned to {name}, and {field}"
                    f" allows {most}: unpin {over}, or raise it to {int(fixed[number])}."
                )
            else:
                yield (
                    f"{application.name} has {counted(int(there[number]), 'tasks')} on {name}, and {field} allows"
                    f" {most}; {why}."
                )


def _apart(instance: Instance, place: int, after: tuple[Indices, ...], why: str) -> Iterator[str]:
    mine = instance.applications[place]
    for other in sorted(mine.apart_from):
        theirs = instance.applications[other]
        if theirs.chosen and other < place:
            continue  # reported for the other one
        both = np.intersect1d(after[place][after[place] >= 0], after[other][after[other] >= 0])
        if not both.size:
            continue
        vms = ", ".join(instance.machines[machine].name for machine in both[:_NAMED].tolist())
        pins = [
            machine
            for machine in both.tolist()
            if (_pinned(mine) & (after[place] == machine)).any() and (_pinned(theirs) & (after[other] == machine)).any()
        ]
        usable = _usable(instance, mine) | _usable(instance, theirs)
        words = f"{mine.name} and {theirs.name} share {vms}, which apart_from forbids"
        if pins:
            yield f"{words}: both have tasks pinned there. Unpin one of them, or let them share VMs."
        elif usable.sum() < 2:
            yield f"{words}: they have no second VM. Add one, or let them share VMs."
        else:
            yield f"{words}; {why}."


def _capacity(instance: Instance, after: tuple[Indices, ...]) -> Iterator[str]:
    """Yield the VMs whose pinned tasks take more than they have."""
    takes = np.zeros((len(instance.machines), len(_UNITS)), np.int64)
    asked = np.zeros(len(instance.machines), np.bool_)
    for application, at in zip(instance.applications, after, strict=True):
        for need, machine in zip(application.tasks, at.tolist(), strict=True):
            if need.pinned and machine >= 0:
                takes[machine] += need.takes
                asked[machine] |= application.chosen
    for machine in np.flatnonzero(asked).tolist():
        vm = instance.machines[machine]
        has = (vm.stated_slots, vm.cpu_millicores, vm.memory_mib)
        for unit, room, taken in zip(_UNITS, has, takes[machine].tolist(), strict=True):
            if room is not None and taken > room:
                yield (
                    f"Tasks pinned to {vm.name} take {counted(taken, unit)}, and it has {counted(room, unit)}: unpin"
                    " some, or correct its capacity."
                )


def _usable(instance: Instance, application: Deployment) -> Flags:
    everywhere = np.ones(len(instance.machines), np.bool_)
    return everywhere if application.allowed is None else application.allowed


def _pinned(application: Deployment) -> Flags:
    return np.array([need.pinned for need in application.tasks], np.bool_)


def _names(application: Deployment, tasks: Flags) -> str:
    names = [f"{application.name}/{application.tasks[task].name}" for task in np.flatnonzero(tasks).tolist()]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _domain_name(instance: Instance, level: str, machine: int) -> str:
    vm = instance.machines[machine]
    if level == "VM":
        return vm.name
    return f"zone {vm.zone}" if level == "zone" else f"host {vm.host or vm.name}"
