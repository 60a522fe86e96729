"""The front of gain against moves and plans within a budget, against all placements there are."""

import dataclasses

import numpy as np
import pytest

from sinemora.recommender.curves.table import CurveTable
from sinemora.recommender.placement import exact, moves
from sinemora.recommender.placement.order import NoSpareSlotError, steps
from sinemora.recommender.placement.plan import Move, moved_tasks
from sinemora.recommender.placement.plan import moves as moves_between
from sinemora.recommender.placement.problem import Assignment, Jobs, Machines, Problem
from tests.recommender.placements import Dense, best_by_moves, random_problem, running


def tiny(seed: int, limits: bool = False) -> tuple[np.random.Generator, Problem]:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=int(rng.integers(1, 4)), machines=4, most_tasks=3, limits=limits)
    return rng, dataclasses.replace(problem, current=running(problem, rng))


@pytest.mark.parametrize("seed", range(40))
def test_every_point_is_best_for_its_number_of_moves(seed: int) -> None:
    _, problem = tiny(seed, limits=seed % 4 == 0)
    best = best_by_moves(problem)
    for point in moves.front(problem):
        assert point.plan.certificate is not None
        assert point.plan.certificate.gap == 0
        assert point.moves == moved_tasks(problem.current, point.plan.assignment)
        assert point.plan.cost == best[point.moves]
    assert point.plan.cost == exact.solve(problem).cost


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
    assert moves.hysteresis(problem, 0.0) == 0
    assert moves.hysteresis(problem, 0.15) > moves.hysteresis(problem, 0.05) > 0


@pytest.mark.parametrize("seed", range(30))
def test_no_step_needs_a_slot_that_is_not_free(seed: int) -> None:
    _, problem = tiny(seed)
    wanted = moves_between(problem.current, exact.solve(problem).assignment)
    free = problem.free_slots() - problem.current.on_machines(4)
    where = {(j, m): c for j, m, c in zip(*_columns(problem.current), strict=True)}
    try:
        found = steps(problem, wanted)
    except NoSpareSlotError:
        assert (free <= 0).all()
        return
    for step in found:
        assert free[step.target] > 0
        assert where[step.job, step.source] > 0
        free[step.target] -= 1
        free[step.source] += 1
        where[step.job, step.source] -= 1
        where[step.job, step.target] = where.get((step.job, step.target), 0) + 1
    for move in wanted:
        where[move.job, move.target] -= move.count
        where[move.job, move.source] = where.get((move.job, move.source), 0) + move.count
    assert {k: v for k, v in where.items() if v} == {
        (j, m): c for j, m, c in zip(*_columns(problem.current), strict=True)
    }


def test_full_machines_exchange_tasks_through_a_spare_slot() -> None:
    machines = Machines(np.array([2, 2, 1]), np.zeros(3, np.int64), np.zeros(3, np.int64))
    curves = CurveTable(10.0, np.ones((2, 1)), np.zeros((2, 1)))
    problem = Problem(
        Jobs.of([1, 1], [0, 1], [0, 0]),
        machines,
        Dense(np.zeros((3, 3), np.int32)),
        curves,
        Assignment.of([(0, 1, 1), (1, 0, 1)]),
    )
    wanted = [Move(0, 1, 0, 1), Move(1, 0, 1, 1)]
    assert [(s.job, s.source, s.target, s.detour) for s in steps(problem, wanted)] == [
        (0, 1, 2, True),
        (1, 0, 1, False),
        (0, 2, 0, False),
    ]
    full = dataclasses.replace(problem, machines=dataclasses.replace(machines, slots=np.array([2, 2, 0])))
    with pytest.raises(NoSpareSlotError, match="free one slot"):
        steps(full, wanted)


def _columns(placed: Assignment) -> tuple[list[int], list[int], list[int]]:
    return placed.job.tolist(), placed.machine.tolist(), placed.count.tolist()
