"""Limits on how many tasks of a job share a failure domain, which keep the problem a flow.

A node of capacity `most` lies between a job and the machines of a domain. Domains nest (machine, rack, pod), so several
limits of one job are nodes in series. The network contains every allowed pair: it is meant for a tenant, and for the
jobs of a cluster with such limits.
"""

import time

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement.matrix import cost_matrix, waiting_costs
from sinemora.recommendations.placement.plan import Certificate, PlacementPlan, Statistics
from sinemora.recommendations.placement.problem import Assignment, Ints, Problem
from sinemora.recommendations.placement.solvers import flow
from sinemora.recommendations.placement.solvers.flow import FlowNetwork

_LEVELS = ("pod", "rack", "machine")


class InfeasibleError(ValueError):
    """Not all tasks can be placed. `relax` names limits that each make it feasible when relaxed alone."""

    def __init__(self, message: str, relax: tuple[str, ...]) -> None:
        super().__init__(message)
        self.relax = relax


def solve(problem: Problem) -> PlacementPlan:
    """Return the cheapest placement within spread limits, proven; tasks without a place wait."""
    started = time.perf_counter()
    problem.check()
    tables = points.table(problem.curves)[problem.jobs.curve]
    waiting_cost = waiting_costs(problem, tables)
    matrix = cost_matrix(problem, tables, int(waiting_cost.max(initial=0)))
    held = problem.held()
    supply = problem.jobs.size - held.of_jobs(len(problem.jobs))
    free = problem.free_slots() - held.on_machines(len(problem.machines))
    network, pair_arc, pair_job, pair_machine = _network(problem, matrix.astype(np.int64), supply, free, waiting_cost)
    flows = flow.solve(network)
    used = flows[pair_arc]
    some = used > 0
    placed = Assignment(pair_job[some], pair_machine[some], used[some]).merged()
    primal, dual = flow.cost(network, flows), flow.dual_value(network, flow.potentials(network, flows))
    waiting = supply - placed.of_jobs(len(problem.jobs))
    cost = sum(
        int((matrix[part.job, part.machine].astype(np.int64) * part.count).sum()) for part in (placed, held)
    ) + int((waiting * waiting_cost).sum())
    return PlacementPlan(
        "exact",
        problem.jobs.root,
        placed.plus(held),
        waiting,
        cost,
        Certificate(primal, dual),
        Statistics(time.perf_counter() - started, 1, len(pair_arc)),
    )


def _network(
    problem: Problem, matrix: Ints, supply: Ints, free: Ints, waiting_cost: Ints
) -> tuple[FlowNetwork, Ints, Ints, Ints]:
    """Return the network, its arcs into machines, and the job and machine of each such arc."""
    jobs, machines = matrix.shape
    sink = jobs + machines
    nodes = sink + 1
    tail, head, capacity, cost = [], [], [], []
    pair_arc, pair_job, pair_machine = [], [], []

    def add(a: int, b: int, room: int, price: int) -> int:
        tail.append(a)
        head.append(b)
        capacity.append(room)
        cost.append(price)
        return len(tail) - 1

    for job in range(jobs):
        size = int(supply[job])
        add(job, sink, size, int(waiting_cost[job]))
        limits = _limits(problem, job)
        inner: dict[tuple[str, int], int] = {}
        for machine in np.flatnonzero(matrix[job] <= waiting_cost[job]).tolist():
            if free[machine] <= 0 or size == 0:
                continue
            node = job
            for level in _LEVELS:
                if level in limits:
                    domain = _domain(problem, level, machine)
                    room = limits[level] - _held_in(problem, job, level, domain)
                    if (level, domain) not in inner:
                        inner[level, domain] = nodes
                        nodes += 1
                        add(node, inner[level, domain], max(0, min(size, room)), 0)
                    node = inner[level, domain]
            pair_arc.append(add(node, jobs + machine, size, int(matrix[job, machine])))
            pair_job.append(job)
            pair_machine.append(machine)
    for machine in range(machines):
        add(jobs + machine, sink, max(0, int(free[machine])), 0)
    supplies = np.zeros(nodes, np.int64)
    supplies[:jobs], supplies[sink] = supply, -supply.sum()
    columns = [np.array(column, np.int64) for column in (tail, head, capacity, cost)]
    network = FlowNetwork(columns[0], columns[1], columns[2], columns[3], supplies)
    pairs = [np.array(column, np.int64) for column in (pair_arc, pair_job, pair_machine)]
    return network, pairs[0], pairs[1], pairs[2]


def _limits(problem: Problem, job: int) -> dict[str, int]:
    """Return the strictest limit of a job at each level."""
    strictest: dict[str, int] = {}
    for limit in (limit for limit in problem.spread if limit.job == job):
        strictest[limit.level] = min(limit.most, strictest.get(limit.level, limit.most))
    return strictest


def _domain(problem: Problem, level: str, machine: int) -> int:
    domains = {"machine": None, "rack": problem.machines.rack, "pod": problem.machines.pod}[level]
    return machine if domains is None else int(domains[machine])


def _held_in(problem: Problem, job: int, level: str, domain: int) -> int:
    held = problem.held()
    return sum(
        int(count)
        for owner, machine, count in zip(held.job, held.machine, held.count, strict=True)
        if owner == job and _domain(problem, level, int(machine)) == domain
    )
