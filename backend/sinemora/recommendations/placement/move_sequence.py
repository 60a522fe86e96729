"""Groups of dependent moves, and a feasible order for each.

Two moves depend on each other if one goes where the other leaves. Groups touch different machines, so each can be kept
or rejected alone. Within a group every limit holds after each step; where that takes it, a task is parked on another
machine, which is a move of its own.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sinemora.recommendations.placement.problem import ANYWHERE

_PARKED_MOST = 3
"""Most tasks of a group that are parked."""
_LENDERS = 8
"""Most machines on which a task is tried to be parked: those with most free slots."""
_TRIED_MOST = 3_000
"""Most placements between the first and the last of a group that are looked at for one number of parked tasks."""


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
    """Move in its order. `via`: the machine where the task is parked, until it may continue to its target."""

    move: TaskMove
    via: int | None = None


class Standing(Protocol):
    """Tasks on machines, and whether one may come to another: limits as they hold at that moment."""

    def take(self, task: tuple[int, int]) -> int:
        """Take a task from its machine; return that."""
        ...

    def put(self, task: tuple[int, int], machine: int) -> None:
        """Let a task run on a machine."""
        ...

    def may_come(self, task: tuple[int, int], source: int, target: int) -> bool:
        """Return whether a task that was taken from `source` may come to `target`."""
        ...

    def slots_left(self, machine: int) -> int:
        """Return the number of free slots of a machine."""
        ...


Parks = Callable[[Sequence[TaskMove]], bool]
"""True for moves that may be parked, which makes two moves of each."""


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


def ordered(
    moves: Sequence[TaskMove], standing: Standing, machines: int, may_park: Parks
) -> tuple[MoveStep, ...] | None:
    """Return an order of a group's moves with the fewest parked tasks, and leave the tasks on their targets.

    A parked task continues as soon as it may. None if no order was found; the tasks are then where they were.
    """
    for most in range(_PARKED_MOST + 1):
        search = _Search(standing, machines, may_park, most)
        if search.extend(tuple(moves), {}):
            return tuple(search.steps)
    return None


@dataclass(slots=True)
class _Search:
    """Depth-first search for an order with at most `most` parked tasks."""

    standing: Standing
    machines: int
    may_park: Parks
    most: int
    steps: list[MoveStep] = field(default_factory=list)
    parked: list[TaskMove] = field(default_factory=list)
    """All that were parked on the way, those that continued included."""
    seen: set[tuple[tuple[TaskMove, ...], tuple[tuple[TaskMove, int], ...]]] = field(default_factory=set)

    def extend(self, left: tuple[TaskMove, ...], lenders: dict[TaskMove, int]) -> bool:
        """Make the moves that are `left`, while others are parked on their `lenders`; False leaves all as it was."""
        key = (left, tuple(lenders.items()))
        if key in self.seen or len(self.seen) >= _TRIED_MOST:
            return False
        self.seen.add(key)
        for move, lender in lenders.items():
            if self._go(move, lender, move.target):
                rest = {other: machine for other, machine in lenders.items() if other != move}
                if self.extend(left, rest):
                    return True
                self._back(move, lender)
                return False
        if not left:
            return not lenders
        for move in left:
            if self._go(move, move.source, move.target):
                self.steps.append(MoveStep(move))
                if self.extend(_without(left, move), lenders):
                    return True
                self.steps.pop()
                self._back(move, move.source)
        return len(self.parked) < self.most and any(self._park(move, left, lenders) for move in left)

    def _park(self, move: TaskMove, left: tuple[TaskMove, ...], lenders: dict[TaskMove, int]) -> bool:
        if move.starts or not self.may_park([*self.parked, move]):
            return False
        by_room = sorted(range(self.machines), key=self.standing.slots_left, reverse=True)
        tried = 0
        for lender in by_room:
            if lender in (move.source, move.target) or not self._go(move, move.source, lender):
                continue
            self.steps.append(MoveStep(move, lender))
            self.parked.append(move)
            if self.extend(_without(left, move), {**lenders, move: lender}):
                return True
            self.steps.pop()
            self.parked.pop()
            self._back(move, move.source)
            tried += 1
            if tried == _LENDERS:
                break
        return False

    def _go(self, move: TaskMove, source: int, target: int) -> bool:
        """Put the task of a move on a machine if it may come there."""
        self.standing.take(move.task)
        goes = self.standing.may_come(move.task, source, target)
        self.standing.put(move.task, target if goes else source)
        return goes

    def _back(self, move: TaskMove, source: int) -> None:
        self.standing.take(move.task)
        self.standing.put(move.task, source)


def _without(moves: tuple[TaskMove, ...], one: TaskMove) -> tuple[TaskMove, ...]:
    return tuple(move for move in moves if move != one)
