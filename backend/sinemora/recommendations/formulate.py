"""A world as a placement problem, and the solver's counts as moves of tasks.

The solver knows jobs of alike tasks, a root and the others: stars. Here each task has a name. What it may not place,
tasks with a size of their own, pinned ones and those of other applications, keeps its slots.
"""

from dataclasses import dataclass

import numpy as np

from sinemora.applications.performance import Flags
from sinemora.curves.core.curve import Floats
from sinemora.curves.core.table import STEP_US, CurveTable
from sinemora.placement.move_sequence import TaskMove
from sinemora.placement.plan import Plan
from sinemora.placement.plan import moves as moves_between
from sinemora.placement.policies import Policy
from sinemora.placement.problem import (
    ANYWHERE,
    Assignment,
    Ints,
    Jobs,
    Machines,
    Nanoseconds,
    Problem,
    Resources,
    Spread,
)
from sinemora.recommendations.instance import ELSEWHERE, WAITING, Assumed, Deployed, World
from sinemora.recommendations.tail_risk import OfValues

STEPS_MOST = 20_000
"""Steps of a table of curves: beyond 200 ms they are wider than 10 µs."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Round trips between all machines, as the solver asks for them."""

    nanoseconds: Nanoseconds

    def rows(self, sources: Ints) -> Nanoseconds:
        """Those from `sources`."""
        return self.nanoseconds[sources]


def stars_of(world: World) -> list[int]:
    """The applications a question is about that are stars the solver can place, by position."""
    return [
        place
        for place, one in enumerate(world.applications)
        if one.chosen
        and one.root is not None
        and (one.at[one.root] >= 0 or (one.at[one.root] == WAITING and one.tasks[one.root].slots == 1))
    ]


def placed_by_solver(one: Deployed) -> list[int]:
    """Tasks of a star the solver may place: those without a size of their own; the rest stay and keep their slots."""
    return [
        position
        for position, need in enumerate(one.tasks)
        if position != one.root
        and need.slots == 1
        and one.at[position] != ELSEWHERE
        and not (need.pinned and one.at[position] >= 0)
    ]


def formulate(world: World, stars: list[int], assumed: Assumed, policy: Policy) -> Problem:
    """The placement question of the applications `stars`, with what the policy needs to know."""
    slots = world.free()[:, 0]
    entries: list[tuple[int, int, int]] = []
    allowed: dict[int, Flags] = {}
    spread: list[Spread] = []
    for job, place in enumerate(stars):
        one = world.applications[place]
        assert one.root is not None
        if one.at[one.root] >= 0:
            slots[one.at[one.root]] += 1  # the problem counts roots itself
        for position in placed_by_solver(one):
            machine = int(one.at[position])
            if machine >= 0:
                slots[machine] += 1
                entries.append((job, machine, 1))
        usable = _usable(world, stars, place)
        if not usable.all():
            allowed[job] = usable
        for level, most in (("machine", one.per_vm_max), ("rack", one.per_host_max), ("pod", one.per_zone_max)):
            if most is not None:
                spread.append(Spread(job, level, most))
    chosen = [world.applications[place] for place in stars]
    curves = table(chosen)
    roots = [int(one.at[one.root]) if one.root is not None else ANYWHERE for one in chosen]
    return Problem(
        jobs=Jobs.of(
            [len(placed_by_solver(one)) for one in chosen],
            [root if root >= 0 else ANYWHERE for root in roots],
            list(range(len(chosen))),
            [one.name for one in chosen],
        ),
        machines=Machines(
            np.maximum(slots, 0),
            world.racks.astype(np.int64),
            world.zones.astype(np.int64),
            [one.name for one in world.machines],
        ),
        latency=Dense(np.minimum(assumed.round_trips_ns, np.iinfo(np.int32).max).astype(np.int32)),
        curves=curves,
        current=Assignment.of(entries) if entries else Assignment.nothing(),
        allowed=allowed,
        spread=tuple(spread),
        resources=_resources(world, stars) if policy is Policy.pack else None,
        risk=None
        if world.felt_choosing is None
        else (
            OfValues(world.felt_choosing.values, assumed.round_trips_ns, curves.step_us * 1e3, len(curves.values)),
            world.felt_choosing.risk,
        ),
    )


def table(applications: list[Deployed]) -> CurveTable:
    """Performance by measured round trip: each curve begins at the round trip of its own test bed."""
    end_us = max(one.sensitivity.curve.end_us + one.sensitivity.reference_us for one in applications)
    step_us = max(STEP_US, float(np.ceil(end_us / STEPS_MOST)))
    at = np.arange(int(np.ceil(end_us / step_us)) + 1) * step_us
    known: dict[object, Floats] = {}
    columns = []
    for one in applications:
        key = (id(one.sensitivity.curve), one.sensitivity.reference_us)
        if key not in known:
            known[key] = one.sensitivity.curve(one.sensitivity.added_us(at * 1e3))
        columns.append(known[key])
    values: Floats = np.ascontiguousarray(np.stack(columns, axis=1))
    return CurveTable(step_us, values, np.diff(values, axis=0, append=values[-1:]))


def task_moves(world: World, stars: list[int], problem: Problem, plan: Plan) -> list[TaskMove]:
    """The tasks behind the counts of a plan: those of an application on one machine are alike, the last go first."""
    waiting: dict[tuple[int, int], list[int]] = {}
    for job, place in enumerate(stars):
        one = world.applications[place]
        for position in placed_by_solver(one):
            waiting.setdefault((job, int(one.at[position])), []).append(position)
    found = []
    for job, place in enumerate(stars):
        one = world.applications[place]
        assert one.root is not None
        if plan.root[job] != one.at[one.root] and plan.root[job] != ANYWHERE:
            takes = one.tasks[one.root].takes
            found.append(TaskMove((place, one.root), int(one.at[one.root]), int(plan.root[job]), takes))
    for move in moves_between(problem.current, plan.assignment, starts=True):
        for _ in range(move.count):
            place = stars[move.job]
            task = waiting[move.job, move.source].pop()
            takes = world.applications[place].tasks[task].takes
            found.append(TaskMove((place, task), move.source, move.target, takes))
    return found


def _usable(world: World, stars: list[int], place: int) -> Flags:
    """Machines an application may use: its zones, and none where one runs that is not asked about and must be apart."""
    one = world.applications[place]
    usable = np.ones(len(world.machines), np.bool_) if one.allowed is None else one.allowed.copy()
    for other in one.apart_from - set(stars):
        at = world.applications[other].at
        usable[at[at >= 0]] = False
    return usable


def _resources(world: World, stars: list[int]) -> Resources:
    """CPU and memory; tasks of a job are alike, so the largest speaks for all."""
    room = world.free()[:, 1:]
    needs = np.zeros((len(stars), 2), np.int64)
    for job, place in enumerate(stars):
        one = world.applications[place]
        for position in placed_by_solver(one):
            takes = np.array(one.tasks[position].takes[1:])
            needs[job] = np.maximum(needs[job], takes)
            if one.at[position] >= 0:
                room[one.at[position]] += takes
    job_of = {place: job for job, place in enumerate(stars)}
    pairs = {
        tuple(sorted((job_of[place], job_of[other])))
        for place in stars
        for other in world.applications[place].apart_from
        if other in job_of
    }
    apart = tuple((pair[0], pair[1]) for pair in sorted(pairs))
    return Resources(needs[:, 0], needs[:, 1], room[:, 0], room[:, 1], apart)
