"""Moves that need one another, and an order in which each finds a free slot.

Two moves belong together when one goes where the other leaves. Groups touch different machines, so each can be taken
or left by itself. Within a group whoever goes to a free slot goes first; a closed circle between full machines needs
one slot for a moment, which another machine lends.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TaskMove:
    """One task from a machine to another; it takes `slots`. `task` is (application, task), by position."""

    task: tuple[int, int]
    source: int
    target: int
    slots: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """A move in its turn. `via`: the machine that lends a slot, from where the task goes on to its target."""

    move: TaskMove
    via: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Steps in which no machine ever holds more than its slots; `stuck` are moves that no order can do."""

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
        parent[head(move.source)] = head(move.target)
        if move.task[0] in bound:
            parent[head(("application", move.task[0]))] = head(move.target)
    groups: dict[object, list[TaskMove]] = defaultdict(list)
    for move in moves:
        groups[head(move.source)].append(move)
    return list(groups.values())


def ordered(moves: Sequence[TaskMove], free_slots: Ints) -> Order:
    """An order of `moves` given the slots free on each machine before the first of them."""
    free = np.array(free_slots, np.int64)
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
        free[move.source] += move.slots
        free[lender] -= move.slots
        parked.append((move, lender))
        steps.append(Step(move, lender))
    return Order(tuple(steps), (*waiting, *(move for move, _ in parked)))


def _whoever_fits(waiting: deque[TaskMove], parked: list[tuple[TaskMove, int]], free: Ints, steps: list[Step]) -> bool:
    for at, (move, lender) in enumerate(parked):
        if free[move.target] >= move.slots:
            free[lender] += move.slots
            free[move.target] -= move.slots
            del parked[at]
            return True
    for _ in range(len(waiting)):
        move = waiting.popleft()
        if free[move.target] >= move.slots:
            free[move.source] += move.slots
            free[move.target] -= move.slots
            steps.append(Step(move))
            return True
        waiting.append(move)
    return False


def _lender(waiting: deque[TaskMove], free: Ints) -> int | None:
    """The machine with most free slots, if it can take the next waiting task; nobody is waiting: None."""
    if not waiting:
        return None
    best = int(free.argmax())
    return best if free[best] >= waiting[0].slots else None
