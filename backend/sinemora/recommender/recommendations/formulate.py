"""A world as a placement problem, and the solver's counts as moves of tasks.

The solver knows jobs of alike tasks; here each task has a name. What it may not place, tasks with a size of their own,
pinned ones and those of other applications, keeps its slots.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.recommender.applications.performance import Flags
from sinemora.recommender.curves.curve import Floats
from sinemora.recommender.curves.table import STEP_US, CurveTable
from sinemora.recommender.placement import gang, moves, policies
from sinemora.recommender.placement.costs import Objective
from sinemora.recommender.placement.plan import Plan, moved_tasks
from sinemora.recommender.placement.plan import moves as moves_between
from sinemora.recommender.placement.problem import Assignment, Ints, Jobs, Machines, Nanoseconds, Problem, Spread
from sinemora.recommender.recommendations.groups import TaskMove
from sinemora.recommender.recommendations.world import Assumed, Deployed, World

POINTS = 1000
"""Cost points of a whole performance lost (`Objective.loss`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Round trips between all machines, as the solver asks for them."""

    nanoseconds: Nanoseconds

    def rows(self, sources: Ints) -> Nanoseconds:
        """Those from `sources`."""
        return self.nanoseconds[sources]


def stars_of(world: World) -> list[int]:
    """The applications a question is about whose root has a place, by position."""
    return [
        place
        for place, one in enumerate(world.applications)
        if one.chosen and one.root is not None and one.at[one.root] >= 0
    ]


def solve(problem: Problem, *, roots: bool, moves_max: int, least_gain: float) -> Plan:
    """The cheapest placement in which a move gains its task `least_gain` on average, with at most `moves_max` moves.

    `roots`: choose roots with their tasks (`gang`); that and spread limits take no price of moves, the judge does.
    """
    if roots:
        return gang.solve(problem, Objective.loss)
    if problem.spread:
        return policies.solve(problem, objective=Objective.loss)
    price = int(np.ceil(least_gain * POINTS))
    plan = moves.front(problem, (price,), Objective.loss)[0].plan
    if moved_tasks(moves.movable(problem), plan.assignment) > moves_max:
        return moves.within_budget(problem, moves_max, Objective.loss)
    return plan


def _movable(one: Deployed) -> list[int]:
    """Tasks the solver may place: those without a size of their own; the rest stay and keep their slots."""
    return [
        position
        for position, need in enumerate(one.tasks)
        if position != one.root and need.slots == 1 and not (need.pinned and one.at[position] >= 0)
    ]


def formulate(world: World, stars: list[int], assumed: Assumed) -> Problem:
    """The placement question of the applications `stars`."""
    slots = np.array([machine.slots for machine in world.machines], np.int64) - world.taken()
    entries: list[tuple[int, int, int]] = []
    allowed: dict[int, Flags] = {}
    spread: list[Spread] = []
    for job, place in enumerate(stars):
        one = world.applications[place]
        slots[one.at[one.root]] += 1  # the problem counts roots itself
        for position in _movable(one):
            machine = int(one.at[position])
            if machine >= 0:
                slots[machine] += 1
                entries.append((job, machine, 1))
        if one.allowed is not None:
            allowed[job] = one.allowed
        for level, most in (("machine", one.per_vm_max), ("rack", one.per_host_max), ("pod", one.per_zone_max)):
            if most is not None:
                spread.append(Spread(job, level, most))
    chosen = [world.applications[place] for place in stars]
    return Problem(
        jobs=Jobs.of(
            [len(_movable(one)) for one in chosen],
            [int(one.at[one.root]) for one in chosen],
            list(range(len(chosen))),
            [one.name for one in chosen],
        ),
        machines=Machines(
            slots, world.racks.astype(np.int64), world.zones.astype(np.int64), [one.name for one in world.machines]
        ),
        latency=Dense(np.minimum(assumed.round_trips_ns, np.iinfo(np.int32).max).astype(np.int32)),
        curves=_table(chosen),
        current=Assignment.of(entries) if entries else Assignment.nothing(),
        allowed=allowed,
        spread=tuple(spread),
    )


def _table(applications: list[Deployed]) -> CurveTable:
    """Performance by measured round trip: each curve begins at the round trip of its own test bed."""
    end_us = max(one.sensitivity.curve.end_us + one.sensitivity.reference_us for one in applications)
    at = np.arange(int(np.ceil(end_us / STEP_US)) + 1) * STEP_US
    values: Floats = np.stack(
        [one.sensitivity.curve(one.sensitivity.added_us(at * 1e3)) for one in applications], axis=1
    )
    return CurveTable(STEP_US, np.ascontiguousarray(values), np.diff(values, axis=0, append=values[-1:]))


def task_moves(world: World, stars: list[int], problem: Problem, plan: Plan) -> list[TaskMove]:
    """The tasks behind the counts of a plan: those of an application on one machine are alike, the last go first."""
    waiting: dict[tuple[int, int], list[int]] = {}
    for job, place in enumerate(stars):
        one = world.applications[place]
        for position in _movable(one):
            waiting.setdefault((job, int(one.at[position])), []).append(position)
    found = []
    for job, place in enumerate(stars):
        one = world.applications[place]
        assert one.root is not None
        if plan.root[job] != one.at[one.root]:
            found.append(TaskMove((place, one.root), int(one.at[one.root]), int(plan.root[job])))
    for move in moves_between(problem.current, plan.assignment):
        for _ in range(move.count):
            task = waiting[move.job, move.source].pop()
            found.append(TaskMove((stars[move.job], task), move.source, move.target))
    return found
