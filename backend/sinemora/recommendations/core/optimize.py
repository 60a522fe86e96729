"""Optimisation: solve the placement on training windows, keep the moves that hold-out windows confirm.

The solver sees the median round trip of the training windows and the resulting performance. Its moves form groups that
depend on one another. A group is kept if its hold-out gain exceeds the cost of its moves with `PROBABILITY`.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from sinemora.applications.performance import Indices, Links
from sinemora.curves.core.curve import Floats
from sinemora.kit.percent import percent
from sinemora.placement import progress
from sinemora.placement.costs import Objective
from sinemora.placement.move_sequence import Step, TaskMove, ordered, together
from sinemora.placement.plan import Plan
from sinemora.placement.policies import nomora
from sinemora.placement.policies.nomora import Parameters
from sinemora.placement.problem import Problem
from sinemora.recommendations.core.constraints import Violation, first_violation, joined_by_spread
from sinemora.recommendations.core.formulate import formulate, solvable_stars, task_moves
from sinemora.recommendations.core.holdout import (
    Gain,
    block_errors,
    estimate_gain,
    performance_series,
)
from sinemora.recommendations.core.infeasibility import diagnose_unplaced
from sinemora.recommendations.core.instance import (
    WAITING,
    Deployment,
    ImputedMatrix,
    Instance,
    PerformanceSeries,
    impute,
)
from sinemora.recommendations.core.joint_placement import Barred, SearchResult, movable_tasks, place_jointly
from sinemora.recommendations.core.racks import RackSource, racks_of
from sinemora.recommendations.core.split import BLOCKS_LEAST
from sinemora.recommendations.core.tail_risk import RiskModel, link_performance

PROBABILITY = 0.9
_NO_ORDER = "no feasible order: full VMs would swap tasks without a spare slot; free one slot anywhere"
_ROUNDS = 2
"""Most times that many tasks are placed again, without moves that have no feasible order."""
_SEARCHES, _SEARCHES_OF_MANY, _MANY_MOVERS = 3, 2, 40
"""Most searches for moves that held-out windows confirm, and the number of tasks from which on there are fewer."""
_FEW_MOVERS, _PLACED_MOST = 20, 40
"""Number of tasks that are placed again more often, and how often at most."""
POINTS = 1000
"""Cost points of the loss of all performance (`Objective.loss`)."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the optimiser. `move_cost` None: the value of each application.

    `published`: parameters of the published policy, whose flow network then places the tasks of stars, without limits
    on moves.
    """

    published: Parameters | None = None
    objective: Objective = Objective.loss
    moves_max: int = 10
    move_cost: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Moves that depend on one another, their common gain, and the reason for a rejection."""

    moves: tuple[TaskMove, ...]
    gain: Gain | None
    rejected: str | None
    unconfirmed: bool = False
    """Rejected because held-out windows do not confirm the gain."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Moves in execution order (`steps`), all `groups`, best first, and the placement `after` the kept ones."""

    steps: tuple[Step, ...]
    groups: tuple[Group, ...]
    kept: tuple[Group, ...]
    after: tuple[Indices, ...]
    plan: Plan | None
    problem: Problem | None
    assumed: ImputedMatrix
    min_gain: float
    """Minimum gain of a move for its task, because round trips are noisy."""
    search: SearchResult | None = None
    """Joint placement: of all tasks, or under the published policy of those that its network does not place.

    The first one, if moves without a feasible order were then left out.
    """
    unplaced: tuple[str, ...] = ()
    """Unplaced tasks and the limit to blame."""
    racks_from: RackSource | None = None
    """Origin of the racks of the published flow network; None without it."""
    left_out: int = 0
    """Number of moves that `search` left out, because held-out windows did not confirm them."""

    @property
    def gap(self) -> float | None:
        """Return by how much another placement might be better at most, per link; None if no bound is known."""
        if self.search is None or self.search.solution.gap is None or self.problem is not None:
            return None
        return self.search.solution.gap / max(float(self.search.problem.weight.sum()), 1e-12)

    @property
    def slot_price(self) -> Floats | None:
        """Return the gain of one more slot on each VM in performance of a task, shape (VMs,); None if unknown."""
        if self.plan is not None:
            return None if self.plan.slot_price is None else self.plan.slot_price / POINTS
        return None if self.search is None else self.search.solution.slot_price


Judged = tuple[SearchResult | None, list[Group], tuple[Step, ...]]
"""Joint placement, all groups of its moves, and the steps of those that are kept."""


