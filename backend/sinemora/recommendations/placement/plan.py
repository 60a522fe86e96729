"""Result of a placement policy: assignment, cost and optimality gap."""

from dataclasses import dataclass

import numpy as np

from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Ints


@dataclass(frozen=True, slots=True)
class Certificate:
    """`primal` is the cost of the plan in the solved objective, `dual` a proven lower bound for any plan."""

    primal: int
    dual: int

    @property
    def gap(self) -> int:
        """Return the optimality gap; 0 proves the plan optimal."""
        return self.primal - self.dual

    @property
    def proven(self) -> bool:
        """Return True if the plan is proven optimal."""
        return self.gap == 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """Effort of the solver."""

    seconds: float
    """Time from problem to plan."""
    arcs: int = 0
    """Arcs of the network."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """`count` tasks of `job` from one machine to another."""

    job: int
    source: int
    target: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class PlacementPlan:
    """Assignment of roots and tasks to machines. Costs are in points: 100 is a task at its best, see `costs`."""

    policy: str
    root: Ints
    """Machine of each job's root, `ANYWHERE` where it waits."""
    assignment: Assignment
    waiting: Ints
    """Tasks of each job that are not placed."""
    cost: int
    """Cost of placed and of waiting tasks."""
    certificate: Certificate | None
    """None: best found, not proven optimal."""
    statistics: Statistics


def moved_tasks(current: Assignment, planned: Assignment) -> int:
    """Return the number of running tasks that change machine; starts of waiting tasks are no moves."""
    before, after = current.merged(), planned.merged()
    width = int(max(before.machine.max(initial=0), after.machine.max(initial=0))) + 1
    keys = before.job * width + before.machine
    others = after.job * width + after.machine
    at = np.minimum(np.searchsorted(others, keys), max(len(others) - 1, 0))
    stays = np.zeros(len(keys), np.int64)
    if len(others):
        stays = np.where(others[at] == keys, np.minimum(after.count[at], before.count), 0)
    return int((before.count - stays).sum())


def moves(current: Assignment, planned: Assignment, starts: bool = False) -> list[Move]:
    """Return the tasks that change machine. Tasks of a job are identical: sources and targets are paired in order.

    `starts` includes waiting tasks, with the source `ANYWHERE`.
    """
    before, after = current.merged(), planned.merged()
    width = int(max(before.machine.max(initial=0), after.machine.max(initial=0))) + 1
    keys = np.union1d(before.job * width + before.machine, after.job * width + after.machine)
    change = np.zeros(len(keys), np.int64)
    change[np.searchsorted(keys, after.job * width + after.machine)] += after.count
    change[np.searchsorted(keys, before.job * width + before.machine)] -= before.count
    changes: list[Move] = []
    jobs = keys // width
    for job in np.unique(jobs[change != 0]):
        start, end = np.searchsorted(jobs, [job, job + 1])
        mine = range(start, end)
        sources = [[int(keys[at] % width), -int(change[at])] for at in mine if change[at] < 0]
        targets = [[int(keys[at] % width), int(change[at])] for at in mine if change[at] > 0]
        while sources and targets:
            count = min(sources[0][1], targets[0][1])
            changes.append(Move(int(job), sources[0][0], targets[0][0], count))
            for side in (sources, targets):
                side[0][1] -= count
                if side[0][1] == 0:
                    side.pop(0)
        if starts:
            changes += [Move(int(job), ANYWHERE, target, count) for target, count in targets]
    return changes
