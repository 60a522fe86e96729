"""Alternatives to a move: the next best VM of its task, and the slack of its path."""

import numpy as np

from sinemora.applications.schemas import Named
from sinemora.curves.core.curve import Floats
from sinemora.placement import costs
from sinemora.placement.costs import CostTable, Objective
from sinemora.placement.move_sequence import TaskMove
from sinemora.placement.risk import pair_costs
from sinemora.recommendations.core.formulate import solvable_stars
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.optimize import POINTS, Solution
from sinemora.recommendations.schemas import RunnerUp

Known = dict[int, Floats]
"""Performance loss of an application's tasks on each VM, cached by its position."""


def alternatives(
    instance: Instance, solution: Solution, move: TaskMove, known: Known
) -> tuple[RunnerUp | None, float | None]:
    """Return the next best VM of a task at slot prices, and the slack of its path in µs.

    `known` caches losses from move to move. VMs where the plan has tasks of the same application are excluded: its
    tasks are alike and could be swapped for nothing. Without slot prices, the next best VM is one with free capacity.
    """
    plan = solution.plan
    application = instance.applications[move.task[0]]
    problem = solution.problem
    if (
        problem is None
        or plan is None
        or plan.slot_price is None
        or application.root is None
        or move.task[1] == application.root
    ):
        return _next_with_room(instance, solution, move), None
    losses = _losses(instance, solution, move.task[0], known)
    cost = losses + plan.slot_price
    # A slot price has no meaning where roots and pinned tasks leave no slot.
    left = problem.with_roots(plan.root).free_slots() - problem.held().on_machines(len(instance.machines))
    usable = left > 0
    if application.allowed is not None:
        usable &= application.allowed
    after = solution.after[move.task[0]]
    usable[after[after >= 0]] = False
    usable[[machine for machine in (move.source, move.target) if machine >= 0]] = False
    runner = None
    rent = min(float(plan.slot_price[move.target]), _worth_to_others(instance, solution, move, known))
    rivals = [np.inf if move.starts else float(cost[move.source])]
    if usable.any():
        best = int(np.where(usable, cost, np.inf).argmin())
        worse = max(float(cost[best] - losses[move.target] - rent) / POINTS, 0.0)
        runner = RunnerUp(vm=_named(instance, best), worse_by=worse)
        rivals.append(float(cost[best]))
    if not np.isfinite(min(rivals)):
        return runner, None
    return runner, _slack_us(instance, solution, move, min(rivals) - rent)


def _slack_us(instance: Instance, solution: Solution, move: TaskMove, most: float) -> float | None:
    """Return the growth of round trips in µs at which a task loses `most` points; None if it never does."""
    place = move.task[0]
    application = instance.applications[place]
    table = _table(instance, solution, place)
    if table is None or solution.problem is None or solution.problem.risk is None:
        floor = 1 - most / POINTS
        budget = application.sensitivity.curve.budget_us(max(floor, 1e-9)) if floor <= 1 else 0.0
        trips = solution.assumed.round_trips_ns[int(solution.after[place][application.root or 0])]
        return (
            None if budget is None else max(budget - float(application.sensitivity.added_us(trips[move.target])), 0.0)
        )
    distributions, risk = solution.problem.risk
    shares = distributions.shares(int(solution.after[place][application.root or 0]))[move.target : move.target + 1]
    steps = np.arange(table.size)
    kept, lost = 0, table.size
    while lost - kept > 1:
        later = (kept + lost) // 2
        loses = pair_costs(shares, table[np.minimum(steps + later, table.size - 1)], risk)[0]
        kept, lost = (later, lost) if loses <= most else (kept, later)
    return None if lost == table.size else kept * solution.problem.curves.step_us


def _losses(instance: Instance, solution: Solution, place: int, known: Known) -> Floats:
    """Return the cost points that a task of a star loses on each VM, with its root on its target."""
    if place not in known:
        application = instance.applications[place]
        root = int(solution.after[place][application.root or 0])
        table = _table(instance, solution, place)
        if table is None or solution.problem is None or solution.problem.risk is None:
            trips = solution.assumed.round_trips_ns[root]
            known[place] = np.asarray(
                POINTS * (1 - application.sensitivity.curve(application.sensitivity.added_us(trips)))
            )
        else:
            distributions, risk = solution.problem.risk
            known[place] = pair_costs(distributions.shares(root), table, risk).astype(np.float64)
    return known[place]


def _table(instance: Instance, solution: Solution, place: int) -> CostTable | None:
    """Return the cost points of a star placed by the solver, by latency step; None for others."""
    stars = solvable_stars(instance)
    if solution.problem is None or place not in stars:
        return None
    cost_table: CostTable = costs.table(solution.problem.curves, Objective.loss)[stars.index(place)]
    return cost_table


def _worth_to_others(instance: Instance, solution: Solution, move: TaskMove, known: Known) -> float:
    """Return the most cost points that a task of another application would gain in the target slot.

    Slot prices are not unique: the price of an uncontested slot may equal all that its task gains there.
    """
    most = 0.0
    for place, other in enumerate(instance.applications):
        at = solution.after[place]
        if place == move.task[0] or other.root is None or not other.chosen or at[other.root] < 0:
            continue
        movable = [
            m for task, m in enumerate(at.tolist()) if m >= 0 and task != other.root and not other.tasks[task].pinned
        ]
        if movable and (other.allowed is None or other.allowed[move.target]):
            losses = _losses(instance, solution, place, known)
            most = max(most, float(losses[movable].max() - losses[move.target]))
    return most


def _next_with_room(instance: Instance, solution: Solution, move: TaskMove) -> RunnerUp | None:
    """Return the best VM by the task's links that has free capacity after all moves."""
    place, task = move.task
    application = instance.applications[place]
    links, at = application.links, solution.after[place]
    mine = (links.sources == task) | (links.targets == task)
    peers = at[np.where(links.sources == task, links.targets, links.sources)[mine]]
    weights = links.weights[mine][peers >= 0]
    peers = peers[peers >= 0]
    if not peers.size:
        return None
    kept = application.sensitivity.curve(application.sensitivity.added_us(solution.assumed.round_trips_ns[:, peers]))
    performance = kept @ weights / weights.sum()
    usable = np.asarray((instance.free(solution.after) >= np.array(application.tasks[task].takes)).all(axis=1))
    if application.allowed is not None:
        usable &= application.allowed
    usable[[machine for machine in (move.source, move.target) if machine >= 0]] = False
    if not usable.any():
        return None
    best = int(np.where(usable, performance, -np.inf).argmax())
    worse = max(float(performance[move.target] - performance[best]), 0.0)
    return RunnerUp(vm=_named(instance, best), worse_by=worse)


def _named(instance: Instance, machine: int) -> Named:
    return Named(id=instance.machines[machine].id, name=instance.machines[machine].name)