def solve(instance: Instance, options: Options) -> Solution:
    """Return the moves worth making. Raises `NothingMeasured`, `placement.ProblemError`, `placement.InfeasibleError`.

    Raises the last if tasks are unplaced and no move is worth making; otherwise `unplaced` has the reason.
    """
    assumed = impute(instance.training, instance.zones)
    here = tuple(application.at for application in instance.applications)
    chosen = [place for place, application in enumerate(instance.applications) if application.chosen]
    noise = min_gain(instance, chosen)
    costs = [
        instance.applications[place].move_cost if options.move_cost is None else options.move_cost for place in chosen
    ]
    least_gain = max(noise, min(costs, default=0.0))
    stars = solvable_stars(instance) if options.published else []
    problem, plan, proposed, racks_from = None, None, [], None
    if stars:
        progress.report(0.2, f"placing tasks of {len(stars)} stars on {len(instance.machines)} VMs")
        racks, racks_from = racks_of(instance, assumed)
        problem = formulate(instance, stars, assumed, racks)
        plan = nomora.solve(problem, options.published)
        proposed = task_moves(instance, stars, problem, plan)
    movers = movable_tasks(instance, stars)

    def place(tasks: set[tuple[int, int]], barred: Barred) -> Judged:
        return _place_and_judge(instance, options, assumed, proposed, tasks, least_gain, noise, barred)

    judged, barred = place(movers, frozenset()), Barred()
    refused: list[Group] = []
    if not options.published and instance.shortage is None:
        judged, barred, refused = _place_confirmed(instance, place, movers, judged)
    search, groups, steps = judged
    first = search
    if _blocked(groups) and not options.published:
        search, again, steps = _place_reachably(lambda tasks: place(tasks, barred), movers, judged)
        groups = [*again, *(group for group in _blocked(groups) if group not in again)]
    groups = [*groups, *refused]
    kept = [group for group in groups if group.rejected is None]
    after = apply_moves(here, [move for group in kept for move in group.moves])
    unplaced = []
    for why in diagnose_unplaced(instance, stars, assumed, problem, plan, search):
        # Running tasks that violate their limits may stay.
        if not steps and any((here[place] == WAITING).any() for place in chosen):
            raise why
        unplaced.append(str(why))
    return Solution(
        steps,
        tuple(groups),
        tuple(kept),
        after,
        plan,
        problem,
        assumed,
        noise,
        first,
        tuple(unplaced),
        racks_from,
        len(barred),
    )


def _place_confirmed(
    instance: Instance,
    place: Callable[[set[tuple[int, int]], Barred], Judged],
    movers: set[tuple[int, int]],
    judged: Judged,
) -> tuple[Judged, Barred, list[Group]]:
    """Place tasks again without the moves that held-out windows did not confirm, as far as some searches go.

    Return the result whose confirmed moves gain most, what it was barred from, and the groups that were left out.
    """
    best: tuple[Judged, Barred, list[Group]] = (judged, Barred(), [])
    most = _confirmed_worth(instance, judged)
    barred = Barred()
    refused: list[Group] = []
    for _ in range(1, _SEARCHES_OF_MANY if len(movers) > _MANY_MOVERS else _SEARCHES):
        unconfirmed = [group for group in judged[1] if group.unconfirmed]
        if not unconfirmed:
            break
        refused = [*refused, *unconfirmed]
        barred |= {(move.task, move.target) for group in unconfirmed for move in group.moves}
        judged = place(movers, barred)
        worth = _confirmed_worth(instance, judged)
        if worth >= most:
            best, most = (judged, barred, refused), worth
    return best


def _confirmed_worth(instance: Instance, judged: Judged) -> tuple[int, float]:
    """Return the number of starts among the moves that are kept, and the mean gain of all of them."""
    here = tuple(application.at for application in instance.applications)
    moves = [move for group in judged[1] if group.rejected is None for move in group.moves]
    chosen = [place for place, application in enumerate(instance.applications) if application.chosen]
    gain = expected_gain(instance, here, apply_moves(here, moves), chosen, 0.0) if moves else None
    return sum(move.starts for move in moves), 0.0 if gain is None else gain.gain.mean


