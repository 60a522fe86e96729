"""Cost matrix of jobs and machines, and waiting costs, which all policies minimise."""

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.costs import CostTable
from sinemora.recommendations.placement.problem import ANYWHERE, WAITING_COST, Ints, Nanoseconds, Problem, ProblemError
from sinemora.recommendations.placement.solvers.cost_kernels import CostMatrix, fill

BARRED = 1 << 28
"""Cost of a forbidden pair; the maximum in a 16-bit matrix."""
_ROWS = 256  # latency rows held at a time


def waiting_costs(problem: Problem, tables: CostTable) -> Ints:
    """Return the cost of a waiting task of each job: above any machine, so that no task waits while a slot is free.

    If jobs may not use all machines, one more placed task may displace several others. Waiting then costs more than
    the longest such chain, so that as many tasks as possible are placed.
    """
    dearest = max(WAITING_COST, int(tables.max(initial=0)) + 1)
    if problem.allowed or problem.spread:
        dearest *= min(len(problem.jobs), len(problem.machines)) + 1
        if dearest >= BARRED // 8:
            raise ProblemError("too_large", "allowed", "jobs and machines with limits: at most 20,000 of the fewer")
    return np.full(len(problem.jobs), dearest, np.int64)


def cost_matrix(problem: Problem, tables: CostTable, waiting_cost: int, room_for_jobs: int = 0) -> CostMatrix:
    """Return the cost of every job on every machine, shape (jobs, machines), or `room_for_jobs` rows.

    `tables` has a row of cost points for each job.
    """
    jobs, machines = len(problem.jobs), len(problem.machines)
    narrow = max(waiting_cost, int(tables.max(initial=0))) < np.iinfo(np.uint16).max
    matrix: CostMatrix = np.empty((max(jobs, room_for_jobs), machines), np.uint16 if narrow else np.int32)
    barred = np.iinfo(np.uint16).max if narrow else BARRED
    fill_costs(problem, tables, matrix)
    for job, mask in problem.allowed.items():
        matrix[job, ~mask] = barred
    return matrix


def fill_costs(problem: Problem, tables: CostTable, matrix: CostMatrix, first: int = 0) -> None:
    """Write the costs of jobs `first`… into their rows."""
    step = points.step_ns(problem.curves)
    for start in range(first, len(problem.jobs), _ROWS):
        fill(_nearest(problem, slice(start, start + _ROWS)), step, tables, start, matrix)


def _nearest(problem: Problem, which: slice) -> Nanoseconds:
    """Return the round trip from each machine to the nearest root of each of these jobs, shape (jobs, machines)."""
    jobs = problem.jobs
    rows = problem.latency.rows(np.maximum(jobs.root[which], 0))  # a root that waits: its job has no tasks
    if jobs.further_roots is None:
        return rows
    rows = rows.copy()
    for roots in jobs.further_roots[which].T:
        has = roots != ANYWHERE
        rows[has] = np.minimum(rows[has], problem.latency.rows(roots[has]))
    return rows
