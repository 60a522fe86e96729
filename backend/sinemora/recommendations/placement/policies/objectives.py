"""Objective that fixed weights cannot express: the worst jobs first."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.matrix import cost_matrix
from sinemora.recommendations.placement.plan import Plan
from sinemora.recommendations.placement.problem import Ints, Problem

_ROUNDS = 8


def worst_first(problem: Problem, solve: Callable[[Problem], Plan]) -> Plan:
    """Return the plan of `solve` (which minimises the weighted loss of jobs) whose worst job fares best.

    Heuristic: each round doubles the weight of jobs below the median of the others; the plan with the best worst job
    is kept. Its certificate proves the plan for the last weights, not the search.
    """
    best = solve(problem)
    weight = np.ones(len(problem.jobs))
    key = _worst(problem, best)
    for _ in range(_ROUNDS):
        suffered = performance_of_jobs(problem, best)
        weight[suffered < np.median(suffered)] *= 2.0
        plan = solve(replace(problem, weight=weight.copy()))
        now = _worst(problem, plan)
        if now <= key:
            break
        best, key = plan, now
    return best


def performance_of_jobs(problem: Problem, plan: Plan) -> Ints:
    """Return the mean performance of each job's placed tasks in thousandths, 1000 without any, shape (jobs,)."""
    loss = points.table(problem.curves, Objective.loss)[problem.jobs.curve]
    matrix = cost_matrix(problem.with_roots(plan.root), loss, 1001)
    placed = plan.assignment
    lost = np.zeros(len(problem.jobs))
    np.add.at(lost, placed.job, matrix[placed.job, placed.machine].astype(np.float64) * placed.count)
    return np.rint(1000 - lost / np.maximum(1, placed.of_jobs(len(problem.jobs)))).astype(np.int64)


def _worst(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return performance of jobs in ascending order, for lexicographic comparison."""
    return tuple(np.sort(performance_of_jobs(problem, plan)).tolist())