def _place_reachably(
    place: Callable[[set[tuple[int, int]]], Judged], movers: set[tuple[int, int]], judged: Judged
) -> Judged:
    """Place tasks again so that no group of moves lacks a feasible order, as far as some rounds go.

    Of few tasks, one task of the blocked groups after another stays where it is, the cheapest placement first: no
    placement in which more tasks stay is cheaper. Of many tasks, all of the blocked groups stay.
    """
    if len(movers) > _FEW_MOVERS:
        for _ in range(_ROUNDS):
            if not (blocked := _blocked(judged[1])):
                break
            movers = movers - _running(blocked)
            judged = place(movers)
        return judged
    waiting: list[tuple[float, int, set[tuple[int, int]], Judged]] = [(_cost(judged), 0, set(), judged)]
    known: set[frozenset[tuple[int, int]]] = set()
    while waiting:
        _, _, stay, judged = heapq.heappop(waiting)
        blocked = _blocked(judged[1])
        if not blocked or len(known) >= _PLACED_MOST:
            return judged
        for task in sorted(_running(blocked)):
            more = frozenset(stay | {task})
            if more not in known:
                known.add(more)
                again = place(movers - more)
                heapq.heappush(waiting, (_cost(again), len(known), set(more), again))
    return judged


def _cost(judged: Judged) -> float:
    return 0.0 if judged[0] is None else judged[0].solution.total


def _running(groups: Iterable[Group]) -> set[tuple[int, int]]:
    """Return the tasks of moves that are no starts: a start is worth more than a swap that fails."""
    return {move.task for group in groups for move in group.moves if not move.starts}


def _place_and_judge(
    instance: Instance,
    options: Options,
    assumed: ImputedMatrix,
    proposed: list[TaskMove],
    movers: set[tuple[int, int]],
    least_gain: float,
    noise: float,
    barred: Barred,
) -> Judged:
    """Place `movers` after the moves `proposed`; return the result, all groups, and the steps of those kept."""
    search = None
    if movers:
        at = apply_moves(tuple(application.at for application in instance.applications), proposed)
        search = place_jointly(instance, assumed, at, movers, options.objective, least_gain, options.moves_max, barred)
        proposed = [*proposed, *search.moves]
    progress.report(0.8, f"judging {len(proposed)} moves on held-out windows")
    rerooted = {move.task[0] for move in proposed if move.task[1] == instance.applications[move.task[0]].root}
    # The tasks of a graph depend on one another: its moves form one group.
    graphs = {place for place, application in enumerate(instance.applications) if application.root is None}
    judged = (
        _evaluate_group(instance, tuple(group), options.move_cost, noise)
        for group in together(proposed, rerooted | graphs, joined_by_spread(instance, proposed))
    )
    groups = _reject_over_budget(instance, sorted(judged, key=_worth, reverse=True), options.moves_max)
    return search, *_reject_blocked(instance, groups)


def _blocked(groups: Iterable[Group]) -> list[Group]:
    """Return the groups whose moves have no feasible order."""
    return [group for group in groups if group.rejected == _NO_ORDER]


def apply_moves(at: tuple[Indices, ...], moves: Iterable[TaskMove]) -> tuple[Indices, ...]:
    """Return the placement after `moves`."""
    after = [machines.copy() for machines in at]
    for move in moves:
        after[move.task[0]][move.task[1]] = move.target
    return tuple(after)


def expected_gain(
    instance: Instance, before: tuple[Indices, ...], after: tuple[Indices, ...], places: Iterable[int], price: float
) -> Gain | None:
    """Estimate the gain of applications `places` between two placements, on hold-out windows."""
    chosen = list(places)
    first, then = ([_series(instance, place, side[place]) for place in chosen] for side in (before, after))
    return estimate_gain(first, then, price, instance.holdout_blocks, instance.recency)


def task_gain(
    instance: Instance, move: TaskMove, before: tuple[Indices, ...], after: tuple[Indices, ...]
) -> Gain | None:
    """Estimate the gain of a move for its own task, over its links."""
    place, task = move.task
    application = instance.applications[place]
    mine = (application.links.sources == task) | (application.links.targets == task)
    links = Links(application.links.sources[mine], application.links.targets[mine], application.links.weights[mine])
    first, then = (
        performance_series(
            links, side[place], instance.holdout, application.sensitivity, _of_star(application, instance.holdout_risk)
        )
        for side in (before, after)
    )
    return estimate_gain([first], [then], 0.0, instance.holdout_blocks, instance.recency)


def min_gain(instance: Instance, places: Iterable[int]) -> float:
    """Return twice the standard error of a link's performance: the apparent gain that noise alone produces.

    The optimiser picks the places whose noise looks best; a move for less follows noise. The error is that of the means
    of blocks of time, because windows autocorrelate.
    """
    errors = []
    for place in places:
        application = instance.applications[place]
        windows = link_performance(
            application.links,
            application.at,
            instance.training,
            application.sensitivity,
            _of_star(application, instance.training_risk),
        )
        of_links = block_errors(windows, instance.training_blocks)
        errors.append(of_links[np.isfinite(of_links)])
    known = np.concatenate(errors) if errors else np.empty(0)
    return float(2 * np.median(known)) if known.size else 0.0


