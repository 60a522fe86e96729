"""Searching for places of tasks of any size and pattern, against every placement there is."""

import dataclasses
import itertools

import numpy as np
import pytest

from sinemora.recommendations.placement import infeasibility
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.limits import InfeasibleError
from sinemora.recommendations.placement.policies.search import NO_LIMIT, SearchProblem
from sinemora.recommendations.placement.problem import ProblemError


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
    return SearchProblem(
        at=at,
        movable=np.ones(tasks, np.bool_),
        pinned=np.zeros(tasks, np.bool_),
        owner=owner,
        need=need,
        room=room,
        source=ends[:, 0],
        target=ends[:, 1],
        weight=rng.integers(1, 4, len(links)).astype(np.float64),
        curve=np.array([0, 1]),
        table=table,
        steps=steps,
        allowed=np.ones((2, machines), np.bool_),
        domain=np.stack([np.arange(machines), np.arange(machines) // 2, np.zeros(machines, np.int64)]),
        most=np.full((2, 3), NO_LIMIT),
        spared=np.zeros(tasks, np.bool_),
        apart=np.zeros((2, 2), np.bool_),
        move_price=0.0,
        most_moves=NO_LIMIT,
        most_moves_of=np.full(2, NO_LIMIT),
    )


def cost(problem: SearchProblem, at: np.ndarray) -> float:
    """Return the cost of links, computed one at a time."""
    total = 0.0
    for a, b, weight in zip(problem.source, problem.target, problem.weight, strict=True):
        if at[a] >= 0 and at[b] >= 0:
            curve = problem.curve[problem.owner[a]]
            total += weight * problem.table[curve, problem.steps[at[a], at[b]]]
    return total


def keeps(problem: SearchProblem, at: np.ndarray) -> bool:
    """Return whether a placement respects all limits, checked independently."""
    used = np.zeros_like(problem.room)
    np.add.at(used, at[at >= 0], problem.need[at >= 0])
    moved = (at != problem.at) & (problem.at >= 0)
    if (used > problem.room).any() or (moved & ~problem.movable).any() or moved.sum() > problem.most_moves:
        return False
    for task in np.flatnonzero((at != problem.at) & (at >= 0)):
        job = problem.owner[task]
        if not problem.allowed[job, at[task]]:
            return False
        for rival in np.flatnonzero(problem.apart[job]):
            if (at[problem.owner == rival] == at[task]).any():
                return False
    for job, level in itertools.product(range(2), range(3)):
        mine = (problem.owner == job) & (at >= 0) & ~problem.spared
        loads = np.bincount(problem.domain[level, at[mine]], minlength=1)
        if loads.max(initial=0) > problem.most[job, level]:
            return False
    return True


def best_of_all(problem: SearchProblem) -> float:
    best = np.inf
    for way in itertools.product(range(len(problem.room)), repeat=len(problem.at)):
        at = np.array(way)
        if keeps(problem, at):
            moved = ((at != problem.at) & (problem.at >= 0)).sum()
            best = min(best, cost(problem, at) + problem.move_price * moved)
    return best


LIMITS = {
    "none": {},
    "price": {"move_price": 0.7},
    "budget": {"most_moves": 2},
    "pinned": {"movable": np.array([True, False, True, True, False])},
    "zones": {"allowed": np.array([[True, True, False, True], [True, True, True, False]])},
    "apart": {"apart": np.array([[False, True], [True, False]])},
}


@pytest.mark.parametrize("limit", list(LIMITS))
@pytest.mark.parametrize("seed", range(6))
def test_small_tenants_get_the_best_of_all_placements(seed: int, limit: str) -> None:
    problem = dataclasses.replace(tenant(seed), **LIMITS[limit])
    if limit == "apart":  # from a placement that keeps it
        problem = dataclasses.replace(problem, at=2 * problem.owner + np.arange(5) % 2, room=problem.room + 4)
    solution = search.solve(problem, proposals=200_000)
    assert keeps(problem, solution.at)
    assert solution.cost == pytest.approx(cost(problem, solution.at))
    value = solution.cost + problem.move_price * solution.moved
    best = min(best_of_all(problem), cost(problem, problem.at))
    assert solution.gap == 0
    assert value == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_spread_limits_hold_from_a_placement_that_keeps_them(seed: int) -> None:
    problem = tenant(seed)
    spread = np.array([[2, 3, 9], [2, 3, 9]])
    limited = dataclasses.replace(problem, most=spread, room=problem.room + 4, at=np.array([0, 1, 2, 3, 0]))
    assert keeps(limited, limited.at)
    solution = search.solve(limited, proposals=200_000)
    assert keeps(limited, solution.at)
    assert solution.cost == pytest.approx(best_of_all(limited))


@pytest.mark.parametrize("seed", range(4))
def test_waiting_tasks_are_placed_where_there_is_room(seed: int) -> None:
    problem = tenant(seed, waiting=2)
    problem = dataclasses.replace(problem, room=problem.room + 2)
    solution = search.solve(problem, proposals=200_000)
    assert solution.waiting == 0
    assert solution.cost == pytest.approx(best_of_all(problem))


def test_the_same_question_has_the_same_answer() -> None:
    problem = tenant(1, tasks=12, machines=6)
    assert (search.solve(problem).at == search.solve(problem).at).all()


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
        move_price=0.0,
    )

    def relaxed(**change: object) -> tuple[str, ...]:
        request = dataclasses.replace(problem, **change)  # type: ignore[arg-type]
        with pytest.raises(InfeasibleError, match="1 task unplaced \\(db\\)") as refused:
            infeasibility.require_all_found(request, search.solve(request, proposals=10_000), ("web", "db"))
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
    assert relaxed(need=wide, room=room) == ("free 2 slots on one machine",)
    assert relaxed(room=np.array([[1, 9, 9], [1, 9, 9]])) == ("add 1 slot",)


def test_a_waiting_task_may_have_a_place_that_gains_nothing() -> None:
    problem = dataclasses.replace(tenant(1), at=np.array([0, 1, 2, 3, -1]))
    room = np.zeros((4, 1), np.int64)
    np.add.at(room, problem.at[:4], problem.need[:4])
    room[0] += problem.need[4]
    # No link gains anything anywhere: a task is started all the same, and nothing is moved for it.
    flat = dataclasses.replace(problem, room=room, table=np.zeros((2, 41)), move_price=0.01)
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
        move_price=0.0,
    )
    need = problem.need.copy()
    need[3, 0] = 3

    def refused(request: search.SearchProblem) -> InfeasibleError:
        with pytest.raises(InfeasibleError) as refusal:
            infeasibility.require_all_found(request, search.solve(request, proposals=10_000), ("db", "api"))
        return refusal.value

    assert refused(problem).relax == ("allow api more machines",)
    both = refused(dataclasses.replace(problem, need=need, room=np.array([[1, 9, 9], [3, 9, 9], [3, 9, 9]])))
    assert both.relax == ("free 3 slots on one machine", "allow api more machines")
    assert str(both) == (
        "Infeasible: 2 tasks unplaced (db, api); no single limit makes room for all:"
        " for db, free 3 slots on one machine; for api, allow api more machines"
    )
