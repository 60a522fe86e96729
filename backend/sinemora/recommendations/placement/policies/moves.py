"""Pareto front of gain and number of moves, and plans within a move budget.

Staying is made λ cost points cheaper. The cheapest placement is then optimal among all with at most its number of
moves, and each move gains at least λ on average: λ is the price of a move. One network, warm-started from λ to λ,
yields the whole front.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.plan import Certificate, Plan, moved_tasks
from sinemora.recommendations.placement.policies.exact import plan_of, transport_of
from sinemora.recommendations.placement.problem import Assignment, Problem
from sinemora.recommendations.placement.solvers.transport import Transport

LADDER = (900, 600, 400, 300, 200, 150, 100, 80, 60, 50, 40, 30, 25, 20, 15, 10, 8, 5, 2, 0)
"""Move prices to try, in cost points."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Optimal placement among all with at most `moves` moves."""

    price: int
    """λ: minimum gain of a move, in cost points."""
    moves: int
    gain: int
    """Cost points saved against the current placement."""
    plan: Plan


def pareto_front(
    problem: Problem, prices: Sequence[int] = LADDER, objective: Objective = Objective.slowdown
) -> list[Point]:
    """Return points from few moves to many, one for each move price. The plan's certificate includes the price.

    Starts at the optimum: each higher price returns some tasks to their current machine, far fewer than would have to
    leave it all at once. A task also stays if another machine is only as good.
    """
    started = time.perf_counter()
    transport, held = transport_of(problem, objective)
    transport.solve()
    loose = problem.loose()
    before = cost_of(transport, loose)
    points: list[Point] = []
    for price in sorted(set(prices)):
        if not points:
            transport.let_stay(loose, price)
        else:
            transport.discount_stays(price)
        transport.solve()
        if price == 0:
            transport.prefer_stays()
        plan = plan_of("exact", problem, transport, held, started)
        placed = transport.assignment()
        points.append(Point(price, moved_tasks(loose, placed), before - cost_of(transport, placed), plan))
    return points[::-1]


def within_budget(problem: Problem, most: int, objective: Objective = Objective.slowdown) -> Plan:
    """Return the best plan found with at most `most` moves; its certificate bounds the gap.

    Bisection over prices finds two neighbours that enclose the budget. Their difference decomposes into cycles, each of
    which changes the cost by the price of its moves; as many as fit are applied to the plan with fewer moves.
    """
    started = time.perf_counter()
    transport, held = transport_of(problem, objective)
    transport.solve()
    loose = problem.loose()
    running = int(loose.count.sum())
    low, high = 0, int(transport.waiting_cost.max(initial=0)) * 4 + 1
    transport.let_stay(loose, high)
    transport.solve()
    below, bound = transport.assignment(), _bound(transport, high, running, most)
    above: Assignment | None = None
    while low < high:
        price = (low + high) // 2
        transport.discount_stays(price)
        transport.solve()
        placed = transport.assignment()
        bound = max(bound, _bound(transport, price, running, most))
        progress.report(0.4, f"fitting {most} moves at price {price}", bound=float(bound))
        if moved_tasks(loose, placed) <= most:
            below, high = placed, price
        else:
            above, low = placed, price + 1
    best = below if above is None else _fill_up(transport, loose, below, above, most)
    cost = cost_of(transport, best)
    plan = plan_of("exact", problem, transport, held, started)
    extra = plan.cost - cost_of(transport, transport.assignment())
    return replace(
        plan,
        assignment=best.plus(held),
        waiting=transport.supply - best.of_jobs(transport.jobs),
        cost=cost + extra,
        certificate=Certificate(cost, min(cost, bound)),
    )


