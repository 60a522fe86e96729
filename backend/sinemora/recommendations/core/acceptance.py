"""Which groups of moves are kept: those that hold-out windows confirm, within limits and budgets, in a feasible order.

Moves form groups that depend on one another. A group is kept if its hold-out gain exceeds the cost of its moves with
`PROBABILITY`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sinemora.kit.percent import percent
from sinemora.recommendations.core.constraints import (
    Violation,
    counted,
    first_violation,
    joined_by_spread,
    moves_allowed,
)
from sinemora.recommendations.core.gains import apply_moves, expected_gain, task_gain
from sinemora.recommendations.core.instance import Deployment, Instance
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.solution import Group
from sinemora.recommendations.core.split import BLOCKS_LEAST
from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove, ordered, together

PROBABILITY = 0.9
MOVE_COST, BRINGING_COST = "move_cost", "bringing_cost"
_COST_WORDS = {MOVE_COST: "a move cost", BRINGING_COST: "a cost of bringing artifacts"}
_COSTS = ((MOVE_COST,), (BRINGING_COST,), (MOVE_COST, BRINGING_COST))
"""Costs of moves that a person can lower, one alone before both."""
_NO_ORDER = "no feasible order: full VMs would swap tasks without a spare slot; free one slot anywhere"


def judge(
    instance: Instance, moves: list[TaskMove], options: Options, noise: float
) -> tuple[list[Group], tuple[MoveStep, ...]]:
    """Return the groups of `moves`, best first, and the steps of those that are kept.

    `noise`: the gain of a task that noise alone explains.
    """
    rerooted = {move.task[0] for move in moves if move.task[1] == instance.applications[move.task[0]].root}
    # The tasks of a graph depend on one another: its moves form one group.
    graphs = {place for place, application in enumerate(instance.applications) if application.root is None}
    judged = (
        _judge_group(instance, tuple(group), options, noise)
        for group in together(moves, rerooted | graphs, joined_by_spread(instance, moves))
    )
    groups = _reject_over_budget(instance, sorted(judged, key=_worth, reverse=True), options)
    return _reject_blocked(instance, groups)


def blocked_groups(groups: Iterable[Group]) -> list[Group]:
    """Return the groups whose moves have no feasible order."""
    return [group for group in groups if group.rejected == _NO_ORDER]


def refuted_moves(instance: Instance, group: Group) -> list[TaskMove]:
    """Return the moves of an unconfirmed group whose own tasks do not surely gain; all of them if each task gains."""
    here = tuple(application.at for application in instance.applications)
    after = apply_moves(here, group.moves)
    gains = ((move, task_gain(instance, move, here, after)) for move in group.moves)
    refuted = [move for move, gain in gains if gain is None or gain.probability < PROBABILITY]
    return refuted or list(group.moves)


def move_cost_of(application: Deployment, options: Options) -> float:
    """Return the minimum gain of a move of an application: that of the request, else its own."""
    return application.move_cost if options.move_cost is None else options.move_cost


def price_of_moves(instance: Instance, place: int, count: int, options: Options, noise: float) -> float:
    """Return the cost of moves to an application: the minimum gain of each, as a share of all links."""
    application = instance.applications[place]
    return count * max(move_cost_of(application, options), noise) / max(len(application.links), 1)


def price_of_bringing(instance: Instance, place: int, targets: Iterable[int]) -> float:
    """Return what bringing the artifact of an application to these machines costs it, as a share of all links."""
    application = instance.applications[place]
    if application.bringing is None:
        return 0.0
    return float(sum(application.bringing[target] for target in targets)) / max(len(application.links), 1)


def _judge_group(instance: Instance, moves: tuple[TaskMove, ...], options: Options, noise: float) -> Group:
    here = tuple(application.at for application in instance.applications)
    after = apply_moves(here, moves)
    count = Counter(move.task[0] for move in moves)
    places = sorted(count)

    def price(without: tuple[str, ...] = ()) -> float:
        total = 0.0
        for place in places:
            paid = replace(options, move_cost=0.0) if MOVE_COST in without else options
            total += price_of_moves(instance, place, count[place], paid, noise)
            if BRINGING_COST not in without:
                total += price_of_bringing(instance, place, (move.target for move in moves if move.task[0] == place))
        return total / len(places)

    gain = expected_gain(instance, here, after, places, price())
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
    if gain.probability >= PROBABILITY:
        return Group(moves, gain, None)
    words = (
        f"probability that the gain exceeds its cost: {percent(gain.probability, 0)}, below {percent(PROBABILITY, 0)}"
    )
    too_costly: tuple[str, ...] = ()
    for costs in _COSTS:
        free = expected_gain(instance, here, after, places, price(costs))
        if free is not None and free.probability >= PROBABILITY:
            too_costly = costs
            named = " and ".join(_COST_WORDS[cost] for cost in costs)
            words += f"; without {named} it would be {percent(free.probability, 0)}: lower {' and '.join(costs)}"
            break
    words += "".join(f"; {doubt}" for doubt in gain.doubts)
    return Group(moves, gain, words, unconfirmed=True, too_costly=too_costly)


def _reject_over_budget(instance: Instance, groups: list[Group], options: Options) -> list[Group]:
    """Return groups, best first, and reject those over the move budget, in all or of an application."""
    left = options.moves_max
    own = {place: application.moves_max for place, application in enumerate(instance.applications)}
    checked = []
    for group in groups:
        count = Counter(move.task[0] for move in group.moves if not move.starts)
        over = [place for place, moves in count.items() if (limit := own[place]) is not None and moves > limit]
        if group.rejected is None and count.total() > left:
            needs = f"{counted(count.total(), 'moves')} needed"
            room = moves_allowed(0) if options.moves_max == 0 else f"{left} of {options.moves_max} left"
            group = replace(group, rejected=f"move budget exceeded: {needs}, {room}")
        elif group.rejected is None and over:
            group = replace(group, rejected=f"move limit of {instance.applications[over[0]].name} exceeded")
        elif group.rejected is None:
            left -= count.total()
            own |= {place: limit - moves for place, moves in count.items() if (limit := own[place]) is not None}
        checked.append(group)
    return checked


def _reject_blocked(instance: Instance, groups: list[Group]) -> tuple[list[Group], tuple[MoveStep, ...]]:
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
