"""Limits of VMs and applications, checked for one task after another, independent of the solver.

A task may come to a VM if no limit is exceeded once it is there. So what exceeds a limit already may stay, but nothing
joins it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sinemora.applications.performance import Indices
from sinemora.recommendations.core.instance import WAITING, Deployment, Instance
from sinemora.recommendations.placement.move_sequence import TaskMove

Task = tuple[int, int]
"""Position of an application, and of a task in it."""
_UNITS = ("slots", "millicores", "MiB")


class Occupancy:
    """Tasks of an instance on its machines, as they are taken from one and put on another."""

    def __init__(self, instance: Instance, at: tuple[Indices, ...]) -> None:
        self._instance = instance
        self._room = instance.stated_room.tolist()
        self._taken = np.zeros_like(instance.stated_room).tolist()
        self._present: Counter[tuple[int, int]] = Counter()
        self._loads: Counter[tuple[int, str, int]] = Counter()
        self._at: dict[Task, int] = {}
        for place, machines in enumerate(at):
            for position, machine in enumerate(machines.tolist()):
                self.put((place, position), machine)

    def put(self, task: Task, machine: int) -> None:
        """Let a task run on a machine; a negative one is none."""
        self._at[task] = machine
        self._count(task, machine, 1)

    def take(self, task: Task) -> int:
        """Take a task from its machine; return that."""
        machine = self._at.pop(task)
        self._count(task, machine, -1)
        return machine

    def slots_left(self, machine: int) -> int:
        """Return the number of free slots of a machine."""
        return int(self._room[machine][0] - self._taken[machine][0])

    def may_come(self, task: Task, source: int, target: int) -> bool:
        """Return whether a task that was taken from `source` may come to `target`."""
        return next(self._refusals(task, source, target), None) is None

    def refusal(self, task: Task, source: int) -> str | None:
        """Return the limit that a task breaks where it is, having come from `source`; None if it may be there."""
        target = self.take(task)
        words = None if target < 0 else next(self._refusals(task, source, target), None)
        self.put(task, target)
        return words

    def _count(self, task: Task, machine: int, count: int) -> None:
        if machine < 0:
            return
        place, position = task
        application = self._instance.applications[place]
        for resource, takes in enumerate(application.tasks[position].takes):
            self._taken[machine][resource] += count * takes
        self._present[place, machine] += count
        if position != application.root:  # roots count towards no spread limit
            for level, _, domain in _spread_limits(self._instance, application):
                self._loads[place, level, int(domain[machine])] += count

    def _refusals(self, task: Task, source: int, target: int) -> Iterator[str]:
        place, position = task
        instance = self._instance
        application, vm = instance.applications[place], instance.machines[target]
        for resource, takes in enumerate(application.tasks[position].takes):
            needs, has = self._taken[target][resource] + takes, self._room[target][resource]
            if takes and needs > has:
                yield f"Capacity exceeded on {vm.name}: {needs} {_UNITS[resource]} needed, {has} available"
        for other in sorted(application.apart_from):
            if self._present[other, target]:
                names = sorted((application.name, instance.applications[other].name))
                yield f"{names[0]} and {names[1]} must not share {vm.name}"
        if application.allowed is not None and not application.allowed[target]:
            yield f"{application.name} may not use the zone of {vm.name}"
        if source >= 0 and not application.leaves_region and _leaves_region(instance, source, target):
            yield f"{application.name} may not leave region {instance.machines[source].region}"
        if position == application.root:
            return
        for level, most, domain in _spread_limits(instance, application):
            there = self._loads[place, level, int(domain[target])] + 1
            if there > most and not (source >= 0 and domain[source] == domain[target]):
                yield f"{application.name} may have {most} tasks on one {level}, not {there}"


def first_refusal(instance: Instance, at: tuple[Indices, ...], moves: Sequence[TaskMove]) -> str | None:
    """Return the first limit that one of `moves` breaks in the placement `at` after all of them, in words."""
    occupancy = Occupancy(instance, at)
    refusals = (occupancy.refusal(move.task, move.source) for move in moves)
    return next((words for words in refusals if words is not None), None)


def all_violations(instance: Instance, at: tuple[Indices, ...]) -> list[str]:
    """Return every limit that the placement `at` breaks, whatever the current placement breaks."""
    occupancy = Occupancy(instance, at)
    tasks = ((place, position) for place, machines in enumerate(at) for position in range(machines.size))
    words = (occupancy.refusal(task, WAITING) for task in tasks)
    return list(dict.fromkeys(refusal for refusal in words if refusal is not None))


def joined_by_spread(instance: Instance, moves: Sequence[TaskMove]) -> Iterator[list[TaskMove]]:
    """Yield moves that a spread limit makes depend on one another: tasks may come only because others leave."""
    for place in sorted({move.task[0] for move in moves}):
        application = instance.applications[place]
        mine = [move for move in moves if move.task[0] == place and move.task[1] != application.root]
        for _, most, domain in _spread_limits(instance, application):
            placed = application.at >= 0
            if application.root is not None:
                placed[application.root] = False
            before = np.bincount(domain[application.at[placed]], minlength=len(instance.machines))
            between = [move for move in mine if move.starts or domain[move.source] != domain[move.target]]
            for number in {int(domain[move.target]) for move in between}:
                comes = [move for move in between if domain[move.target] == number]
                leaves = [move for move in between if not move.starts and domain[move.source] == number]
                if before[number] + len(comes) > most:
                    yield [*comes, *leaves]


def describe(instance: Instance) -> list[str]:
    """Describe the constraints that a recommendation was checked against."""
    words = [f"slots of all {len(instance.machines)} VMs"]
    if any(machine.cpu_millicores is not None or machine.memory_mib is not None for machine in instance.machines):
        words.append("CPU and memory of the VMs that state them")
    pinned = sum(need.pinned for application in instance.applications for need in application.tasks)
    if pinned:
        words.append(f"{pinned} pinned tasks")
    regions = len(set(instance.location[1].tolist())) > 1
    for application in instance.applications:
        if application.allowed is not None:
            zones = sorted({instance.machines[at].zone for at in np.flatnonzero(application.allowed).tolist()})
            words.append(f"{application.name} only in {', '.join(zones)}")
        if regions and application.chosen and not application.leaves_region:
            words.append(f"{application.name} stays in its regions")
        for level, most, _ in _spread_limits(instance, application):
            words.append(f"{application.name}: at most {counted(most, 'tasks')} a {level}")
        for other in sorted(application.apart_from):
            if instance.applications[other].name > application.name:
                words.append(f"{application.name} and {instance.applications[other].name} share no VM")
    return words


def _leaves_region(instance: Instance, source: int, target: int) -> bool:
    return bool(instance.location[1, source] != instance.location[1, target])


def _spread_limits(instance: Instance, application: Deployment) -> Iterator[tuple[str, int, Indices]]:
    """Yield each spread limit of an application: its level, the most tasks, and the domain of each machine."""
    for level, most, domain in (
        ("VM", application.per_vm_max, np.arange(len(instance.machines), dtype=np.intp)),
        ("host", application.per_host_max, instance.racks),
        ("zone", application.per_zone_max, instance.zones),
    ):
        if most is not None:
            yield level, most, domain


def moves_allowed(most: int) -> str:
    """Return a budget of moves in words: "no moves allowed", "at most 2 moves"."""
    return "no moves allowed" if most == 0 else f"at most {counted(most, 'moves')}"


def counted(count: int | None, unit: str) -> str:
    """Return a number with its unit: "1 slot", "2 slots"."""
    return f"{count} {unit.removesuffix('s') if count == 1 else unit}"
