"""What else a move could have been: the next best VM for its task, and how much worse its path may get."""

import numpy as np

from sinemora.applications.schemas import Named
from sinemora.curves.core.curve import Floats
from sinemora.placement import costs
from sinemora.placement.costs import CostTable, Objective
from sinemora.placement.move_sequence import TaskMove
from sinemora.placement.risk import pair_costs
from sinemora.recommendations.formulate import stars_of
from sinemora.recommendations.instance import World
from sinemora.recommendations.optimize import POINTS, Choice
from sinemora.recommendations.schemas import RunnerUp

Known = dict[int, Floats]
"""What tasks of an application lose on each VM, where it was worked out already, by its position."""


def alternatives(world: World, choice: Choice, move: TaskMove, known: Known) -> tuple[RunnerUp | None, float | None]:
    """The next best VM for a task at the prices of slots, and how many µs its path may lose before the move does.

    `known` is remembered from move to move. VMs where the plan has tasks of the same application are no others: its
    tasks are alike, and two could change places for nothing. Where slots have no prices, the next best VM is one with
    room left.
    """
    plan = choice.plan
    one = world.applications[move.task[0]]
    problem = choice.problem
    if problem is None or plan is None or plan.slot_price is None or one.root is None or move.task[1] == one.root:
        return _next_with_room(world, choice, move), None
    losses = _losses(world, choice, move.task[0], known)
    cost = losses + plan.slot_price
    # The price of a slot means nothing where roots and pinned tasks leave none.
    left = problem.with_roots(plan.root).free_slots() - problem.held().on_machines(len(world.machines))
    usable = left > 0
    if one.allowed is not None:
        usable &= one.allowed
    after = choice.after[move.task[0]]
    usable[after[after >= 0]] = False
    usable[[machine for machine in (move.source, move.target) if machine >= 0]] = False
    runner = None
    rent = min(float(plan.slot_price[move.target]), _worth_to_others(world, choice, move, known))
    rivals = [np.inf if move.starts else float(cost[move.source])]
    if usable.any():
        best = int(np.where(usable, cost, np.inf).argmin())
        worse = max(float(cost[best] - losses[move.target] - rent) / POINTS, 0.0)
        runner = RunnerUp(vm=_named(world, best), worse_by=worse)
        rivals.append(float(cost[best]))
    if not np.isfinite(min(rivals)):
        return runner, None
    return runner, _slack_us(world, choice, move, min(rivals) - rent)


def _slack_us(world: World, choice: Choice, move: TaskMove, most: float) -> float | None:
    """By how many µs all round trips to where a task goes may grow until it loses `most` points; None: by any."""
    place = move.task[0]
    one = world.applications[place]
    table = _table(world, choice, place)
    if table is None or choice.problem is None or choice.problem.risk is None:
        floor = 1 - most / POINTS
        budget = one.sensitivity.curve.budget_us(max(floor, 1e-9)) if floor <= 1 else 0.0
        trips = choice.assumed.round_trips_ns[int(choice.after[place][one.root or 0])]
        return None if budget is None else max(budget - float(one.sensitivity.added_us(trips[move.target])), 0.0)
    distributions, risk = choice.problem.risk
    shares = distributions.shares(int(choice.after[place][one.root or 0]))[move.target : move.target + 1]
    steps = np.arange(table.size)
    kept, lost = 0, table.size
    while lost - kept > 1:
        later = (kept + lost) // 2
        loses = pair_costs(shares, table[np.minimum(steps + later, table.size - 1)], risk)[0]
        kept, lost = (later, lost) if loses <= most else (kept, later)
    return None if lost == table.size else kept * choice.problem.curves.step_us


def _losses(world: World, choice: Choice, place: int, known: Known) -> Floats:
    """Cost points a task of a star loses on each VM, its root being where it goes."""
    if place not in known:
        one = world.applications[place]
        root = int(choice.after[place][one.root or 0])
        table = _table(world, choice, place)
        if table is None or choice.problem is None or choice.problem.risk is None:
            trips = choice.assumed.round_trips_ns[root]
            known[place] = np.asarray(POINTS * (1 - one.sensitivity.curve(one.sensitivity.added_us(trips))))
        else:
            distributions, risk = choice.problem.risk
            known[place] = pair_costs(distributions.shares(root), table, risk).astype(np.float64)
    return known[place]


def _table(world: World, choice: Choice, place: int) -> CostTable | None:
    """Cost points a task of a star that was the solver's loses at each step of latency; None for others."""
    stars = stars_of(world)
    if choice.problem is None or place not in stars:
        return None
    found: CostTable = costs.table(choice.problem.curves, Objective.loss)[stars.index(place)]
    return found


def _worth_to_others(world: World, choice: Choice, move: TaskMove, known: Known) -> float:
    """What the slot a task goes to would gain the task of another application that needs it most, in cost points.

    Prices of slots are not unique: that of one which nobody else wants may be all that its task gains there.
    """
    most = 0.0
    for place, other in enumerate(world.applications):
        at = choice.after[place]
        if place == move.task[0] or other.root is None or not other.chosen or at[other.root] < 0:
            continue
        movable = [
            m for task, m in enumerate(at.tolist()) if m >= 0 and task != other.root and not other.tasks[task].pinned
        ]
        if movable and (other.allowed is None or other.allowed[move.target]):
            losses = _losses(world, choice, place, known)
            most = max(most, float(losses[movable].max() - losses[move.target]))
    return most


def _next_with_room(world: World, choice: Choice, move: TaskMove) -> RunnerUp | None:
    """The best of the VMs a task would fit on when all moves are made, by the links it has."""
    place, task = move.task
    one = world.applications[place]
    links, at = one.links, choice.after[place]
    mine = (links.sources == task) | (links.targets == task)
    peers = at[np.where(links.sources == task, links.targets, links.sources)[mine]]
    weights = links.weights[mine][peers >= 0]
    peers = peers[peers >= 0]
    if not peers.size:
        return None
    kept = one.sensitivity.curve(one.sensitivity.added_us(choice.assumed.round_trips_ns[:, peers]))
    performance = kept @ weights / weights.sum()
    usable = np.asarray((world.free(choice.after) >= np.array(one.tasks[task].takes)).all(axis=1))
    if one.allowed is not None:
        usable &= one.allowed
    usable[[machine for machine in (move.source, move.target) if machine >= 0]] = False
    if not usable.any():
        return None
    best = int(np.where(usable, performance, -np.inf).argmax())
    worse = max(float(performance[move.target] - performance[best]), 0.0)
    return RunnerUp(vm=_named(world, best), worse_by=worse)


def _named(world: World, machine: int) -> Named:
    return Named(id=world.machines[machine].id, name=world.machines[machine].name)
