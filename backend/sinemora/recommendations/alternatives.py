"""Alternatives to a move: the next best VM of its task, and the slack of its path."""

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.schemas import Named
from sinemora.recommendations.core.instance import Instance, Ints
from sinemora.recommendations.core.solution import Solution
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.schemas import RunnerUp

Known = dict[int, Floats]
"""Performance that tasks of a star lose on each VM, cached by the position of their application."""
_SLACK_STEP_US = 0.1


def alternatives(
    instance: Instance, solution: Solution, move: TaskMove, known: Known
) -> tuple[RunnerUp | None, float | None]:
    """Return the next best VM of a task at slot prices, and the slack of its path in µs.

    `known` caches losses from move to move. VMs with tasks of the same application are excluded: its tasks are alike
    and could be swapped for nothing. Without slot prices, the next best VM is one with free capacity.
    """
    application = instance.applications[move.task[0]]
    price = solution.slot_price
    after = solution.after[move.task[0]]
    root = application.root
    if price is None or root is None or move.task[1] == root or after[root] < 0:
        return _next_with_room(instance, solution, move), None
    losses = _losses(instance, solution, move.task[0], known)
    cost = losses + price
    # A slot price has no meaning where tasks that stay leave no slot.
    usable = _slots_left(instance) >= move.takes[0]
    if application.allowed is not None:
        usable &= application.allowed
    usable[after[after >= 0]] = False
    usable[[machine for machine in (move.source, move.target) if machine >= 0]] = False
    runner = None
    rent = min(float(price[move.target]), _worth_to_others(instance, solution, move, known))
    rivals = [np.inf if move.starts else float(cost[move.source])]
    if usable.any():
        best = int(np.where(usable, cost, np.inf).argmin())
        worse = max(float(cost[best] - losses[move.target] - rent), 0.0)
        runner = RunnerUp(vm=_named(instance, best), worse_by=worse)
        rivals.append(float(cost[best]))
    if not np.isfinite(min(rivals)):
        return runner, None
    return runner, _slack_us(instance, solution, move, min(rivals) - rent)


def _slots_left(instance: Instance) -> Ints:
    """Return the slots of each VM that tasks which cannot move leave."""
    left = instance.room[:, 0].copy()
    for application in instance.applications:
        for need, machine in zip(application.tasks, application.at.tolist(), strict=True):
            if machine >= 0 and (need.pinned or not application.chosen):
                left[machine] -= need.slots
    return left


def _slack_us(instance: Instance, solution: Solution, move: TaskMove, most: float) -> float | None:
    """Return the growth of round trips in µs at which a task loses `most` performance; None if it never does."""
    place = move.task[0]
    sensitivity = instance.applications[place].sensitivity
    root = int(solution.after[place][instance.applications[place].root or 0])
    by = instance.training_risk
    if by is None or not np.isfinite(by.mean_between(root, move.target, sensitivity)):
        budget = sensitivity.curve.budget_us(max(1 - most, 1e-9)) if most >= 0 else 0.0
        added = float(sensitivity.added_us(solution.assumed.round_trips_ns[root, move.target]))
        return None if budget is None else max(budget - added, 0.0)
    kept, lost = 0.0, sensitivity.curve.end_us
    if 1 - by.mean_between(root, move.target, sensitivity, lost) <= most:
        return None
    while lost - kept > _SLACK_STEP_US:
        later = (kept + lost) / 2
        loses = 1 - by.mean_between(root, move.target, sensitivity, later) > most
        kept, lost = (kept, later) if loses else (later, lost)
    return kept


def _losses(instance: Instance, solution: Solution, place: int, known: Known) -> Floats:
    """Return the performance that a task of a star loses on each VM, with its root on its target."""
    if place not in known:
        application = instance.applications[place]
        root = int(solution.after[place][application.root or 0])
        added = application.sensitivity.added_us(solution.assumed.round_trips_ns[root])
        performance = application.sensitivity.curve(added)
        if (by := instance.training_risk) is not None:
            by_risk = [by.mean_between(root, vm, application.sensitivity) for vm in range(len(added))]
            by_risk[root] = np.nan
            performance = np.where(np.isfinite(by_risk), by_risk, performance)
        known[place] = 1 - performance
    return known[place]


def _worth_to_others(instance: Instance, solution: Solution, move: TaskMove, known: Known) -> float:
    """Return the most performance that a task of another application would gain in the target slot.

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
