"""Policy `exact`: what the published network only approximates, solved to a proven optimum.

No racks, no thresholds: a task may run anywhere at its true cost. The published network charges a task that finds no
preferred machine the worst machine of a rack or of the cluster, so it lands anywhere; here nothing is rounded away.
"""

import time

import numpy as np

from sinemora.recommender.placement import costs as points
from sinemora.recommender.placement.costs import CostTable, Objective
from sinemora.recommender.placement.pairs import CostMatrix, fill
from sinemora.recommender.placement.plan import Plan, Statistics
from sinemora.recommender.placement.problem import ANYWHERE, WAITING_COST, Assignment, Ints, Problem, ProblemError
from sinemora.recommender.placement.transport import Transport

BARRED = 1 << 28
"""Cost of a pair that is not allowed; in a matrix of 16 bits their largest number."""
_ROWS = 256  # latency rows held at a time


def solve(problem: Problem, objective: Objective = Objective.slowdown, waiting_cost_per_s: float = 0.0) -> Plan:
    """Cheapest placement of all tasks of jobs whose roots are decided; the certificate's gap is 0."""
    started = time.perf_counter()
    problem.check()
    if (problem.jobs.root == ANYWHERE).any():
        job = int((problem.jobs.root == ANYWHERE).argmax())
        raise ProblemError("root_undecided", problem.jobs.name(job), "the policy gang chooses roots")
    tables = points.table(problem.curves, objective)[problem.jobs.curve]
    waiting = waiting_costs(problem, tables, waiting_cost_per_s)
    held = problem.held()
    transport = Transport(
        cost_matrix(problem, tables, int(waiting.max(initial=0))),
        problem.jobs.size - held.of_jobs(len(problem.jobs)),
        problem.free_slots() - held.on_machines(len(problem.machines)),
        waiting,
    )
    transport.solve()
    return plan_of("exact", problem, transport, held, started)


def plan_of(policy: str, problem: Problem, transport: Transport, held: Assignment, started: float) -> Plan:
    """The plan of a solved network, with the tasks that had to stay."""
    solved = transport.assignment()
    waiting = transport.waiting()
    cost = int((transport.costs[solved.job, solved.machine].astype(np.int64) * solved.count).sum())
    cost += int((transport.costs[held.job, held.machine].astype(np.int64) * held.count).sum())
    cost += int((waiting * transport.waiting_cost).sum())
    slot_price, job_price = transport.prices()
    return Plan(
        policy,
        problem.jobs.root,
        solved.plus(held),
        waiting,
        cost,
        transport.certificate(),
        Statistics(time.perf_counter() - started, transport.rounds, transport.columns, transport.pivots),
        slot_price,
        job_price,
    )


def waiting_costs(problem: Problem, tables: CostTable, per_s: float = 0.0) -> Ints:
    """What a waiting task of each job costs: more than any place, so that nothing waits beside a free slot.

    Where jobs may not go everywhere, one task more may push several others aside; then waiting costs more than the
    longest such chain, so that as many tasks as possible are placed.
    """
    dearest = max(WAITING_COST, int(tables.max(initial=0)) + 1)
    if problem.allowed or problem.spread:
        dearest *= min(len(problem.jobs), len(problem.machines)) + 1
        if dearest >= BARRED // 8:
            raise ProblemError("too_large", "allowed", "jobs and machines with limits: at most 20,000 of the fewer")
    extra: Ints = np.rint(per_s * problem.jobs.waited_s).astype(np.int64)
    return dearest + extra


def cost_matrix(problem: Problem, tables: CostTable, waiting_cost: int, room_for_jobs: int = 0) -> CostMatrix:
    """Cost of every job on every machine, shape (jobs, machines); more rows when `room_for_jobs` says so.

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
    """Write the costs of jobs `first`… into their rows, from latency as it is now."""
    step = points.step_ns(problem.curves)
    for start in range(first, len(problem.jobs), _ROWS):
        roots = problem.jobs.root[start : start + _ROWS]
        fill(problem.latency.rows(roots), step, tables, start, matrix)
