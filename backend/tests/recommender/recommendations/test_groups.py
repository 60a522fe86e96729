"""Orders of moves: nobody ever needs a slot that is not free."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.recommender.recommendations.groups import Order, TaskMove, ordered, together


def moves(*pairs: tuple[int, int]) -> list[TaskMove]:
    return [TaskMove((0, task), source, target) for task, (source, target) in enumerate(pairs)]


def walked(order: Order, free: list[int]) -> list[tuple[int, int]]:
    """The (source, target) of every step, having checked that each finds its slot."""
    left, parked, seen = list(free), [], []
    for step in order.steps:
        if step.via is not None:
            left[step.move.source] += step.move.slots
            left[step.via] -= step.move.slots
            parked.append(step)
        else:
            left[step.move.source] += step.move.slots
            left[step.move.target] -= step.move.slots
        seen.append((step.move.source, step.move.target))
        assert min(left) >= 0, step
        for waiting in list(parked):
            if left[waiting.move.target] >= waiting.move.slots:
                left[waiting.via] += waiting.move.slots
                left[waiting.move.target] -= waiting.move.slots
                parked.remove(waiting)
    assert not parked
    return seen


def test_who_makes_room_goes_first():
    order = ordered(moves((0, 1), (1, 2), (2, 3)), np.array([0, 0, 0, 1]))
    assert walked(order, [0, 0, 0, 1]) == [(2, 3), (1, 2), (0, 1)]
    assert order.stuck == ()


def test_a_circle_borrows_a_slot():
    order = ordered(moves((0, 1), (1, 0)), np.array([0, 0, 1]))
    assert [step.via for step in order.steps] == [2, None]
    walked(order, [0, 0, 1])


def test_a_circle_without_any_slot_is_stuck():
    order = ordered(moves((0, 1), (1, 0)), np.array([0, 0]))
    assert (order.steps, len(order.stuck)) == ((), 2)


def test_groups_share_no_machine():
    found = together(moves((0, 1), (4, 5), (1, 2), (6, 5)))
    assert [[(one.source, one.target) for one in group] for group in found] == [[(0, 1), (1, 2)], [(4, 5), (6, 5)]]


@settings(max_examples=200, deadline=None)
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
    order = ordered(moves(*pairs), np.array(free))
    walked(order, free)
    # Only a circle between machines that are full, with no slot left anywhere, cannot be walked.
    if sum(free) > 0:
        assert order.stuck == ()
