"""Orders of moves: no one ever needs a slot that is not free."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.recommendations.placement.move_sequence import Order, TaskMove, ordered, together
from tests.seeds import examples


def moves(*pairs: tuple[int, int]) -> list[TaskMove]:
    return [TaskMove((0, task), source, target) for task, (source, target) in enumerate(pairs)]


def walked(order: Order, free: list[int]) -> list[tuple[int, int]]:
    """Return (source, target) of every step, after checking that its slot is free."""
    left, parked, seen = list(free), [], []
    for step in order.steps:
        if step.via is not None:
            left[step.move.source] += step.move.takes[0]
            left[step.via] -= step.move.takes[0]
            parked.append(step)
        else:
            left[step.move.source] += step.move.takes[0]
            left[step.move.target] -= step.move.takes[0]
        seen.append((step.move.source, step.move.target))
        assert min(left) >= 0, step
        for waiting in list(parked):
            if left[waiting.move.target] >= waiting.move.takes[0]:
                left[waiting.via] += waiting.move.takes[0]
                left[waiting.move.target] -= waiting.move.takes[0]
                parked.remove(waiting)
    assert not parked
    return seen


def test_who_makes_room_goes_first():
    order = ordered(moves((0, 1), (1, 2), (2, 3)), np.array([[0], [0], [0], [1]]))
    assert walked(order, [0, 0, 0, 1]) == [(2, 3), (1, 2), (0, 1)]
    assert order.stuck == ()


def test_a_circle_borrows_a_slot():
    order = ordered(moves((0, 1), (1, 0)), np.array([[0], [0], [1]]))
    assert [step.via for step in order.steps] == [2, None]
    walked(order, [0, 0, 1])


def test_a_circle_without_any_slot_is_stuck():
    order = ordered(moves((0, 1), (1, 0)), np.array([[0], [0]]))
    assert (order.steps, len(order.stuck)) == ((), 2)


def test_cpu_and_memory_are_waited_for_too():
    big = TaskMove((0, 0), 0, 1, (1, 800, 100))
    small = TaskMove((0, 1), 1, 2, (1, 500, 100))
    order = ordered([big, small], np.array([[1, 0, 0], [1, 400, 400], [1, 600, 400]]))
    assert [step.move for step in order.steps] == [small, big]


def test_who_waited_starts_when_there_is_room():
    starting = TaskMove((1, 0), -1, 0)
    order = ordered([starting, *moves((0, 1))], np.array([[0], [1]]))
    assert [step.move.source for step in order.steps] == [0, -1]
    stuck = ordered([starting, *moves((0, 1), (1, 0))], np.array([[0], [0], [1]]))
    assert stuck.stuck == (starting,)


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
    order = ordered(moves(*pairs), np.array(free)[:, None])
    walked(order, free)
    # Only a circle between machines that are full, with no slot left anywhere, cannot be walked.
    if sum(free) > 0:
        assert order.stuck == ()
