"""The policy `best` of simulations against minimum-cost flow, and against all roots of a job."""

import dataclasses

import numpy as np
import pytest

from sinemora.labs.simulation.core import best
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Problem
from tests.recommendations.placement.problems import cheapest_flow, lost, random_problem, running
from tests.seeds import seeds


def lost_by(problem: Problem, placed: Assignment) -> float:
    """Return the performance lost by tasks that are placed."""
    return float((lost(problem)[placed.job, placed.machine] * placed.count).sum())


def loss_of(problem: Problem) -> float:
    """Return the performance lost by the placement of `best`; a task that waits loses more than any other."""
    root, placed = best.place(problem, np.ones(len(problem.jobs), np.int64))
    problem = problem.with_roots(root)
    waiting = int(problem.jobs.size.sum() - placed.count.sum())
    return lost_by(problem, placed) + 2 * waiting


@pytest.mark.parametrize("seed", [*seeds(range(30)), 80, 299, 414, 420, 485])
def test_tasks_of_fixed_roots_lose_what_the_optimal_flow_loses(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    assert loss_of(problem) == pytest.approx(cheapest_flow(problem, lost(problem), 2), abs=1e-4)


@pytest.mark.parametrize("seed", seeds(range(25)))
def test_the_root_of_a_job_is_the_best_of_all(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), jobs=1, machines=7)
    loss = loss_of(problem.with_roots(np.array([ANYWHERE])))
    rooted = [problem.with_roots(np.array([machine])) for machine in np.flatnonzero(problem.machines.slots)]
    assert loss == pytest.approx(min(cheapest_flow(one, lost(one), 2) for one in rooted), abs=1e-4)


@pytest.mark.parametrize("seed", seeds(range(20)))
def test_moves_gain_what_they_cost_and_keep_to_their_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=3, machines=8)
    problem = dataclasses.replace(problem, current=running(problem, rng, share=1.0))
    roots = np.ones(3, np.int64)
    before = problem.current

    for move_cost, moves_max in ((0.05, None), (0.0, 2)):
        _, after = best.place(problem, roots, move_cost, moves_max)
        stay = {(j, m): c for j, m, c in zip(before.job, before.machine, before.count, strict=True)}
        kept = sum(min(c, stay.get((j, m), 0)) for j, m, c in zip(after.job, after.machine, after.count, strict=True))
        moved = int(before.count.sum()) - kept
        assert moves_max is None or moved <= moves_max
        assert lost_by(problem, before) - lost_by(problem, after) >= move_cost * moved - 1e-9


def test_a_job_whose_root_finds_no_slot_waits_whole() -> None:
    problem = random_problem(np.random.default_rng(1), jobs=1, machines=3)
    full = dataclasses.replace(problem, machines=dataclasses.replace(problem.machines, slots=np.zeros(3, np.int64)))
    root, placed = best.place(full.with_roots(np.array([ANYWHERE])), np.array([1]))
    assert root.tolist() == [[ANYWHERE]]
    assert placed.count.sum() == 0


def test_each_further_root_of_a_job_helps_it() -> None:
    rng = np.random.default_rng(4)
    problem = random_problem(rng, jobs=1, machines=9)
    slots = problem.machines.slots + 1
    problem = dataclasses.replace(
        problem,
        jobs=dataclasses.replace(problem.jobs, root=np.array([ANYWHERE]), size=np.array([6])),
        machines=dataclasses.replace(problem.machines, slots=slots),
    )
    losses = []
    for count in (1, 2, 3):
        root, placed = best.place(problem, np.array([count]))
        assert root.shape == (1, count)
        losses.append(lost_by(problem.with_roots(root), placed))
    assert losses == sorted(losses, reverse=True)