def min_gain(problem: Problem, noise: float, objective: Objective = Objective.slowdown) -> int:
    """Return the move price that measurement noise alone cannot reach: its spread in the cost of a pair.

    `noise` is the relative half width of a latency's measured value; the cost is read at both ends for every running
    task, and the difference averaged. Without it an optimiser picks the pairs whose noise looks best.
    """
    tables = points.table(problem.curves, objective)
    step = points.step_ns(problem.curves)
    current = problem.current
    total = 0.0
    for job in np.unique(current.job):
        mine = current.job == job
        ns = problem.latency.rows(problem.jobs.root[[job]])[0, current.machine[mine]].astype(np.float64)
        ends = np.minimum(np.rint(np.outer([1 - noise, 1 + noise], ns) / step), tables.shape[1] - 1).astype(np.int64)
        low, high = tables[problem.jobs.curve[job]][ends]
        total += float(((high - low) * current.count[mine]).sum())
    return round(total / max(1, int(current.count.sum())))


def cost_of(transport: Transport, placed: Assignment) -> int:
    """Return the cost of a placement with waiting tasks, without discounts."""
    cost = int((transport.costs[placed.job, placed.machine].astype(np.int64) * placed.count).sum())
    waiting = transport.supply - placed.of_jobs(transport.jobs)
    return cost + int((waiting * transport.waiting_cost).sum())


def _bound(transport: Transport, price: int, running: int, most: int) -> int:
    """Return a lower bound for placements with at most `most` moves: the discounted optimum minus the value of the
    moves.
    """
    return transport.certificate().dual + price * (running - most)


def _fill_up(transport: Transport, current: Assignment, few: Assignment, many: Assignment, most: int) -> Assignment:
    """Return `few` plus those cycles of its difference to `many` that fit into the budget, best gain per move first."""
    cycles = sorted(
        ((cost_of(transport, few) - cost_of(transport, few.plus(cycle)), cycle) for cycle in _cycles(few, many)),
        key=lambda pair: -pair[0],
    )
    best = few
    for gain, cycle in cycles:
        if gain <= 0:
            continue
        tried = best.plus(cycle)
        if moved_tasks(current, tried) <= most and cost_of(transport, tried) < cost_of(transport, best):
            best = tried
    return best


def _cycles(before: Assignment, after: Assignment) -> list[Assignment]:
    """Return the difference of two placements as cycles, each of which conserves slots and tasks."""
    negative = Assignment(before.job, before.machine, -before.count)
    width = int(max(before.machine.max(initial=0), after.machine.max(initial=0))) + 1
    keys, position = np.unique(
        np.concatenate([negative.job * width + negative.machine, after.job * width + after.machine]),
        return_inverse=True,
    )
    change = np.zeros(len(keys), np.int64)
    np.add.at(change, position, np.concatenate([negative.count, after.count]))
    # Residual graph: an arriving task is job → machine, a leaving one machine → job; PARK absorbs the remainder.
    park, first_machine = -1, int(keys.max(initial=0)) // width + 1
    follow: dict[int, list[tuple[int, int, int, int]]] = {}
    surplus: dict[int, int] = {}
    for key, amount in zip(keys.tolist(), change.tolist(), strict=True):
        job, machine = divmod(key, width)
        for _ in range(abs(amount)):
            tail, head = (job, first_machine + machine) if amount > 0 else (first_machine + machine, job)
            follow.setdefault(tail, []).append((head, job, machine, 1 if amount > 0 else -1))
            surplus[tail] = surplus.get(tail, 0) - 1
            surplus[head] = surplus.get(head, 0) + 1
    for node, amount in surplus.items():
        for _ in range(abs(amount)):
            tail, head = (node, park) if amount > 0 else (park, node)
            follow.setdefault(tail, []).append((head, -1, -1, 0))
    assignments = []
    for start in list(follow):
        while follow[start]:
            path: list[tuple[int, int, int, int]] = []
            where: dict[int, int] = {start: 0}
            node = start
            while True:
                arc = follow[node].pop()
                path.append(arc)
                node = arc[0]
                if node in where:
                    cycle = path[where[node] :]
                    del path[where[node] :]
                    steps = [(job, machine, sign) for _, job, machine, sign in cycle if sign]
                    if steps:
                        assignments.append(Assignment.of(steps))
                    for other in [n for n, at in where.items() if at > len(path)]:
                        del where[other]
                    if not path:
                        break
                else:
                    where[node] = len(path)
    return assignments
