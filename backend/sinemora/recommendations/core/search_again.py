"""Further searches, without moves that held-out windows did not confirm or that have no feasible order."""

import heapq
from collections.abc import Callable, Iterable

from sinemora.recommendations.core.acceptance import blocked_groups, refuted_moves
from sinemora.recommendations.core.gains import apply_moves, expected_gain
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.joint_placement import Barred, SearchResult
from sinemora.recommendations.core.solution import Group
from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove

_ROUNDS = 2
"""Most times that many tasks are placed again, without moves that have no feasible order."""
_SEARCHES, _SEARCHES_OF_MANY, _MANY_MOVERS = 3, 2, 40
"""Most searches for moves that held-out windows confirm, and the number of tasks from which on there are fewer."""
_FEW_MOVERS, _PLACED_MOST = 20, 40
"""Number of tasks that are placed again more often, and how often at most."""

Judged = tuple[SearchResult | None, list[Group], tuple[MoveStep, ...]]
"""Joint placement, all groups of its moves, and the steps of those that are kept."""


def place_confirmed(
    instance: Instance,
    place: Callable[[set[tuple[int, int]], Barred, Judged], Judged],
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
        barred |= {(move.task, move.target) for group in unconfirmed for move in refuted_moves(instance, group)}
        judged = place(movers, barred, judged)
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


def place_reachably(
    place: Callable[[set[tuple[int, int]], Barred, Judged], Judged],
    movers: set[tuple[int, int]],
    barred: Barred,
    judged: Judged,
) -> Judged:
    """Place tasks again so that no group of moves lacks a feasible order, as far as some rounds go.

    Of few tasks, one move of the blocked groups after another is barred, the cheapest placement first: every placement
    that can be reached lacks one of them. Of many tasks, all of the blocked groups stay.
    """
    if len(movers) > _FEW_MOVERS:
        for _ in range(_ROUNDS):
            if not (blocked := blocked_groups(judged[1])):
                break
            movers = movers - {move.task for move in _running(blocked)}
            judged = place(movers, barred, judged)
        return judged
    waiting: list[tuple[float, int, Barred, Judged]] = [(_cost(judged), 0, barred, judged)]
    known: set[Barred] = set()
    while waiting:
        _, _, barred, judged = heapq.heappop(waiting)
        blocked = blocked_groups(judged[1])
        if not blocked or len(known) >= _PLACED_MOST:
            return judged
        for move in _running(blocked):
            more = barred | {(move.task, move.target)}
            if more not in known:
                known.add(more)
                again = place(movers, more, judged)
                heapq.heappush(waiting, (_cost(again), len(known), more, again))
    return judged


def _cost(judged: Judged) -> float:
    return 0.0 if judged[0] is None else judged[0].solution.total


def _running(groups: Iterable[Group]) -> list[TaskMove]:
    """Return the moves that are no starts: a start is worth more than a swap that fails."""
    return [move for group in groups for move in group.moves if not move.starts]
