"""Searching for places of tasks: the same answer again, and the limit that keeps a task from a place."""

import dataclasses
import itertools

import numpy as np
import pytest

from sinemora.recommendations.placement import infeasibility
from sinemora.recommendations.placement.infeasibility import InfeasibleError
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import SearchProblem
from sinemora.recommendations.placement.problem import ProblemError
from tests.recommendations.placement.problems import free_moves, search_problem


def tenant(seed: int, tasks: int = 5, machines: int = 4, waiting: int = 0) -> SearchProblem:
    """Return two jobs in rings on machines with spare capacity, each task of one or two slots."""
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, 2, tasks))
    need = rng.integers(1, 3, (tasks, 1))
    room = np.zeros((machines, 1), np.int64)
    at = rng.integers(0, machines, tasks)
    at[:waiting] = -1
    np.add.at(room, at[at >= 0], need[at >= 0])
    room += rng.integers(0, 3, (machines, 1))
    links = [(a, b) for a, b in itertools.pairwise(range(tasks)) if owner[a] == owner[b]]
    links += [(0, 2)] if owner[0] == owner[2] else []
    steps = rng.integers(1, 40, (machines, machines))
    steps = np.maximum(steps, steps.T).astype(np.int32)
    np.fill_diagonal(steps, 0)
    table = np.stack([np.linspace(0, 1, 41), np.linspace(0, 1, 41) ** 2])
    ends = np.array(links).reshape(-1, 2)
    return search_problem(
        at=at,
        owner=owner,
        need=need,
        room=room,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=rng.integers(1, 4, len(links)).astype(np.float64),
        curve=np.array([0, 1]),
        table=table,
        steps=steps,
        domain=np.stack([np.arange(machines), np.arange(machines) // 2, np.zeros(machines, np.int64)]),
    )


def test_what_does_not_fit_already_is_refused() -> None:
    problem = tenant(1)
    with pytest.raises(ProblemError, match="running tasks exceed its capacity"):
        search.solve(dataclasses.replace(problem, room=np.zeros_like(problem.room)))


def test_what_finds_no_place_names_what_makes_room() -> None:
    problem = dataclasses.replace(
        tenant(1, tasks=3, machines=2),
        at=np.array([0, 1, -1]),
        owner=np.array([0, 0, 1]),
        need=np.array([[1, 0, 0], [1, 0, 0], [1, 2, 0]]),
        room=np.array([[1, 4, 4], [2, 1, 4]]),
        source=np.array([0]),
        target=np.array([1]),
        weight=np.array([1.0]),
        movable=np.array([False, False, True]),
        **free_moves(2, np.zeros((2, 3), np.int64)),
    )

    def relaxed(**change: object) -> tuple[str, ...]:
        request = dataclasses.replace(problem, **change)  # type: ignore[arg-type]
        with pytest.raises(InfeasibleError, match="1 task unplaced \\(db\\)") as refused:
            infeasibility.require_all_found(
                request, search.solve(request, proposals=10_000).at, ("web", "db"), ("m0", "m1")
            )
        return refused.value.relax

    assert relaxed() == ("give machines more CPU",)
    # The first task might go to the second machine, which has a slot, and leave the first one to the third task.
    movable = np.array([True, False, True])
    assert relaxed(movable=movable, most_moves=0)[0] == "allow moves (none are allowed now)"
    plenty = np.array([[1, 9, 9], [2, 9, 9]])
    apart = np.array([[False, True], [True, False]])
    assert relaxed(room=plenty, apart=apart) == ("let db and web share machines",)
    only_first = np.array([[True, True], [True, False]])
    assert relaxed(room=plenty, allowed=only_first) == ("allow db more machines",)
    wide = np.array([[1, 0, 0], [1, 0, 0], [2, 0, 0]])
    room = np.array([[2, 9, 9], [2, 9, 9]])
    assert relaxed(need=wide, room=room) == ("add 1 slot to m0",)
    assert relaxed(room=np.array([[1, 9, 9], [1, 9, 9]])) == ("add 1 slot to m0",)


def test_a_waiting_task_may_have_a_place_that_gains_nothing() -> None:
    problem = dataclasses.replace(tenant(1), at=np.array([0, 1, 2, 3, -1]))
    room = np.zeros((4, 1), np.int64)
    np.add.at(room, problem.at[:4], problem.need[:4])
    room[0] += problem.need[4]
    # No link gains anything anywhere: a task is started all the same, and nothing is moved for it.
    flat = dataclasses.replace(problem, room=room, table=np.zeros((2, 41)), move_price=np.full(2, 0.01))
    solution = search.solve(flat, proposals=20_000)
    assert solution.waiting == 0
    assert (solution.at[4], solution.moved) == (0, 0)


def test_freed_slots_hold_the_widest_task_only_and_each_job_has_its_own_limit() -> None:
    # One task waits for two slots on a machine, and one of another job for a place among the machines that it may have.
    problem = dataclasses.replace(
        tenant(1, tasks=5, machines=3),
        at=np.array([0, 1, 2, -1, -1]),
        owner=np.array([0, 0, 0, 0, 1]),
        need=np.array([[1, 0, 0]] * 3 + [[2, 0, 0], [1, 0, 0]]),
        room=np.array([[1, 9, 9], [2, 9, 9], [3, 9, 9]]),
        source=np.array([0]),
        target=np.array([1]),
        weight=np.array([1.0]),
        movable=np.array([False, False, False, True, True]),
        allowed=np.array([[True] * 3, [True, False, False]]),
        **free_moves(2, np.zeros((3, 3), np.int64)),
    )
    need = problem.need.copy()
    need[3, 0] = 3

    def refused(request: search.SearchProblem) -> InfeasibleError:
        with pytest.raises(InfeasibleError) as refusal:
            infeasibility.require_all_found(
                request, search.solve(request, proposals=10_000).at, ("db", "api"), ("m0", "m1", "m2")
            )
        return refusal.value

    assert refused(problem).relax == ("allow api more machines",)
    room, apart = np.array([[1, 9, 9], [3, 9, 9], [3, 9, 9]]), np.array([[False, True, True], [True, False, False]])
    both = refused(dataclasses.replace(problem, need=need, room=room, allowed=apart))
    assert both.relax == ("add 1 slot to m1", "allow api more machines")
    assert str(both) == (
        "No place found: 2 tasks unplaced (db, api); no single limit makes room for all:"
        " for db, add 1 slot to m1; for api, allow api more machines"
    )
