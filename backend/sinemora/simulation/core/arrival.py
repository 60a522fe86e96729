"""Place jobs in arrival order without moves: the published policy for one job at a time, and the baselines.

For one job the published network needs no flow solver. A free slot costs the minimum of the arcs to its machine, its
rack and the cluster; the cheapest slots are taken.
"""

import numpy as np

from sinemora.placement.policies.nomora import Parameters
from sinemora.placement.problem import Assignment, Ints, Machines, Problem
from sinemora.placement.solvers.cost_kernels import CostMatrix


def network_costs(row: CostMatrix, machines: Machines, parameters: Parameters) -> Ints:
    """Return a task's cost on each machine in the published network, from the costs of its job, shape (machines,)."""
    costs = row.astype(np.int64)
    worst = np.zeros(int(machines.rack.max(initial=-1)) + 1, np.int64)
    np.maximum.at(worst, machines.rack, costs)
    rack = worst[machines.rack]
    by_rack = np.where(rack <= parameters.p_r, rack, worst.max(initial=0))
    return np.where(costs <= parameters.p_m, np.minimum(costs, by_rack), by_rack)


def cheapest_slots(costs: Ints, free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks per machine if the cheapest slots fill first; ties are broken at random."""
    machines = len(costs)
    order = rng.permutation(machines)
    order = order[np.argsort(costs[order], kind="stable")]
    reach = np.cumsum(free[order])
    taken = np.zeros(machines, np.int64)
    taken[order] = np.clip(tasks - (reach - free[order]), 0, free[order])
    return taken


def random_slots(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks per machine if tasks take random free slots."""
    slots = np.repeat(np.arange(len(free)), free)
    chosen = rng.choice(slots, min(tasks, len(slots)), replace=False)
    return np.bincount(chosen, minlength=len(free))


def emptiest(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks per machine if each task goes to the machine with the most free slots."""
    left = int(min(tasks, free.sum()))
    level = np.sort(free)[::-1]
    # Largest number of free slots that can remain on the emptiest machines while `left` tasks fit.
    low, high = 0, int(level[0]) if len(level) else 0
    while low < high:
        middle = (low + high + 1) // 2
        if np.maximum(free - middle, 0).sum() >= left:
            low = middle
        else:
            high = middle - 1
    taken = np.maximum(free - low, 0)
    surplus = int(taken.sum()) - left
    if surplus > 0:
        at = np.flatnonzero(free - low > 0)
        taken[rng.choice(at, surplus, replace=False)] -= 1
    return taken


def in_order(problem: Problem, matrix: CostMatrix, parameters: Parameters, rng: np.random.Generator) -> Assignment:
    """Place all jobs of a problem in order, as the published policy does without preemption."""
    free = problem.free_slots().copy()
    placed = []
    for job in range(len(problem.jobs)):
        costs = network_costs(matrix[job], problem.machines, parameters)
        taken = cheapest_slots(costs, free, int(problem.jobs.size[job]), rng)
        free -= taken
        at = np.flatnonzero(taken)
        placed.append(Assignment(np.full(len(at), job), at, taken[at]))
    return Assignment(
        *(np.concatenate([getattr(part, name) for part in placed]) for name in ("job", "machine", "count"))
    )
