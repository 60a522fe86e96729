"""What a plan is best at: the mean over tasks, each job alike, or the jobs that would fare worst first."""

import time
from dataclasses import replace

import numpy as np

from sinemora.recommender.placement import costs as points
from sinemora.recommender.placement.costs import FAIR_SCALE, CostTable, Objective
from sinemora.recommender.placement.exact import plan_of
from sinemora.recommender.placement.matrix import cost_matrix, waiting_costs
from sinemora.recommender.placement.plan import Plan
from sinemora.recommender.placement.problem import Assignment, Ints, Problem
from sinemora.recommender.placement.transport import Transport

_ROUNDS = 8


def solve(problem: Problem, objective: Objective) -> Plan:
    """The plan that is best at `objective`; the cost of its certificate is in that objective's points.

    `worst_first` is a search: the weight of jobs that stay below the median of the others is doubled, round by round,
    and the plan with the best worst job is kept. Its certificate proves the last weights' plan, not the search.
    """
    started = time.perf_counter()
    if objective in (Objective.slowdown, Objective.loss):
        return _weighted(problem, points.table(problem.curves, objective)[problem.jobs.curve], started)
    loss = points.table(problem.curves, Objective.loss)[problem.jobs.curve]
    fair = loss * (FAIR_SCALE / 1000) / np.maximum(1, problem.jobs.size)[:, None]
    best = _weighted(problem, np.rint(fair).astype(np.int32), started)
    if objective is Objective.fair:
        return best
    weight = np.ones(len(problem.jobs))
    key = _worst(problem, best)
    for _ in range(_ROUNDS):
        suffered = performance_of_jobs(problem, best.assignment)
        weight[suffered < np.median(suffered)] *= 2.0
        plan = _weighted(problem, np.rint(np.minimum(fair * weight[:, None], 1 << 20)).astype(np.int32), started)
        now = _worst(problem, plan)
        if now <= key:
            break
        best, key = plan, now
    return replace(best, policy="exact")


def performance_of_jobs(problem: Problem, placed: Assignment) -> Ints:
    """Mean performance of the placed tasks of each job in thousandths, 1000 for a job without any, shape (jobs,)."""
    loss = points.table(problem.curves, Objective.loss)[problem.jobs.curve]
    matrix = cost_matrix(problem, loss, 1001)
    lost = np.zeros(len(problem.jobs))
    np.add.at(lost, placed.job, matrix[placed.job, placed.machine].astype(np.float64) * placed.count)
    return np.rint(1000 - lost / np.maximum(1, placed.of_jobs(len(problem.jobs)))).astype(np.int64)


def _worst(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Performance of jobs from the worst upward: greater is better first where it matters most."""
    return tuple(np.sort(performance_of_jobs(problem, plan.assignment)).tolist())


def _weighted(problem: Problem, tables: CostTable, started: float) -> Plan:
    problem.check()
    waiting = waiting_costs(problem, tables)
    held = problem.held()
    transport = Transport(
        cost_matrix(problem, tables, int(waiting.max(initial=0))),
        problem.jobs.size - held.of_jobs(len(problem.jobs)),
        problem.free_slots() - held.on_machines(len(problem.machines)),
        waiting,
    )
    transport.solve()
    return plan_of("exact", problem, transport, held, started)