def _of_star(application: Deployment, by: RiskModel | None) -> RiskModel | None:
    """Return the risk model for stars; it covers paths from roots, so graphs have none."""
    return None if application.root is None else by


def _series(instance: Instance, place: int, at: Indices) -> PerformanceSeries:
    application, known = instance.applications[place], instance.known_series
    key = (place, at.tobytes())
    if key not in known:
        by = _of_star(application, instance.holdout_risk)
        known[key] = performance_series(application.links, at, instance.holdout, application.sensitivity, by)
    return known[key]


def _evaluate_group(instance: Instance, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float) -> Group:
    here = tuple(application.at for application in instance.applications)
    after = apply_moves(here, moves)
    places = sorted({move.task[0] for move in moves})
    price = float(np.mean([_price(instance.applications[place], place, moves, move_cost, noise) for place in places]))
    gain = expected_gain(instance, here, after, places, price)
    violated: Violation | None = first_violation(instance, after, {move.target for move in moves}, set(places))
    if violated is not None:
        return Group(moves, gain, violated.words)
    pinned = [
        need.name
        for move in moves
        if (need := instance.applications[move.task[0]].tasks[move.task[1]]).pinned and not move.starts
    ]
    if pinned:
        return Group(moves, gain, f"{pinned[0]} is pinned")
    if any(move.starts for move in moves):
        return Group(moves, gain, None)  # a waiting task performs nothing: any machine is better
    if instance.shortage is not None:
        return Group(moves, None, instance.shortage)
    if gain is None:
        return Group(moves, None, "no hold-out window has all round trips before and after", unconfirmed=True)
    if gain.blocks < BLOCKS_LEAST:
        return Group(
            moves,
            gain,
            f"only {gain.blocks} of {np.unique(instance.holdout_blocks).size} held-out blocks of time have all round"
            f" trips before and after, {BLOCKS_LEAST} are needed",
            unconfirmed=True,
        )
    if gain.probability < PROBABILITY:
        doubts = "".join(f"; {doubt}" for doubt in gain.doubts)
        return Group(
            moves,
            gain,
            f"probability that the gain exceeds its cost: {percent(gain.probability, 0)},"
            f" below {percent(PROBABILITY, 0)}{doubts}",
            unconfirmed=True,
        )
    return Group(moves, gain, None)


def _price(
    application: Deployment, place: int, moves: tuple[TaskMove, ...], move_cost: float | None, noise: float
) -> float:
    """Return the cost of moves to an application: the minimum gain of each, as a share of all links."""
    least = max(application.move_cost if move_cost is None else move_cost, noise)
    return sum(move.task[0] == place for move in moves) * least / max(len(application.links), 1)


def _reject_over_budget(instance: Instance, groups: list[Group], moves_max: int) -> list[Group]:
    """Return groups, best first, and reject those over the move budget, in all or of an application."""
    left = moves_max
    own = {place: application.moves_max for place, application in enumerate(instance.applications)}
    checked = []
    for group in groups:
        count = Counter(move.task[0] for move in group.moves if not move.starts)
        over = [place for place, moves in count.items() if (limit := own[place]) is not None and moves > limit]
        if group.rejected is None and count.total() > left:
            group = replace(group, rejected=f"move budget exceeded: {count.total()} moves, {left} left")
        elif group.rejected is None and over:
            group = replace(group, rejected=f"move limit of {instance.applications[over[0]].name} exceeded")
        elif group.rejected is None:
            left -= count.total()
            own |= {place: limit - moves for place, moves in count.items() if (limit := own[place]) is not None}
        checked.append(group)
    return checked


def _reject_blocked(instance: Instance, groups: list[Group]) -> tuple[list[Group], tuple[Step, ...]]:
    """Reject groups without a feasible order of moves; return the others' steps."""
    free = instance.free()
    while True:
        order = ordered([move for group in groups if group.rejected is None for move in group.moves], free)
        if not order.stuck:
            return groups, order.steps
        groups = [
            replace(group, rejected=_NO_ORDER)
            if group.rejected is None and set(group.moves) & set(order.stuck)
            else group
            for group in groups
        ]


def _worth(group: Group) -> float:
    """Return the mean gain per move; starts of waiting tasks rank first, unmeasured groups last."""
    if any(move.starts for move in group.moves):
        return np.inf
    return -np.inf if group.gain is None else group.gain.gain.mean / len(group.moves)
