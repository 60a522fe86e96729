"""Policy `robust`: the cost of a pair from the whole distribution of its latency, not from one number.

Any risk of 1 / p that belongs to one pair keeps the problem a flow: the mean, a quantile, or the mean of the worst part
(CVaR). The published policy takes the maximum over paths, which a single outlier sets.
"""

import time
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sinemora.recommender.placement import costs as points
from sinemora.recommender.placement.costs import CostTable, Objective
from sinemora.recommender.placement.exact import plan_of
from sinemora.recommender.placement.matrix import BARRED, waiting_costs
from sinemora.recommender.placement.plan import Plan
from sinemora.recommender.placement.problem import ANYWHERE, Ints, Problem, ProblemError
from sinemora.recommender.placement.transport import Transport

Shares = npt.NDArray[np.float64]


class Risk(StrEnum):
    """What of a pair's distribution counts."""

    mean = "mean"
    p99 = "p99"
    cvar = "cvar"
    """Mean of the worst twentieth."""


TAIL = 0.05
"""The part of the distribution that CVaR looks at."""


class Distributions(Protocol):
    """How the latency between machines is distributed over the steps of the curve table."""

    def shares(self, source: int) -> Shares:
        """Share of each step, from `source` to every machine: shape (machines, steps), rows add up to 1."""
        ...


def solve(
    problem: Problem, distributions: Distributions, risk: Risk, objective: Objective = Objective.slowdown
) -> Plan:
    """Cheapest placement under a risk of each pair; proven as `exact` is."""
    started = time.perf_counter()
    problem.check()
    if (problem.jobs.root == ANYWHERE).any():
        job = int((problem.jobs.root == ANYWHERE).argmax())
        raise ProblemError("root_undecided", problem.jobs.name(job), "the policy gang chooses roots")
    tables = points.table(problem.curves, objective)[problem.jobs.curve]
    waiting = waiting_costs(problem, tables)
    matrix = np.empty((len(problem.jobs), len(problem.machines)), np.int32)
    for job, root in enumerate(problem.jobs.root.tolist()):
        matrix[job] = pair_costs(distributions.shares(root), tables[job], risk)
    for job, mask in problem.allowed.items():
        matrix[job, ~mask] = BARRED
    held = problem.held()
    transport = Transport(
        matrix,
        problem.jobs.size - held.of_jobs(len(problem.jobs)),
        problem.free_slots() - held.on_machines(len(problem.machines)),
        waiting,
    )
    transport.solve()
    return plan_of("robust", problem, transport, held, started)


def pair_costs(shares: Shares, table: CostTable, risk: Risk) -> Ints:
    """Cost points of each machine from shares of steps, shape (machines,). Costs rise with the step."""
    if risk is Risk.mean:
        return np.rint(shares @ table).astype(np.int64)
    reach = np.cumsum(shares, axis=1)
    if risk is Risk.p99:
        # Rounding must not push the quantile past the last step that has anything in it.
        found: Ints = table[np.argmax(reach >= 0.99 - 1e-12, axis=1)].astype(np.int64)
        return found
    below = np.clip(reach - (1.0 - TAIL), 0.0, None)
    tail = np.diff(below, axis=1, prepend=0.0)
    return np.rint(tail @ table / TAIL).astype(np.int64)
