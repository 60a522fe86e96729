"""The front of gain against moves and plans within a budget, against all placements there are."""

import dataclasses

import numpy as np
import pytest

from sinemora.recommendations.placement.plan import moved_tasks
from sinemora.recommendations.placement.policies import exact, moves
from sinemora.recommendations.placement.problem import Problem
from tests.recommendations.placement.problems import best_by_moves, random_problem, running


def tiny(seed: int, limits: bool = False) -> tuple[np.random.Generator, Problem]:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=int(rng.integers(1, 4)), machines=4, most_tasks=3, limits=limits)
    return rng, dataclasses.replace(problem, current=running(problem, rng))


@pytest.mark.parametrize("seed", range(40))
def test_every_point_is_best_for_its_number_of_moves(seed: int) -> None:
    _, problem = tiny(seed, limits=seed % 4 == 0)
    best = best_by_moves(problem)
    for point in moves.pareto_front(problem):
        assert point.plan.certificate is not None
        assert point.plan.certificate.gap == 0
        assert point.moves == moved_tasks(problem.current, point.plan.assignment)
        assert point.plan.cost == best[point.moves]
    assert point.plan.cost == exact.solve(problem).cost


@pytest.mark.parametrize("seed", range(60))
def test_free_moves_are_no_more_than_the_optimum_needs(seed: int) -> None:
    _, problem = tiny(seed, limits=seed % 4 == 0)
    best = best_by_moves(problem)
    (point,) = moves.pareto_front(problem, (0,))
    assert point.plan.cost == min(best.values())
    assert point.moves == min(count for count, cost in best.items() if cost == point.plan.cost)
    assert point.plan.certificate is not None
    assert point.plan.certificate.gap == 0


@pytest.mark.parametrize("seed", range(40))
def test_a_budget_holds_and_its_bound_is_true(seed: int) -> None:
    _, problem = tiny(seed, limits=seed % 4 == 0)
    best = best_by_moves(problem)
    for most in range(4):
        plan = moves.within_budget(problem, most)
        assert moved_tasks(problem.current, plan.assignment) <= most
        assert (plan.assignment.on_machines(4) <= problem.free_slots()).all()
        assert plan.certificate is not None
        reachable = best[min(most, max(best))]
        assert plan.certificate.dual <= reachable <= plan.cost
        if plan.certificate.proven:
            assert plan.cost == reachable


def test_noise_asks_for_a_price() -> None:
    _, problem = tiny(3)
    assert moves.min_gain(problem, 0.0) == 0
    assert moves.min_gain(problem, 0.15) > moves.min_gain(problem, 0.05) > 0
