"""Groups of dependent moves, and a feasible order for each.

Two moves depend on each other if one goes where the other leaves. Groups touch different machines, so each can be kept
or rejected alone. Within a group, moves to free slots come first; a cycle between full machines borrows one slot of
another machine. Capacity is a row of resources: slots, CPU, memory.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.recommendations.placement.problem import ANYWHERE, Ints


@dataclass(frozen=True, slots=True)
class TaskMove:
    """Move of a task between machines. `task` is (application, task), by position; `takes` is its demand.

    A task that waited has the source `ANYWHERE`.
    """

    task: tuple[int, int]
    source: int
    target: int
    takes: tuple[int, ...] = (1,)

    @property
    def starts(self) -> bool:
        """Return True if the task waited."""
        return self.source == ANYWHERE


@dataclass(frozen=True, slots=True)
class MoveStep:
    """Move in its order. `via`: the machine that lends a slot until the task continues to its target."""

    move: TaskMove
    via: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Steps that never exceed the capacity of a machine; `stuck` moves have no feasible order."""

    steps: tuple[MoveStep, ...]
    stuck: tuple[TaskMove, ...]


def together(
    moves: Sequence[TaskMove], bound: Collection[int] = (), joined: Iterable[Sequence[TaskMove]] = ()
) -> list[list[TaskMove]]:
    """Return groups of moves that share no machine, in order.

    Moves of an application in `bound` form one group: the place of its root determines those of its tasks. So do the
    moves of each sequence in `joined`.
    """
    parent: dict[object, object] = {}

    def head(key: object) -> object:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for move in moves:
        if not move.starts:
            parent[head(move.source)] = head(move.target)
        if move.task[0] in bound:
            parent[head(("application", move.task[0]))] = head(move.target)
    for sequence in joined:
        for move in sequence[1:]:
            parent[head(move.target)] = head(sequence[0].target)
    groups: dict[object, list[TaskMove]] = defaultdict(list)
    for move in moves:
        groups[head(move.target)].append(move)
    return list(groups.values())


def ordered(moves: Sequence[TaskMove], free_room: Ints) -> Order:
    """Return an order of `moves` for the initial free capacity, shape (machines, resources)."""
    free = np.array(free_room, np.int64)
    waiting = deque(moves)
    steps: list[MoveStep] = []
    parked: list[tuple[TaskMove, int]] = []
    while waiting or parked:
        done = _place_next(waiting, parked, free, steps)
        if done:
            continue
        lender = _lender(waiting, free)
        if lender is None:
            break
        move = waiting.popleft()
        free[move.source] += move.takes
        free[lender] -= move.takes
        parked.append((move, lender))
        steps.append(MoveStep(move, lender))
    return Order(tuple(steps), (*waiting, *(move for move, _ in parked)))


def _place_next(
    waiting: deque[TaskMove], parked: list[tuple[TaskMove, int]], free: Ints, steps: list[MoveStep]
) -> bool:
    for at, (move, lender) in enumerate(parked):
        if _fits(move, free[move.target]):
            free[lender] += move.takes
            free[move.target] -= move.takes
            del parked[at]
            return True
    for _ in range(len(waiting)):
        move = waiting.popleft()
        if _fits(move, free[move.target]):
            if not move.starts:
                free[move.source] += move.takes
            free[move.target] -= move.takes
            steps.append(MoveStep(move))
            return True
        waiting.append(move)
    return False


def _lender(waiting: deque[TaskMove], free: Ints) -> int | None:
    """Return the machine with most free slots of those that can take the next task that makes room; else None.

    Starts of waiting tasks make none: they come last.
    """
    for _ in range(len(waiting)):
        if not waiting[0].starts:
            break
        waiting.rotate(-1)
    else:
        return None
    fitting = np.flatnonzero([_fits(waiting[0], room) for room in free])
    return int(fitting[free[fitting, 0].argmax()]) if len(fitting) else None


def _fits(move: TaskMove, room: Ints) -> bool:
    # A resource that the task does not take may already be exceeded on the machine.
    return all(room[at] >= takes for at, takes in enumerate(move.takes) if takes)
