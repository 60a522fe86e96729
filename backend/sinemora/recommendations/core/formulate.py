"""Translates an instance to a placement problem, and its solution to task moves.

The solver places jobs: stars of a root and identical tasks. Here each task has a name. Tasks the solver may not place
(with a size of their own, pinned, or of other applications) keep their slots.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.table import STEP_US, CurveTable
from sinemora.applications.performance import Flags, Indices
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING, Deployment, ImputedMatrix, Instance
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.plan import moves as moves_between
from sinemora.recommendations.placement.problem import (
    ANYWHERE,
    Assignment,
    Ints,
    Jobs,
    Machines,
    Nanoseconds,
    Problem,
    Spread,
)

STEPS_MOST = 20_000
"""Maximum number of steps of a curve table: beyond 200 ms they are wider than 10 µs."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Round trips between all machines, as the solver reads them."""

    nanoseconds: Nanoseconds

    def rows(self, sources: Ints) -> Nanoseconds:
        """Return the rows of `sources`."""
        return self.nanoseconds[sources]


def solvable_stars(instance: Instance) -> list[int]:
    """Return the positions of the selected applications that the star solver can place."""
    return [
        place
        for place, application in enumerate(instance.applications)
        if application.chosen
        and application.root is not None
        and (
            application.at[application.root] >= 0
            or (application.at[application.root] == WAITING and application.tasks[application.root].slots == 1)
        )
    ]


def solver_tasks(application: Deployment) -> list[int]:
    """Return the tasks of a star that the solver may place: those of one slot, neither pinned nor elsewhere."""
    return [
        position
        for position, need in enumerate(application.tasks)
        if position != application.root
        and need.slots == 1
        and application.at[position] != ELSEWHERE
        and not (need.pinned and application.at[position] >= 0)
    ]


def formulate(instance: Instance, stars: list[int], assumed: ImputedMatrix, racks: Indices | None = None) -> Problem:
    """Return the placement problem of the applications `stars`; `racks` (default: hosts) of each machine."""
    slots = instance.free()[:, 0]
    entries: list[tuple[int, int, int]] = []
    running_s: list[float] = []
    waited_s = [0.0] * len(stars)
    allowed: dict[int, Flags] = {}
    spread: list[Spread] = []
    for job, place in enumerate(stars):
        application = instance.applications[place]
        assert application.root is not None
        if application.at[application.root] >= 0:
            slots[application.at[application.root]] += 1  # the problem counts roots itself
        for position in solver_tasks(application):
            machine = int(application.at[position])
            if machine >= 0:
                slots[machine] += 1
                entries.append((job, machine, 1))
                running_s.append(application.tasks[position].running_s)
            else:
                waited_s[job] = max(waited_s[job], application.tasks[position].waited_s)
        usable = _usable(instance, stars, place)
        if not usable.all():
            allowed[job] = usable
        for level, most in (
            ("machine", application.per_vm_max),
            ("rack", application.per_host_max),
            ("pod", application.per_zone_max),
        ):
            if most is not None:
                spread.append(Spread(job, level, most))
    chosen = [instance.applications[place] for place in stars]
    curves = table(chosen)
    roots = [
        int(application.at[application.root]) if application.root is not None else ANYWHERE for application in chosen
    ]
    jobs = Jobs.of(
        [len(solver_tasks(application)) for application in chosen],
        [root if root >= 0 else ANYWHERE for root in roots],
        list(range(len(chosen))),
        [application.name for application in chosen],
    )
    return Problem(
        jobs=replace(jobs, waited_s=np.rint(waited_s).astype(np.int64)),
        machines=Machines(
            np.maximum(slots, 0),
            (instance.racks if racks is None else racks).astype(np.int64),
            instance.zones.astype(np.int64),
            [machine.name for machine in instance.machines],
        ),
        latency=Dense(np.minimum(assumed.round_trips_ns, np.iinfo(np.int32).max).astype(np.int32)),
        curves=curves,
        current=Assignment.of(entries) if entries else Assignment.nothing(),
        allowed=allowed,
        spread=tuple(spread),
        running_s=np.rint(running_s).astype(np.int64) if running_s else None,
    )


def table(applications: list[Deployment]) -> CurveTable:
    """Return performance by measured round trip: each curve starts at the round trip of its test bed."""
    end_us = max(
        application.sensitivity.curve.end_us + application.sensitivity.reference_us for application in applications
    )
    step_us = max(STEP_US, float(np.ceil(end_us / STEPS_MOST)))
    at = np.arange(int(np.ceil(end_us / step_us)) + 1) * step_us
    known: dict[object, Floats] = {}
    columns = []
    for app in applications:
        key = (id(app.sensitivity.curve), app.sensitivity.reference_us)
        if key not in known:
            known[key] = app.sensitivity.curve(app.sensitivity.added_us(at * 1e3))
        columns.append(known[key])
    values: Floats = np.ascontiguousarray(np.stack(columns, axis=1))
    return CurveTable(step_us, values)


def task_moves(instance: Instance, stars: list[int], problem: Problem, plan: PlacementPlan) -> list[TaskMove]:
    """Return the task moves of a plan: identical tasks on one machine are interchangeable, the last move first."""
    waiting: dict[tuple[int, int], list[int]] = {}
    for job, place in enumerate(stars):
        application = instance.applications[place]
        for position in solver_tasks(application):
            waiting.setdefault((job, int(application.at[position])), []).append(position)
    for (job, _), positions in waiting.items():
        # Those that have run for the shortest time move first.
        positions.sort(key=_running_s(instance.applications[stars[job]]), reverse=True)
    moves = []
    for job, place in enumerate(stars):
        application = instance.applications[place]
        assert application.root is not None
        if plan.root[job] != application.at[application.root] and plan.root[job] != ANYWHERE:
            takes = application.tasks[application.root].takes
            moves.append(
                TaskMove((place, application.root), int(application.at[application.root]), int(plan.root[job]), takes)
            )
    for move in moves_between(problem.current, plan.assignment, starts=True):
        for _ in range(move.count):
            place = stars[move.job]
            task = waiting[move.job, move.source].pop()
            takes = instance.applications[place].tasks[task].takes
            moves.append(TaskMove((place, task), move.source, move.target, takes))
    return moves


def _running_s(application: Deployment) -> Callable[[int], float]:
    return lambda position: application.tasks[position].running_s


def _usable(instance: Instance, stars: list[int], place: int) -> Flags:
    """Return the machines of an application: its zones, without those of what stays and must be apart from it."""
    application = instance.applications[place]
    usable = np.ones(len(instance.machines), np.bool_) if application.allowed is None else application.allowed.copy()
    for other in application.apart_from - set(stars):
        at = instance.applications[other].at
        usable[at[at >= 0]] = False
    for other in application.apart_from & set(stars):
        rival = instance.applications[other]
        assert rival.root is not None
        if rival.at[rival.root] >= 0:
            usable[rival.at[rival.root]] = False
    return usable
