"""Placing jobs in the order they come, nothing moved: the published policy for one job at a time, and the baselines.

With one job the published network needs no flow solver: each free slot costs the least of what the task would pay for
its machine, its rack or the cluster, and the cheapest slots are taken.
"""

import numpy as np

from sinemora.placement.cost_kernels import CostMatrix
from sinemora.placement.nomora import Parameters
from sinemora.placement.problem import Assignment, Ints, Machines, Problem


def network_costs(row: CostMatrix, machines: Machines, parameters: Parameters) -> Ints:
    """What a task pays on each machine in the published network, from the true costs of its job, shape (machines,)."""
    costs = row.astype(np.int64)
    worst = np.zeros(int(machines.rack.max(initial=-1)) + 1, np.int64)
    np.maximum.at(worst, machines.rack, costs)
    rack = worst[machines.rack]
    by_rack = np.where(rack <= parameters.p_r, rack, worst.max(initial=0))
    return np.where(costs <= parameters.p_m, np.minimum(costs, by_rack), by_rack)


def cheapest_slots(costs: Ints, free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """How many of `tasks` tasks each machine takes when the cheapest slots go first, equal ones in any order."""
    machines = len(costs)
    order = rng.permutation(machines)
    order = order[np.argsort(costs[order], kind="stable")]
    reach = np.cumsum(free[order])
    taken = np.zeros(machines, np.int64)
    taken[order] = np.clip(tasks - (reach - free[order]), 0, free[order])
    return taken


def random_slots(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks each machine takes when every free slot is as good as any other."""
    slots = np.repeat(np.arange(len(free)), free)
    chosen = rng.choice(slots, min(tasks, len(slots)), replace=False)
    return np.bincount(chosen, minlength=len(free))


def emptiest(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks each machine takes when the one with the fewest tasks is next (equal slots: most free
    slots).
    """
    left = int(min(tasks, free.sum()))
    level = np.sort(free)[::-1]
    # The level to which the emptiest are filled: at it, at least `left` tasks have a place.
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
    """Return all jobs of a problem placed one after the other as the published policy does without preemption."""
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
