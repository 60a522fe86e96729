"""Lower bounds of placements without branch and bound: near the optimum, and never above it."""

from dataclasses import replace

import numpy as np
import pytest
import sinemora_native

from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import NO_LIMIT, WAITING, SearchProblem
from sinemora.recommendations.placement.problem import Ints, Shares
from tests.recommendations.placement.problems import search_problem
from tests.seeds import seeds

_STEPS = 45


def problem_of(
    at: list[int],
    links: list[tuple[int, int]],
    slots: list[int],
    steps: Ints,
    root: int | None = None,
    most_moves: int = NO_LIMIT,
    table: Shares | None = None,
) -> SearchProblem:
    """Return one application whose tasks take one slot each; costs rise with the step of latency."""
    tasks, machines = len(at), len(slots)
    ends = np.array(links, np.int64).reshape(-1, 2)
    return search_problem(
        at=np.array(at, np.int64),
        owner=np.zeros(tasks, np.int64),
        need=np.ones((tasks, 1), np.int64),
        room=np.array(slots, np.int64)[:, None],
        source=ends[:, 0],
        target=ends[:, 1],
        weight=np.ones(len(links)),
        curve=np.zeros(1, np.int64),
        table=np.linspace(0, 1, _STEPS)[None] if table is None else table,
        steps=steps.astype(np.int32),
        domain=np.stack([np.arange(machines), np.arange(machines), np.arange(machines) % 3]),
        spared=np.arange(tasks) == root,
        most_moves=most_moves,
    )


def drawn_steps(rng: np.random.Generator, machines: int) -> Ints:
    """Return random steps of latency, 0 on a machine itself."""
    steps = rng.integers(1, _STEPS, (machines, machines))
    steps = np.maximum(steps, steps.T)
    np.fill_diagonal(steps, 0)
    return steps


def bound(problem: SearchProblem) -> float:
    """Return the lower bound without prices of capacity."""
    links, waiting_cost = search._links(problem), search.waiting_cost_of(problem)
    return float(sinemora_native.placement_bound(problem, links, waiting_cost, 100.0, 1)[0])


@pytest.mark.parametrize("seed", seeds(range(6)))
def test_the_gap_of_a_graph_whose_tasks_want_to_share_machines_is_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machines, tasks = 40, 7
    pairs = [(a, b) for a in range(tasks) for b in range(a + 1, tasks) if b == a + 1 or rng.random() < 0.3]
    at = rng.choice(machines, tasks, replace=False).tolist()
    at[-1] = WAITING
    problem = problem_of(at, pairs, rng.integers(1, 4, machines).tolist(), drawn_steps(rng, machines), None, 3)
    solution = search.solve(problem, work=0)
    assert solution.gap is not None
    assert solution.gap <= 0.02 * len(pairs)


def test_a_root_that_takes_the_only_slot_of_its_leaf_moves_the_leaf() -> None:
    steps = np.full((3, 3), 20)
    np.fill_diagonal(steps, 0)
    problem = problem_of([0, 1, 2], [(0, 1), (0, 2)], [1, 1, 1], steps, root=0)
    solution = search.solve(problem, work=0)
    assert solution.gap == pytest.approx(0.0, abs=1e-6)


def test_alike_tasks_do_not_count_the_slot_of_one_that_stays() -> None:
    # One near machine has the slot of a leaf that stays there: a second leaf finds no room.
    steps = np.array([[0, 5, 30, 30], [5, 0, 30, 30], [30, 30, 0, 30], [30, 30, 30, 0]])
    problem = problem_of([0, 1, 2], [(0, 1), (0, 2)], [1, 1, 1, 1], steps, root=0)
    pinned = np.array([True, False, False])
    problem = replace(problem, movable=~pinned, pinned=pinned)
    assert bound(problem) == pytest.approx(search.solve(problem).cost, abs=1e-6)


def test_a_waiting_task_without_room_owes_no_link_to_another_one() -> None:
    # Both wait, one is too large for any machine: its link to the other costs nothing.
    steps = np.array([[0, 40], [40, 0]])
    table = np.linspace(0.5, 1, _STEPS)[None]
    problem = problem_of([0, WAITING, WAITING], [(1, 2), (0, 1), (0, 2)], [1, 1], steps, None, 0, table)
    problem = replace(problem, need=np.array([[1], [1], [2]], np.int64))
    solution = search.solve(problem)
    assert solution.waiting == 1
    assert bound(problem) == pytest.approx(solution.cost + search.waiting_cost_of(problem), abs=1e-6)


def test_tasks_that_spread_limits_let_wait_leave_a_gap_all_the_same() -> None:
    rng = np.random.default_rng(1)
    machines = 30
    pairs = [(task, task + 1) for task in range(6)]
    at = [0, 1, 2, 3, 4, 5, WAITING]
    problem = problem_of(at, pairs, [2] * machines, drawn_steps(rng, machines), None, 6)
    solution = search.solve(replace(problem, most=np.array([[NO_LIMIT, NO_LIMIT, 2]])), work=0)
    assert solution.waiting == 1
    assert solution.gap is not None
    assert solution.gap <= 0.02 * len(pairs)
