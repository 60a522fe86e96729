"""CP-SAT on the longest link of a graph: is there an assignment that uses links up to a threshold only?"""

import time

import numpy as np
import numpy.typing as npt
from ortools.sat.python import cp_model

from sinemora.placement.problem import Ints


def tighten(
    roles: int,
    source: Ints,
    target: Ints,
    costs: npt.NDArray[np.int32],
    vm: Ints,
    cost: int,
    bound: int,
    seconds: float,
) -> tuple[Ints, int, int]:
    """(assignment, its longest link, proven lower bound), from a known one, by halving the thresholds in between."""
    ends = time.perf_counter() + seconds
    off = costs[~np.eye(len(costs), dtype=bool)]
    levels = np.unique(off[(off >= bound) & (off < cost)])
    low, high = 0, len(levels)
    while low < high and time.perf_counter() < ends:
        middle = (low + high) // 2
        status, found = _feasible(roles, source, target, costs <= levels[middle], ends - time.perf_counter())
        if status == cp_model.OPTIMAL or status == cp_model.FEASIBLE:
            vm, high = found, middle
            cost = int(costs[vm[source], vm[target]].max())
        elif status == cp_model.INFEASIBLE:
            low = middle + 1
        else:  # undecided: the bound stays where it is proven
            break
    proven = int(levels[low]) if low < len(levels) else cost
    return vm, cost, min(cost, max(bound, proven if low > 0 or high == 0 else bound))


def _feasible(
    roles: int, source: Ints, target: Ints, near: npt.NDArray[np.bool_], seconds: float
) -> tuple[cp_model.CpSolverStatus, Ints]:
    vms = len(near)
    model = cp_model.CpModel()
    on = [[model.new_bool_var("") for _ in range(vms)] for _ in range(roles)]
    for role in range(roles):
        model.add_exactly_one(on[role])
    for vm in range(vms):
        model.add_at_most_one(on[role][vm] for role in range(roles))
    neighbours = [[int(other) for other in np.flatnonzero(near[vm]) if other != vm] for vm in range(vms)]
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        for vm in range(vms):
            model.add_bool_or([on[b][other] for other in neighbours[vm]] + [on[a][vm].Not()])
            model.add_bool_or([on[a][other] for other in neighbours[vm]] + [on[b][vm].Not()])
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.1, seconds)
    solver.parameters.num_workers = 2
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, np.array([next(v for v in range(vms) if solver.value(on[r][v])) for r in range(roles)], np.int64)
    return status, np.zeros(0, np.int64)
