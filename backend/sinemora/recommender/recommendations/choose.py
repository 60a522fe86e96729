"""Which tasks should move: the solver's placement on some windows, kept where other windows agree.

The solver sees the median round trip of the choosing windows and what performance each place would give. What it
proposes falls into groups of moves that need one another; a group is kept when, in the judging windows, it gains more
than its moves cost with `PROBABILITY`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sinemora.recommender.applications.performance import Indices, Links, reached
from sinemora.recommender.placement.plan import Plan
from sinemora.recommender.placement.problem import Problem
from sinemora.recommender.recommendations.formulate import formulate, solve, stars_of, task_moves
from sinemora.recommender.recommendations.groups import Step, TaskMove, ordered, together
from sinemora.recommender.recommendations.judge import Gain, Series, gain, series
from sinemora.recommender.recommendations.limits import Broken, broken
from sinemora.recommender.recommendations.world import Assumed, Deployed, World, filled

PROBABILITY = 0.9


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


def choose(world: World, moves_max: int, move_cost: float | None, *, roots: bool = False) -> Choice:
    """The moves worth making; with `roots`, roots may move too. Raises `NothingKnown`, `placement.ProblemError`."""
    assumed = filled(world.choosing, world.zones)
    stars = stars_of(world)
    here = tuple(one.at for one in world.applications)
    if not stars or moves_max == 0:
        return Choice((), (), (), here, None, None, assumed, 0.0)
    problem = formulate(world, stars, assumed)
    noise = hysteresis(world, stars)
    costs = [world.applications[place].move_cost if move_cost is None else move_cost for place in stars]
    plan = solve(problem, roots=roots, moves_max=moves_max, least_gain=max(noise, min(costs)))
    proposed = task_moves(world, stars, problem, plan)
    rerooted = {move.task[0] for move in proposed if move.task[1] == world.applications[move.task[0]].root}
    judged = (_judged(world, tuple(group), move_cost, noise) for group in together(proposed, rerooted))
    groups = _affordable(world, sorted(judged, key=_worth, reverse=True), moves_max)
    groups, steps = _walkable(world, groups)
    kept = [group for group in groups if group.rejected is None]
    after = moved(here, [move for group in kept for move in group.moves])
    return Choice(steps, tuple(groups), tuple(kept), after, plan, problem, assumed, noise)


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
    pinned = [need.name for move in moves if (need := world.applications[move.task[0]].tasks[move.task[1]]).pinned]
    if pinned:
        return Group(moves, found, f"{pinned[0]} is pinned")
    if found is None:
        return Group(moves, None, "no judging window knows all round trips before and after")
    if found.probability < PROBABILITY:
        return Group(moves, found, f"it gains more than it costs only with a probability of {found.probability:.0%}")
    return Group(moves, found, None)


def _price(one: Deployed, place: int, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float) -> float:
    """What moves cost an application: each has to gain its task so much, and a task is one link of many."""
    least = max(one.move_cost if move_cost is None else move_cost, noise)
    return sum(move.task[0] == place for move in moves) * least / max(len(one.links), 1)


def _affordable(world: World, groups: list[Group], moves_max: int) -> list[Group]:
    """Groups, the best first, with those rejected that are more moves than are left, in all or of an application."""
    left = moves_max
    own = {place: one.moves_max for place, one in enumerate(world.applications)}
    found = []
    for group in groups:
        count = Counter(move.task[0] for move in group.moves)
        over = [place for place, moves in count.items() if (limit := own[place]) is not None and moves > limit]
        if group.rejected is None and len(group.moves) > left:
            group = replace(group, rejected=f"{len(group.moves)} moves are more than the {left} that are left")
        elif group.rejected is None and over:
            group = replace(group, rejected=f"{world.applications[over[0]].name} may not move that many tasks")
        elif group.rejected is None:
            left -= len(group.moves)
            own |= {place: limit - moves for place, moves in count.items() if (limit := own[place]) is not None}
        found.append(group)
    return found


def _walkable(world: World, groups: list[Group]) -> tuple[list[Group], tuple[Step, ...]]:
    """Groups with those rejected that find no free slot in any order, and the steps of the others."""
    free = np.array([machine.slots for machine in world.machines], np.int64) - world.taken()
    while True:
        order = ordered([move for group in groups if group.rejected is None for move in group.moves], free)
        if not order.stuck:
            return groups, order.steps
        words = "full VMs would exchange tasks, and no VM has a slot to lend; free one slot anywhere"
        groups = [
            replace(group, rejected=words) if group.rejected is None and set(group.moves) & set(order.stuck) else group
            for group in groups
        ]


def _worth(group: Group) -> float:
    """Mean gain a move; what cannot be judged comes last."""
    return -np.inf if group.gain is None else group.gain.gain.mean / len(group.moves)
