"""Which tasks should move: the solver's placement on some windows, kept where other windows agree.

The solver sees the median round trip of the choosing windows and what performance each place would give. What it
proposes falls into groups of moves that need one another; a group is kept when, in the judging windows, it gains more
than its moves cost with `PROBABILITY`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Indices, Links
from sinemora.placement import policies
from sinemora.placement.costs import FAIR_SCALE, Objective
from sinemora.placement.move_sequence import Step, TaskMove, ordered, together
from sinemora.placement.plan import Plan
from sinemora.placement.policies import Policy
from sinemora.placement.problem import Problem
from sinemora.placement.search import Found
from sinemora.recommendations.constraints import Broken, broken
from sinemora.recommendations.formulate import formulate, stars_of, task_moves
from sinemora.recommendations.holdout import Gain, Series, gain, series
from sinemora.recommendations.infeasibility import unplaced_of
from sinemora.recommendations.instance import WAITING, Assumed, Deployed, World, filled
from sinemora.recommendations.local_search import left_over, searched
from sinemora.recommendations.tail_risk import Felt, felt

PROBABILITY = 0.9
POINTS = 1000
"""Cost points of a whole performance lost (`Objective.loss`)."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How places are to be chosen. `policy` None: everything by search; `move_cost` None: as applications say."""

    policy: Policy | None = Policy.exact
    objective: Objective = Objective.loss
    moves_max: int = 10
    move_cost: float | None = None


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
    searched: int = 0
    """How many tasks were not the solver's but the search's."""
    search: Found | None = None
    unplaced: tuple[str, ...] = ()
    """Which tasks find no place, and which limit is to blame."""


def choose(world: World, wish: Wish) -> Choice:
    """The moves worth making. Raises `NothingKnown`, `placement.ProblemError`, `placement.InfeasibleError`.

    The last is raised when tasks find no place and nothing else is worth doing; beside moves worth making it is told.

    Stars go to the solver, graphs and tasks of more than a slot to the search, which takes everything under `graph`.
    """
    assumed = filled(world.choosing, world.zones)
    here = tuple(one.at for one in world.applications)
    chosen = [place for place, one in enumerate(world.applications) if one.chosen]
    noise = hysteresis(world, chosen)
    costs = [world.applications[place].move_cost if wish.move_cost is None else wish.move_cost for place in chosen]
    least_gain = max(noise, min(costs, default=0.0))
    stars = [] if wish.policy is None else stars_of(world)
    problem, plan, proposed = None, None, []
    if stars and wish.policy is not None:
        problem = _asked(formulate(world, stars, assumed, wish.policy), wish, least_gain)
        plan = policies.solve(problem, wish.policy, wish.objective)
        proposed = task_moves(world, stars, problem, plan)
    movers = left_over(world, stars)
    search = None
    if movers:
        at = moved(here, proposed)
        own = [limit for place, _ in movers if (limit := world.applications[place].moves_max) is not None]
        most = min([wish.moves_max, *own])
        search = searched(world, assumed, at, movers, wish.objective, least_gain, most)
        again = None if problem is None else _offered(world, wish, stars, assumed, least_gain, proposed, search.moves)
        if again is not None:
            problem, plan, proposed = again
        proposed += search.moves
    rerooted = {move.task[0] for move in proposed if move.task[1] == world.applications[move.task[0]].root}
    # A search places the tasks of a graph for one another: what it moves of one stays together.
    graphs = {place for place, _ in movers if place not in stars}
    judged = (_judged(world, tuple(group), wish.move_cost, noise) for group in together(proposed, rerooted | graphs))
    groups = _affordable(world, sorted(judged, key=_worth, reverse=True), wish.moves_max)
    groups, steps = _walkable(world, groups)
    kept = [group for group in groups if group.rejected is None]
    after = moved(here, [move for group in kept for move in group.moves])
    unplaced = []
    for why in unplaced_of(world, stars, assumed, wish.policy, problem, plan, search):
        # Tasks that run where their limits would not have them may stay there.
        if not steps and any((here[place] == WAITING).any() for place in chosen):
            raise why
        unplaced.append(str(why))
    found = None if search is None else search.found
    return Choice(
        steps, tuple(groups), tuple(kept), after, plan, problem, assumed, noise, len(movers), found, tuple(unplaced)
    )


