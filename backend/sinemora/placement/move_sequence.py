"""Moves that need one another, and an order in which each finds the room it needs.

Two moves belong together when one goes where the other leaves. Groups touch different machines, so each can be taken
or left by itself. Within a group whoever goes to a free slot goes first; a closed circle between full machines needs
one slot for a moment, which another machine lends. Room is a row of resources: slots, CPU, memory.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.placement.problem import ANYWHERE, Ints


@dataclass(frozen=True, slots=True)
class TaskMove:
    """One task from a machine to another. `task` is (application, task), by position; `takes` what it takes of each.

    A task that waited comes from nowhere, `ANYWHERE`.
    """

    task: tuple[int, int]
    source: int
    target: int
    takes: tuple[int, ...] = (1,)

    @property
    def starts(self) -> bool:
        """Whether the task waited."""
        return self.source == ANYWHERE


@dataclass(frozen=True, slots=True)
class Step:
    """A move in its turn. `via`: the machine that lends a slot, from where the task goes on to its target."""

    move: TaskMove
    via: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Steps in which no machine ever holds more than its room; `stuck` are moves that no order can do."""

    steps: tuple[Step, ...]
    stuck: tuple[TaskMove, ...]


def together(moves: Sequence[TaskMove], bound: Collection[int] = ()) -> list[list[TaskMove]]:
    """Moves in groups that share no machine, in the order given.

    Moves of one application among `bound` stay together too: where its root goes decides where its tasks should be.
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
    groups: dict[object, list[TaskMove]] = defaultdict(list)
    for move in moves:
        groups[head(move.target)].append(move)
    return list(groups.values())


def ordered(moves: Sequence[TaskMove], free_room: Ints) -> Order:
    """An order of `moves` given what is free on each machine before the first of them, shape (machines, resources)."""
    free = np.array(free_room, np.int64)
    waiting = deque(moves)
    steps: list[Step] = []
    parked: list[tuple[TaskMove, int]] = []
    while waiting or parked:
        done = _whoever_fits(waiting, parked, free, steps)
        if done:
            continue
        lender = _lender(waiting, free)
        if lender is None:
            break
        move = waiting.popleft()
        free[move.source] += move.takes
        free[lender] -= move.takes
        parked.append((move, lender))
        steps.append(Step(move, lender))
    return Order(tuple(steps), (*waiting, *(move for move, _ in parked)))


def _whoever_fits(waiting: deque[TaskMove], parked: list[tuple[TaskMove, int]], free: Ints, steps: list[Step]) -> bool:
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
            steps.append(Step(move))
            return True
        waiting.append(move)
    return False


def _lender(waiting: deque[TaskMove], free: Ints) -> int | None:
    """The machine with most free slots of those that can take the next task that makes room; else None.

    Who comes from nowhere makes none: such moves go to the end.
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
    # What is not taken need not be there: a machine may hold more already than it is said to have.
    return all(room[at] >= takes for at, takes in enumerate(move.takes) if takes)
