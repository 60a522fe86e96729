"""Which tasks should move: the solver's placement on some windows, kept where other windows agree.

The solver sees the median round trip of the choosing windows and what performance each place would give. What it
proposes falls into groups of moves that need one another; a group is kept when, in the judging windows, it gains more
than its moves cost with `PROBABILITY`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sinemora.recommender.applications.performance import Flags, Indices, Links, reached
from sinemora.recommender.curves.curve import Floats
from sinemora.recommender.curves.table import STEP_US, CurveTable
from sinemora.recommender.placement import exact
from sinemora.recommender.placement.costs import Objective
from sinemora.recommender.placement.plan import Plan
from sinemora.recommender.placement.plan import moves as moves_between
from sinemora.recommender.placement.problem import Assignment, Ints, Jobs, Machines, Nanoseconds, Problem, Spread
from sinemora.recommender.recommendations.groups import Step, TaskMove, ordered, together
from sinemora.recommender.recommendations.judge import Gain, Series, gain, series
from sinemora.recommender.recommendations.limits import Broken, broken
from sinemora.recommender.recommendations.world import Assumed, Deployed, World, filled

PROBABILITY = 0.9
POINTS = 1000
"""Cost points of a whole performance lost (`Objective.loss`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Round trips between all machines, as the solver asks for them."""

    nanoseconds: Nanoseconds

    def rows(self, sources: Ints) -> Nanoseconds:
        """Those from `sources`."""
        return self.nanoseconds[sources]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Moves that need one another, what they gain together, and why they are not recommended if they are not."""

    moves: tuple[TaskMove, ...]
    gain: Gain | None
    rejected: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What to do. `steps` in order, `groups` all that were looked at, best first; `after` is where tasks end up."""

    steps: tuple[Step, ...]
    groups: tuple[Group, ...]
    kept: tuple[Group, ...]
    after: tuple[Indices, ...]
    plan: Plan | None
    problem: Problem | None
    assumed: Assumed
    hysteresis: float
    """What a move must gain its task at least, because round trips are noisy."""


def choose(world: World, moves_max: int, move_cost: float | None) -> Choice:
    """The moves worth making. Raises `NothingKnown`, `placement.problem.ProblemError`."""
    assumed = filled(world.choosing, world.zones)
    stars = [
        place
        for place, one in enumerate(world.applications)
        if one.chosen and one.root is not None and one.at[one.root] >= 0
    ]
    here = tuple(one.at for one in world.applications)
    if not stars or moves_max == 0:
        return Choice((), (), (), here, None, None, assumed, 0.0)
    problem = _problem(world, stars, assumed)
    noise = hysteresis(world, stars)
    plan = exact.solve(problem, Objective.loss)
    proposed = _task_moves(world, stars, problem, plan)
    groups = sorted(
        (_judged(world, tuple(group), move_cost, noise) for group in together(proposed)), key=_worth, reverse=True
    )
    kept, left = [], moves_max
    own_left = {place: one.moves_max for place, one in enumerate(world.applications)}
    for at, group in enumerate(groups):
        if group.rejected is not None:
            continue
        by_application = {place: sum(move.task[0] == place for move in group.moves) for place in stars}
        over = [place for place, count in by_application.items() if _limit(own_left[place]) < count]
        if len(group.moves) > left or over:
            words = (
                f"{len(group.moves)} moves are more than the {left} that are left"
                if not over
                else (f"{world.applications[over[0]].name} may not move that many tasks")
            )
            groups[at] = replace(group, rejected=words)
            continue
        left -= len(group.moves)
        for place, count in by_application.items():
            own_left[place] = None if own_left[place] is None else _limit(own_left[place]) - count
        kept.append(group)
    moves = [move for group in kept for move in group.moves]
    free = np.array([machine.slots for machine in world.machines], np.int64) - world.taken()
    order = ordered(moves, free)
    return Choice(order.steps, tuple(groups), tuple(kept), moved(here, moves), plan, problem, assumed, noise)


def moved(at: tuple[Indices, ...], moves: Iterable[TaskMove]) -> tuple[Indices, ...]:
    """Where tasks are after `moves`."""
    after = [one.copy() for one in at]
    for move in moves:
        after[move.task[0]][move.task[1]] = move.target
    return tuple(after)


def expected(
    world: World, before: tuple[Indices, ...], after: tuple[Indices, ...], places: Iterable[int], price: float
) -> Gain | None:
    """What going from one placement to another gains the applications `places`, by the judging windows."""
    chosen = list(places)
    first, then = ([_series(world, place, side[place]) for place in chosen] for side in (before, after))
    return gain(first, then, price)


def of_task(world: World, move: TaskMove, before: tuple[Indices, ...], after: tuple[Indices, ...]) -> Gain | None:
    """What a move gains its own task: over the links it has."""
    place, task = move.task
    one = world.applications[place]
    mine = (one.links.sources == task) | (one.links.targets == task)
    links = Links(one.links.sources[mine], one.links.targets[mine], one.links.weights[mine])
    first, then = (series(links, side[place], world.judging, one.sensitivity) for side in (before, after))
    return gain([first], [then], 0.0)


def hysteresis(world: World, stars: Iterable[int]) -> float:
    """What noise alone may make a place look better by: twice the standard error of a link's performance.

    The choice picks the places whose noise looks best; moving for less than this would be moving for nothing.
    """
    errors = []
    for place in stars:
        one = world.applications[place]
        windows = np.array([reached(one.links, one.at, trips, one.sensitivity).performance for trips in world.choosing])
        counted = np.isfinite(windows).sum(axis=0)
        told = windows[:, counted > 1]
        if told.size:
            errors.append(np.nanstd(told, axis=0, ddof=1) / np.sqrt(counted[counted > 1]))
    return float(2 * np.median(np.concatenate(errors))) if errors else 0.0


def _series(world: World, place: int, at: Indices) -> Series:
    one = world.applications[place]
    # Tasks that wait for a VM have no links yet: they count on neither side.
    placed = (one.at[one.links.sources] >= 0) & (one.at[one.links.targets] >= 0)
    links = Links(one.links.sources[placed], one.links.targets[placed], one.links.weights[placed])
    return series(links, at, world.judging, one.sensitivity)


def _judged(world: World, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float) -> Group:
    here = tuple(one.at for one in world.applications)
    after = moved(here, moves)
    places = sorted({move.task[0] for move in moves})
    price = float(np.mean([_price(world.applications[place], place, moves, move_cost, noise) for place in places]))
    found = expected(world, here, after, places, price)
    violated: Broken | None = broken(world, after, {move.target for move in moves}, set(places))
    if violated is not None:
        return Group(moves, found, violated.words)
    if found is None:
        return Group(moves, None, "no judging window knows all round trips before and after")
    if found.probability < PROBABILITY:
        return Group(moves, found, f"it gains more than it costs only with a probability of {found.probability:.0%}")
    return Group(moves, found, None)


def _price(one: Deployed, place: int, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float) -> float:
    """What moves cost an application: each has to gain its task so much, and a task is one link of many."""
    least = max(one.move_cost if move_cost is None else move_cost, noise)
    return sum(move.task[0] == place for move in moves) * least / max(len(one.links), 1)


def _worth(group: Group) -> float:
    """Mean gain a move; what cannot be judged comes last."""
    return -np.inf if group.gain is None else group.gain.gain.mean / len(group.moves)


def _limit(moves_max: int | None) -> int:
    return 1 << 60 if moves_max is None else moves_max


def _movable(one: Deployed) -> list[int]:
    """Tasks the solver may place: those without a size of their own; the rest stay and keep their slots."""
    return [
        position
        for position, need in enumerate(one.tasks)
        if position != one.root and need.slots == 1 and not (need.pinned and one.at[position] >= 0)
    ]


def _problem(world: World, stars: list[int], assumed: Assumed) -> Problem:
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


def _task_moves(world: World, stars: list[int], problem: Problem, plan: Plan) -> list[TaskMove]:
    """The tasks behind the counts of a plan: those of an application on one machine are alike, the last go first."""
    waiting: dict[tuple[int, int], list[int]] = {}
    for job, place in enumerate(stars):
        one = world.applications[place]
        for position in _movable(one):
            waiting.setdefault((job, int(one.at[position])), []).append(position)
    found = []
    for move in moves_between(problem.current, plan.assignment):
        for _ in range(move.count):
            task = waiting[move.job, move.source].pop()
            found.append(TaskMove((stars[move.job], task), move.source, move.target))
    return found
