"""Orders of moves: no one ever needs a slot that is not free."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove, ordered, together
from tests.seeds import examples


def moves(*pairs: tuple[int, int]) -> list[TaskMove]:
    return [TaskMove((0, task), source, target) for task, (source, target) in enumerate(pairs)]


class Slots:
    """Machines with free capacity, as only limit."""

    def __init__(self, moves: list[TaskMove], free: np.ndarray) -> None:
        self.free = free.copy()
        self.at = {move.task: move.source for move in moves}
        self.takes = {move.task: np.array(move.takes) for move in moves}

    def take(self, task: tuple[int, int]) -> int:
        machine = self.at.pop(task)
        if machine >= 0:
            self.free[machine] += self.takes[task]
        return machine

    def put(self, task: tuple[int, int], machine: int) -> None:
        self.at[task] = machine
        if machine >= 0:
            self.free[machine] -= self.takes[task]

    def may_come(self, task: tuple[int, int], source: int, target: int) -> bool:
        return bool((self.free[target] >= self.takes[task]).all())

    def slots_left(self, machine: int) -> int:
        return int(self.free[machine, 0])


def found(some: list[TaskMove], free: list[int] | np.ndarray) -> tuple[MoveStep, ...] | None:
    room = np.array(free).reshape(len(free), -1)
    return ordered(some, Slots(some, room), len(room), lambda parked: True)


def walked(steps: tuple[MoveStep, ...], free: list[int]) -> list[tuple[int, int]]:
    """Return (source, target) of every step, after checking that its slot is free."""
    left, parked, seen = list(free), [], []
    for step in steps:
        left[step.move.source] += step.move.takes[0]
        left[step.move.target if step.via is None else step.via] -= step.move.takes[0]
        if step.via is not None:
            parked.append(step)
        seen.append((step.move.source, step.move.target))
        assert min(left) >= 0, step
        for waiting in list(parked):
            if left[waiting.move.target] >= waiting.move.takes[0]:
                left[waiting.via] += waiting.move.takes[0]
                left[waiting.move.target] -= waiting.move.takes[0]
                parked.remove(waiting)
    assert not parked
    return seen


def test_nothing_is_parked_where_budgets_forbid_one_more_move():
    circle = moves((0, 1), (1, 0))
    assert ordered(circle, Slots(circle, np.array([[0], [0], [1]])), 3, lambda parked: False) is None


def test_the_first_of_equal_orders_may_lead_nowhere():
    # The task of two slots has to go before the one slot that is free on its target is taken.
    one, two, back = TaskMove((0, 0), 0, 1), TaskMove((0, 1), 2, 1, (2,)), TaskMove((0, 2), 1, 0)
    order = found([one, two, back], [0, 2, 0])
    assert order is not None
    assert all(step.via is None for step in order)


def test_cpu_and_memory_are_waited_for_too():
    big = TaskMove((0, 0), 0, 1, (1, 800, 100))
    small = TaskMove((0, 1), 1, 2, (1, 500, 100))
    order = found([big, small], np.array([[1, 0, 0], [1, 400, 400], [1, 600, 400]]))
    assert [step.move for step in order] == [small, big]


def test_who_waited_starts_when_there_is_room():
    starting = TaskMove((1, 0), -1, 0)
    order = found([starting, *moves((0, 1))], [0, 1])
    assert [step.move.source for step in order] == [0, -1]


def test_groups_share_no_machine():
    groups = together(moves((0, 1), (4, 5), (1, 2), (6, 5)))
    assert [[(one.source, one.target) for one in group] for group in groups] == [[(0, 1), (1, 2)], [(4, 5), (6, 5)]]


@settings(max_examples=examples(200))
@given(st.data())
def test_any_order_found_can_be_walked(data):
    machines = data.draw(st.integers(2, 6))
    pairs = data.draw(
        st.lists(
            st.tuples(st.integers(0, machines - 1), st.integers(0, machines - 1)).filter(lambda one: one[0] != one[1]),
            max_size=8,
        )
    )
    free = data.draw(st.lists(st.integers(0, 2), min_size=machines, max_size=machines))
    after = np.array(free)
    for source, target in pairs:
        after[source] += 1
        after[target] -= 1
    if (after < 0).any():  # no placement at all: more come to a machine than it has slots
        return
    # Groups that depend on one another are put in order one by one.
    for group in together(moves(*pairs)):
        order = found(group, free)
        # Only circles between machines that are full, with no slot left anywhere, cannot be walked.
        if order is None:
            assert sum(free) == 0 or len(group) > 6
            return
        walked(order, free)
        for move in group:
            free[move.source] += 1
            free[move.target] -= 1
