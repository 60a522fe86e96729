"""Policy `exact`: the assignment that the published network approximates, solved to proven optimality.

Without racks and thresholds, a task may run anywhere at its true cost. The published network charges a task without a
preferred machine the worst machine of a rack or of the cluster, so it may land anywhere.
"""

import time

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.matrix import cost_matrix, waiting_costs
from sinemora.recommendations.placement.plan import PlacementPlan, Statistics
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Problem, ProblemError
from sinemora.recommendations.placement.solvers.transport import Transport


def solve(problem: Problem) -> PlacementPlan:
    """Return the cheapest assignment of all tasks for fixed roots; the optimality gap is 0."""
    started = time.perf_counter()
    transport, held = transport_of(problem)
    transport.solve()
    return _plan(problem, transport, held, started)


def transport_of(problem: Problem) -> tuple[Transport, Assignment]:
    """Return the unsolved transportation problem, and the pinned tasks outside it."""
    problem.check()
    if (problem.jobs.root == ANYWHERE).any():
        job = int((problem.jobs.root == ANYWHERE).argmax())
        raise ProblemError("root_undecided", problem.jobs.name(job), "a machine for the root of each job")
    tables = points.table(problem.curves)[problem.jobs.curve]
    waiting = waiting_costs(problem, tables)
    held = problem.held()
    transport = Transport(
        cost_matrix(problem, tables, int(waiting.max(initial=0))),
        problem.jobs.size - held.of_jobs(len(problem.jobs)),
        problem.free_slots() - held.on_machines(len(problem.machines)),
        waiting,
    )
    return transport, held


def _plan(problem: Problem, transport: Transport, held: Assignment, started: float) -> PlacementPlan:
    solved = transport.assignment()
    waiting = transport.supply - solved.of_jobs(transport.jobs)
    cost = int((transport.costs[solved.job, solved.machine].astype(np.int64) * solved.count).sum())
    cost += int((transport.costs[held.job, held.machine].astype(np.int64) * held.count).sum())
    cost += int((waiting * transport.waiting_cost).sum())
    return PlacementPlan(
        "exact",
        problem.jobs.root,
        solved.plus(held),
        waiting,
        cost,
        transport.certificate(solved),
        Statistics(time.perf_counter() - started, transport.rounds, transport.columns, transport.pivots),
    )