def _offered(
    world: World,
    wish: Wish,
    stars: list[int],
    assumed: Assumed,
    least_gain: float,
    proposed: list[TaskMove],
    searched_moves: list[TaskMove],
) -> tuple[Problem, Plan, list[TaskMove]] | None:
    """The stars placed anew with the slots that a search has freed; None when it freed none, or took what they left."""
    left = {move.source for move in proposed}
    if wish.policy is None or not any(not move.starts for move in searched_moves):
        return None
    if left & {move.target for move in searched_moves}:
        return None
    after = moved(tuple(one.at for one in world.applications), searched_moves)
    applications = (replace(one, at=at) for one, at in zip(world.applications, after, strict=True))
    freed = replace(world, applications=tuple(applications))
    problem = _asked(formulate(freed, stars, assumed, wish.policy), wish, least_gain)
    plan = policies.solve(problem, wish.policy, wish.objective)
    return problem, plan, task_moves(freed, stars, problem, plan)


def _asked(problem: Problem, wish: Wish, least_gain: float) -> Problem:
    """With a price and a budget of moves, where the policy knows them; else the judge sees to both."""
    if wish.policy not in (Policy.exact, Policy.robust, Policy.pack):
        return problem
    price = int(np.ceil(least_gain * POINTS))
    if wish.objective in (Objective.fair, Objective.worst_first):
        # There a task of an application of average size that loses all costs less than a thousand points.
        price = int(np.ceil(price * FAIR_SCALE / POINTS / max(float(problem.jobs.size.mean()), 1.0)))
    return replace(problem, move_price=price, most_moves=wish.moves_max)


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
    first, then = (
        series(links, side[place], world.judging, one.sensitivity, _of_star(one, world.felt_judging))
        for side in (before, after)
    )
    return gain([first], [then], 0.0)


def hysteresis(world: World, places: Iterable[int]) -> float:
    """What noise alone may make a place look better by: twice the standard error of a link's performance.

    The choice picks the places whose noise looks best; moving for less than this would be moving for nothing.
    """
    errors = []
    for place in places:
        one = world.applications[place]
        windows = felt(one.links, one.at, world.choosing, one.sensitivity, _of_star(one, world.felt_choosing))[0]
        counted = np.isfinite(windows).sum(axis=0)
        told = windows[:, counted > 1]
        if told.size:
            errors.append(np.nanstd(told, axis=0, ddof=1) / np.sqrt(counted[counted > 1]))
    return float(2 * np.median(np.concatenate(errors))) if errors else 0.0


def _of_star(one: Deployed, by: Felt | None) -> Felt | None:
    """What counts of distributions, which are told from where roots are: a graph has none."""
    return None if one.root is None else by


def _series(world: World, place: int, at: Indices) -> Series:
    one = world.applications[place]
    return series(one.links, at, world.judging, one.sensitivity, _of_star(one, world.felt_judging))


def _judged(world: World, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float) -> Group:
    here = tuple(one.at for one in world.applications)
    after = moved(here, moves)
    places = sorted({move.task[0] for move in moves})
    price = float(np.mean([_price(world.applications[place], place, moves, move_cost, noise) for place in places]))
    found = expected(world, here, after, places, price)
    violated: Broken | None = broken(world, after, {move.target for move in moves}, set(places))
    if violated is not None:
        return Group(moves, found, violated.words)
    pinned = [
        need.name
        for move in moves
        if (need := world.applications[move.task[0]].tasks[move.task[1]]).pinned and not move.starts
    ]
    if pinned:
        return Group(moves, found, f"{pinned[0]} is pinned")
    if any(move.starts for move in moves):
        return Group(moves, found, None)  # a task that waits does nothing: any place is better
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
        count = Counter(move.task[0] for move in group.moves if not move.starts)
        over = [place for place, moves in count.items() if (limit := own[place]) is not None and moves > limit]
        if group.rejected is None and count.total() > left:
            group = replace(group, rejected=f"{count.total()} moves are more than the {left} that are left")
        elif group.rejected is None and over:
            group = replace(group, rejected=f"{world.applications[over[0]].name} may not move that many tasks")
        elif group.rejected is None:
            left -= count.total()
            own |= {place: limit - moves for place, moves in count.items() if (limit := own[place]) is not None}
        found.append(group)
    return found


def _walkable(world: World, groups: list[Group]) -> tuple[list[Group], tuple[Step, ...]]:
    """Groups with those rejected that find no free slot in any order, and the steps of the others."""
    free = world.free()
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
    """Mean gain a move; what starts waiting tasks comes first, what cannot be judged last."""
    if any(move.starts for move in group.moves):
        return np.inf
    return -np.inf if group.gain is None else group.gain.gain.mean / len(group.moves)
