"""Small placement problems and a plain way to read their costs, shared by the tests of placement."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.graph.python import min_cost_flow

from sinemora.labs.simulation.core import workload
from sinemora.recommendations.placement.policies.search import NO_LIMIT, SearchProblem
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


def search_problem(**given: Any) -> SearchProblem:
    """Return a search problem in which every task may move anywhere for nothing, unless `given` says else."""
    tasks, machines, jobs = len(given["at"]), len(given["room"]), len(given["curve"])
    free = {
        "movable": np.ones(tasks, np.bool_),
        "pinned": np.zeros(tasks, np.bool_),
        "spared": np.zeros(tasks, np.bool_),
        "allowed": np.ones((jobs, machines), np.bool_),
        "domain": np.stack([np.arange(machines)] * 3),
        "most": np.full((jobs, 3), NO_LIMIT),
        "apart": np.zeros((jobs, jobs), np.bool_),
        "most_moves": NO_LIMIT,
        "most_moves_of": np.full(jobs, NO_LIMIT),
    }
    return SearchProblem(**(free | free_moves(jobs, given["room"]) | given))


def random_problem(rng: np.random.Generator, jobs: int = 0, machines: int = 0, most_tasks: int = 6) -> Problem:
    """Jobs with roots, latencies of 0 to 1.1 ms and the source's curves."""
    jobs = jobs or int(rng.integers(1, 6))
    machines = machines or int(rng.integers(2, 9))
    one_way = rng.integers(0, 1_100_000, (machines, machines))
    ns = np.maximum(one_way, one_way.T).astype(np.int32)
    np.fill_diagonal(ns, 5_000)
    root = rng.integers(0, machines, jobs)
    slots = rng.integers(0, 5, machines) + np.bincount(root, minlength=machines)
    racks = np.sort(rng.integers(0, 3, machines))
    spec = Jobs.of(rng.integers(0, most_tasks, jobs), root, rng.integers(0, 3, jobs))
    return Problem(spec, Machines(slots, racks, racks // 2), Dense(ns), workload.curves())


def lost(problem: Problem) -> npt.NDArray[np.float64]:
    """Performance lost at the nearest 10 µs to the nearest root, for every job and machine, one at a time."""
    out = np.zeros((len(problem.jobs), len(problem.machines)))
    for job, (roots, curve) in enumerate(zip(problem.jobs.roots, problem.jobs.curve, strict=True)):
        nearest = problem.latency.rows(roots[roots >= 0]).min(axis=0)
        for machine, latency_ns in enumerate(nearest):
            step = min((int(latency_ns) + 5_000) // 10_000, 100)
            out[job, machine] = 1.0 - min(1.0, float(problem.curves.values[step, curve]))
    return out


def true_costs(problem: Problem) -> npt.NDArray[np.int64]:
    """Cost points 100 / p of every job and machine."""
    return np.rint(100.0 / np.maximum(1.0 - lost(problem), 0.1)).astype(np.int64)


def running(problem: Problem, rng: np.random.Generator, share: float = 0.8) -> Assignment:
    """Most tasks of a problem on machines with room, at random."""
    slots = problem.free_slots().copy()
    entries = []
    for job, size in enumerate(problem.jobs.size):
        for _ in range(size):
            open_ = np.flatnonzero(slots > 0)
            if len(open_) and rng.random() < share:
                machine = int(rng.choice(open_))
                slots[machine] -= 1
                entries.append((job, machine, 1))
    return Assignment.of(entries).merged()


def cheapest_flow(problem: Problem, costs: npt.NDArray[Any], waiting_cost: float) -> float:
    """Return the least cost of all tasks at fixed roots by OR-tools, one arc per pair, to a millionth."""
    jobs, machines = costs.shape
    flow, unit = min_cost_flow.SimpleMinCostFlow(), 1_000_000
    sink = jobs + machines
    for job in range(jobs):
        size = int(problem.jobs.size[job])
        flow.set_node_supply(job, size)
        flow.add_arc_with_capacity_and_unit_cost(job, sink, size, round(waiting_cost * unit))
        for machine in range(machines):
            flow.add_arc_with_capacity_and_unit_cost(
                job, jobs + machine, size, round(float(costs[job, machine]) * unit)
            )
    for machine, free in enumerate(problem.free_slots()):
        flow.add_arc_with_capacity_and_unit_cost(jobs + machine, sink, int(free), 0)
    flow.set_node_supply(sink, -int(problem.jobs.size.sum()))
    assert flow.solve() == flow.OPTIMAL
    return flow.optimal_cost() / unit
