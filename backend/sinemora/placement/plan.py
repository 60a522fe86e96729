"""What a placement policy answers: where everything goes, what that costs, and how far it is proven best."""

from dataclasses import dataclass, field

import numpy as np

from sinemora.placement.problem import ANYWHERE, Assignment, Ints


@dataclass(frozen=True, slots=True)
class Certificate:
    """`primal` is what the plan costs in the objective solved, `dual` a proven lower bound on any plan's."""

    primal: int
    dual: int

    @property
    def gap(self) -> int:
        """0 proves the plan optimal."""
        return self.primal - self.dual

    @property
    def proven(self) -> bool:
        """Whether no plan can be better."""
        return self.gap == 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """How the plan was found."""

    seconds: float
    """From problem to plan."""
    rounds: int = 0
    """How often columns (pairs of job and machine) were added, the last and empty time included."""
    columns: int = 0
    """Pairs looked at by the solver."""
    pivots: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """`count` tasks of `job` from one machine to another."""

    job: int
    source: int
    target: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Roots and tasks on machines. Costs are in points: 100 is a task at its best, see `costs`."""

    policy: str
    root: Ints
    """Machine of each job's root, `ANYWHERE` where it waits."""
    assignment: Assignment
    waiting: Ints
    """Tasks of each job that are not placed."""
    cost: int
    """Sum over placed tasks, and what waiting costs."""
    certificate: Certificate | None
    """None: best found, nothing proven."""
    statistics: Statistics
    slot_price: Ints | None = field(default=None)
    """What one more slot on each machine would save, in cost points (the dual of its slots); None: not known."""
    job_price: Ints | None = field(default=None)
    """What one more task of each job would cost (the dual of its tasks)."""


def moved_tasks(current: Assignment, planned: Assignment) -> int:
    """How many running tasks leave their machine; that a waiting one starts is no move."""
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
    """Which tasks change their machine. Tasks of a job are alike, so its sources and targets are paired in order.

    With `starts` also those that waited: their source is `ANYWHERE`.
    """
    before, after = current.merged(), planned.merged()
    width = int(max(before.machine.max(initial=0), after.machine.max(initial=0))) + 1
    keys = np.union1d(before.job * width + before.machine, after.job * width + after.machine)
    change = np.zeros(len(keys), np.int64)
    change[np.searchsorted(keys, after.job * width + after.machine)] += after.count
    change[np.searchsorted(keys, before.job * width + before.machine)] -= before.count
    found: list[Move] = []
    jobs = keys // width
    for job in np.unique(jobs[change != 0]):
        start, end = np.searchsorted(jobs, [job, job + 1])
        mine = range(start, end)
        sources = [[int(keys[at] % width), -int(change[at])] for at in mine if change[at] < 0]
        targets = [[int(keys[at] % width), int(change[at])] for at in mine if change[at] > 0]
        while sources and targets:
            count = min(sources[0][1], targets[0][1])
            found.append(Move(int(job), sources[0][0], targets[0][0], count))
            for side in (sources, targets):
                side[0][1] -= count
                if side[0][1] == 0:
                    side.pop(0)
        if starts:
            found += [Move(int(job), ANYWHERE, target, count) for target, count in targets]
    return found
