"""Small placement problems and a plain way to read their costs, shared by the tests of placement."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.graph.python import min_cost_flow

from sinemora.labs.simulation.core import workload
from sinemora.recommendations.placement.matrix import waiting_costs
from sinemora.recommendations.placement.problem import Assignment, Ints, Jobs, Machines, Nanoseconds, Problem


@dataclass(frozen=True)
class Dense:
    """Latency as a whole matrix."""

    ns: npt.NDArray[np.int32]

    def rows(self, sources: Ints) -> Nanoseconds:
        return self.ns[sources]


def free_moves(jobs: int, room: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Moves of a search that cost nothing, that no job has to pay for, on machines in one place."""
    return {
        "move_price": np.zeros(jobs),
        "bringing": np.zeros((jobs, len(room))),
        "location": np.zeros((3, len(room)), np.int64),
        "far": 0.0,
        "stays": np.zeros(jobs, np.bool_),
        "pays": np.zeros(jobs, np.bool_),
        "over": np.zeros_like(room),
    }


def random_problem(
    rng: np.random.Generator, jobs: int = 0, machines: int = 0, most_tasks: int = 6, limits: bool = False
) -> Problem:
    """Jobs with roots, latencies of 0 to 1.1 ms and the source's curves; with `limits` on machines jobs may use."""
    jobs = jobs or int(rng.integers(1, 6))
    machines = machines or int(rng.integers(2, 9))
    one_way = rng.integers(0, 1_100_000, (machines, machines))
    ns = np.maximum(one_way, one_way.T).astype(np.int32)
    np.fill_diagonal(ns, 5_000)
    root = rng.integers(0, machines, jobs)
    slots = rng.integers(0, 5, machines) + np.bincount(root, minlength=machines)
    racks = np.sort(rng.integers(0, 3, machines))
    spec = Jobs.of(rng.integers(0, most_tasks, jobs), root, rng.integers(0, 3, jobs))
    allowed = {}
    if limits:
        for job in range(0, jobs, 2):
            allowed[job] = rng.random(machines) < 0.6
    return Problem(spec, Machines(slots, racks, racks // 2), Dense(ns), workload.curves(), allowed=allowed)


def true_costs(problem: Problem) -> npt.NDArray[np.int64]:
    """100 / p at the nearest 10 µs for every job and machine, one at a time."""
    out = np.zeros((len(problem.jobs), len(problem.machines)), np.int64)
    for job, (root, curve) in enumerate(zip(problem.jobs.root, problem.jobs.curve, strict=True)):
        for machine in range(len(problem.machines)):
            step = min((int(problem.latency.rows(np.array([root]))[0, machine]) + 5_000) // 10_000, 100)
            p = max(0.1, float(problem.curves.values[step, curve]))
            out[job, machine] = round(100.0 / p)
    return out


def running(problem: Problem, rng: np.random.Generator, share: float = 0.8) -> Assignment:
    """Most tasks of a problem on machines with room, at random."""
    slots = problem.free_slots().copy()
    entries = []
    for job, size in enumerate(problem.jobs.size):
        for _ in range(size):
            open_ = np.flatnonzero(slots > 0)
            if job in problem.allowed:
                open_ = open_[problem.allowed[job][open_]]
            if len(open_) and rng.random() < share:
                machine = int(rng.choice(open_))
                slots[machine] -= 1
                entries.append((job, machine, 1))
    return Assignment.of(entries).merged()


def other_solver(problem: Problem) -> int:
    """Solve the transportation problem with OR-tools, one arc per pair."""
    matrix = true_costs(problem)
    jobs, machines = matrix.shape
    flow = min_cost_flow.SimpleMinCostFlow()
    sink = jobs + machines
    waiting = waiting_costs(problem, matrix.astype(np.int32))
    for job in range(jobs):
        flow.set_node_supply(job, int(problem.jobs.size[job]))
        flow.add_arc_with_capacity_and_unit_cost(job, sink, int(problem.jobs.size[job]), int(waiting[job]))
        for machine in range(machines):
            if job not in problem.allowed or problem.allowed[job][machine]:
                size = int(problem.jobs.size[job])
                flow.add_arc_with_capacity_and_unit_cost(job, jobs + machine, size, int(matrix[job, machine]))
    for machine, free in enumerate(problem.free_slots()):
        flow.add_arc_with_capacity_and_unit_cost(jobs + machine, sink, int(free), 0)
    flow.set_node_supply(sink, -int(problem.jobs.size.sum()))
    assert flow.solve() == flow.OPTIMAL
    return flow.optimal_cost()
