"""Which groups of moves are kept: those that hold-out windows confirm, within limits and budgets, in a feasible order.

Moves form groups that depend on one another. A group is kept if the hold-out gain of each of its applications exceeds
the cost of the application's own moves with `PROBABILITY`. What an application gains by a start is not estimated, and
one that consents to move for others only has to gain together with all of the group.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.kit.percent import percent
from sinemora.recommendations.core.constraints import Occupancy, counted, first_refusal, joined_by_spread, moves_allowed
from sinemora.recommendations.core.gains import apply_moves, expected_gain, task_gain
from sinemora.recommendations.core.instance import Deployment, Instance
from sinemora.recommendations.core.joint_placement import LEAST_PRICE
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.solution import Group
from sinemora.recommendations.core.split import BLOCKS_LEAST
from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove, ordered, together

PROBABILITY = 0.9
MOVE_COST, BRINGING_COST = "move_cost", "bringing_cost"
_COST_WORDS = {MOVE_COST: "a move cost", BRINGING_COST: "a cost of bringing artifacts"}
_COSTS = ((MOVE_COST,), (BRINGING_COST,), (MOVE_COST, BRINGING_COST))
"""Costs of moves that a person can lower, one alone before both."""
_NO_ORDER = (
    "no order of the moves keeps every limit after each step without a spare slot and a move to it: free one slot"
    " anywhere, or allow more moves"
)


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
    return _in_order(instance, sorted(judged, key=_worth, reverse=True), options, noise)


def blocked_groups(groups: Iterable[Group]) -> list[Group]:
    """Return the groups whose moves have no feasible order."""
    return [group for group in groups if group.rejected == _NO_ORDER]


def refuted_moves(instance: Instance, group: Group) -> list[TaskMove]:
    """Return the moves of an unconfirmed group whose own tasks do not surely gain; all of them if each task gains.

    Of a group in which one application does not gain enough, only its moves count.
    """
    here = tuple(application.at for application in instance.applications)
    after = apply_moves(here, group.moves)
    moves = [move for move in group.moves if group.loser in (None, move.task[0]) and not move.starts]
    gains = ((move, task_gain(instance, move, here, after)) for move in moves)
    refuted = [move for move, gain in gains if gain is None or gain.probability < PROBABILITY]
    return refuted or moves or list(group.moves)


def move_cost_of(application: Deployment, options: Options) -> float:
    """Return the minimum gain of a move of an application: that of the request, else its own."""
    return application.move_cost if options.move_cost is None else options.move_cost


def prices_of_moves(instance: Instance, options: Options, noise: float) -> Floats:
    """Return the least gain of a move for its task by application: its cost, and what noise alone explains."""
    least = max(noise, LEAST_PRICE)
    return np.array([max(move_cost_of(application, options), least) for application in instance.applications])


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
    places = sorted({move.task[0] for move in moves})
    gain = expected_gain(instance, here, after, places, _price(instance, places, moves, options, noise))
    refusal = first_refusal(instance, after, moves)
    if refusal is not None:
        return Group(moves, gain, refusal)
    pinned = [
        need.name
        for move in moves
        if (need := instance.applications[move.task[0]].tasks[move.task[1]]).pinned and not move.starts
    ]
    if pinned:
        return Group(moves, gain, f"{pinned[0]} is pinned")
    # A task that waits performs nothing: for its application any machine is better.
    starting = {move.task[0] for move in moves if move.starts}
    paying = [place for place in places if place not in starting]
    if paying and instance.shortage is not None:
        return Group(moves, None, instance.shortage)
    alone = [place for place in paying if not instance.applications[place].moves_for_others]
    for some in [*([place] for place in alone), *([paying] if len(alone) < len(paying) and not starting else [])]:
        rejected = _reject_unpaid(instance, moves, some, options, noise)
        if rejected is not None:
            several = len(places) > 1 and len(some) == 1
            words = f"{instance.applications[some[0]].name}: {rejected.rejected}" if several else rejected.rejected
            return replace(rejected, gain=gain, rejected=words, loser=some[0] if several else None)
    return Group(moves, gain, None)


def _price(
    instance: Instance,
    places: Sequence[int],
    moves: Sequence[TaskMove],
    options: Options,
    noise: float,
    without: tuple[str, ...] = (),
) -> float:
    """Return the mean cost of moves to applications `places`, as a share of the links of each."""
    paid = replace(options, move_cost=0.0) if MOVE_COST in without else options
    total = 0.0
    for place in places:
        mine = [move for move in moves if move.task[0] == place]
        total += price_of_moves(instance, place, len(mine), paid, noise)
        if BRINGING_COST not in without:
            total += price_of_bringing(instance, place, (move.target for move in mine))
    return total / len(places)


def _reject_unpaid(
    instance: Instance, moves: tuple[TaskMove, ...], places: list[int], options: Options, noise: float
) -> Group | None:
    """Return the rejected group if the applications `places` do not surely gain more than their moves cost."""
    here = tuple(application.at for application in instance.applications)
    after = apply_moves(here, moves)
    gain = expected_gain(instance, here, after, places, _price(instance, places, moves, options, noise))
    if gain is None:
        words = "none of the other windows has all round trips before and after"
        return Group(moves, None, words, unconfirmed=True)
    if gain.blocks < BLOCKS_LEAST:
        words = (
            f"only {gain.blocks} of {np.unique(instance.holdout_blocks).size} other blocks of time have all round"
            f" trips before and after, {BLOCKS_LEAST} are needed"
        )
        return Group(moves, gain, words, unconfirmed=True)
    if gain.probability >= PROBABILITY:
        return None
    words = (
        f"probability that the gain exceeds its cost: {percent(gain.probability, 0)}, below {percent(PROBABILITY, 0)}"
    )
    too_costly: tuple[str, ...] = ()
    for costs in _COSTS:
        free = expected_gain(
            instance, here, after, places, _price(instance, places, moves, options, noise, without=costs)
        )
        if free is not None and free.probability >= PROBABILITY:
            too_costly = costs
            named = " and ".join(_COST_WORDS[cost] for cost in costs)
            words += f"; without {named} it would be {percent(free.probability, 0)}: lower {' and '.join(costs)}"
            break
    words += "".join(f"; {doubt}" for doubt in gain.doubts)
    return Group(moves, gain, words, unconfirmed=True, too_costly=too_costly)


def _in_order(
    instance: Instance, groups: list[Group], options: Options, noise: float
) -> tuple[list[Group], tuple[MoveStep, ...]]:
    """Return groups, best first, and the steps of those that keep the budgets and every limit after each step."""
    occupancy = Occupancy(instance, tuple(application.at for application in instance.applications))
    spent: Counter[int] = Counter()
    checked: list[Group] = []
    steps: list[MoveStep] = []
    for group in groups:
        needed = spent + _moves_of(group.moves)
        over = _over_budget(instance, spent, needed, options)
        if group.rejected is not None or over is not None:
            checked.append(group if group.rejected is not None else replace(group, rejected=over))
            continue
        may_park = partial(_may_park, instance, group, needed, options, noise)
        order = ordered(group.moves, occupancy, len(instance.machines), may_park)
        checked.append(group if order is not None else replace(group, rejected=_NO_ORDER))
        if order is not None:
            steps += order
            spent = needed + _moves_of([step.move for step in order if step.via is not None])
    return checked, tuple(steps)


def _may_park(
    instance: Instance, group: Group, needed: Counter[int], options: Options, noise: float, parked: Sequence[TaskMove]
) -> bool:
    """Return whether budgets and gains allow tasks of a group to be parked: each moves once more."""
    if _over_budget(instance, needed, needed + _moves_of(parked), options) is not None:
        return False
    starting = {move.task[0] for move in group.moves if move.starts}
    return all(
        _reject_unpaid(instance, (*group.moves, *parked), [place], options, noise) is None
        for place in {move.task[0] for move in parked} - starting
    )


def _moves_of(moves: Iterable[TaskMove]) -> Counter[int]:
    """Return the number of moves of each application; starts of waiting tasks are none."""
    return Counter(move.task[0] for move in moves if not move.starts)


def _over_budget(instance: Instance, spent: Counter[int], needed: Counter[int], options: Options) -> str | None:
    """Return the budget of moves, in all or of an application, that `needed` moves exceed; `spent` are known before."""
    more = needed - spent
    if more and needed.total() > options.moves_max:
        left = options.moves_max - spent.total()
        room = moves_allowed(0) if options.moves_max == 0 else f"{left} of {options.moves_max} left"
        return f"move budget exceeded: {counted(more.total(), 'moves')} needed, {room}"
    for place in more:
        most = instance.applications[place].moves_max
        if most is not None and needed[place] > most:
            return f"move limit of {instance.applications[place].name} exceeded"
    return None


def _worth(group: Group) -> float:
    """Return the mean gain per move; starts of waiting tasks rank first, unmeasured groups last."""
    if any(move.starts for move in group.moves):
        return np.inf
    return -np.inf if group.gain is None else group.gain.gain.mean / len(group.moves)
