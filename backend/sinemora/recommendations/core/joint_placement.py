"""Placement of all tasks together: roots, their tasks, graphs and tasks of any size, within every limit."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices
from sinemora.kit.percent import percent
from sinemora.recommendations.core.formulate import solver_tasks
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING, Deployment, ImputedMatrix, Instance, Ints
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.tail_risk import RiskModel
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.costs import LEAST_PERFORMANCE, Objective
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import (
    BRANCH_WORK,
    NO_LIMIT,
    Earlier,
    SearchProblem,
    SearchSolution,
)

Int32s = npt.NDArray[np.int32]
Barred = frozenset[tuple[tuple[int, int], int]]
"""Tasks, each with a machine that it may not come to."""
LEAST_PRICE = 1e-4
"""Least price of a move where one costs nothing: of placements that perform equally, the one with fewest moves."""
_NEARER = 32
"""A zone, region or provider that a task leaves costs a move divided by this: ten moves and their ways cost less than
eleven moves."""
_ROUNDS = 8
"""Most rounds in which applications that do badly get more weight."""


class SearchResult(NamedTuple):
    """Problem, solution and the moves that lead there."""

    moves: list[TaskMove]
    problem: SearchProblem
    solution: SearchSolution


def movable_tasks(instance: Instance, stars: list[int]) -> set[tuple[int, int]]:
    """Return (application, task) of all movable tasks that the solver of `stars` does not place, without their roots.

    Under a risk measure roots stay: distributions are read from where they run.
    """
    movable = set()
    for place, application in enumerate(instance.applications):
        if not application.chosen:
            continue
        solved = {*solver_tasks(application), application.root} if place in stars else set()
        for position, need in enumerate(application.tasks):
            runs = application.at[position] >= 0
            rooted = position == application.root and instance.training_risk is not None
            stays = application.at[position] == ELSEWHERE or (runs and (need.pinned or rooted))
            if position not in solved and not stays:
                movable.add((place, position))
    return movable


def place_jointly(
    instance: Instance,
    assumed: ImputedMatrix,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    options: Options,
    prices: Floats,
    barred: Barred = frozenset(),
    earlier: tuple[SearchSolution, tuple[Indices, ...]] | None = None,
) -> SearchResult:
    """Place `movers` with all other tasks fixed `at` their machines; a move has to gain for its task what it costs.

    `prices`: the least gain of a move by application (`prices_of_moves`).

    No task comes to a machine that it is `barred` from. `earlier`: the solution of a search with fewer limits, and a
    placement within those of now, from which the search begins.
    """
    problem, tasks = search_problem(instance, assumed, at, movers, options, prices)
    row_of = {task: row for row, task in enumerate(tasks)}
    pairs = sorted((row_of[task], machine) for task, machine in barred)
    problem = replace(problem, barred=np.array(pairs, np.int64).reshape(-1, 2))
    with progress.describing(lambda cost, bound: _words(problem, options.objective, cost, bound)):
        if options.objective is Objective.worst_first:
            solution = _worst_first(problem, lambda weighted: search.solve(weighted, work=BRANCH_WORK // _ROUNDS))
        else:
            known = None if earlier is None else Earlier(earlier[0], _machine_of_each(earlier[1]))
            solution = search.solve(problem, earlier=known)
    moves = []
    for row, (place, task) in enumerate(tasks):
        here, there = int(problem.at[row]), int(solution.at[row])
        if here != there:
            moves.append(TaskMove((place, task), here, there, instance.applications[place].tasks[task].takes))
    return SearchResult(moves, problem, solution)


def _words(problem: SearchProblem, objective: Objective, cost: float, bound: float | None) -> str:
    """Return the mean performance of links that a cost is worth, and the most that is possible; moves cost too."""
    waiting_cost, weight = search.waiting_cost_of(problem), max(float(problem.weight.sum()), 1e-12)
    waits = int(cost / waiting_cost)
    first = f"{waits} {'task waits' if waits == 1 else 'tasks wait'}, " if waits else ""
    worth = (cost - waits * waiting_cost) / weight
    least = None if bound is None or int(bound / waiting_cost) != waits else (bound - waits * waiting_cost) / weight
    if objective is Objective.slowdown:
        words = f"{first}mean 1 / performance {worth:.3f}"
        return words if least is None else f"{words}, at least {least:.3f}"
    words = f"{first}mean performance {percent(1 - worth)}"
    return words if least is None else f"{words}, at most {percent(1 - max(least, 0.0))}"


def _worst_first(problem: SearchProblem, solve: Callable[[SearchProblem], SearchSolution]) -> SearchSolution:
    """Return the solution whose worst application fares best, then the second worst, and so on.

    Heuristic: each round doubles the weight of applications below the median; no bound is known.
    """
    best = solve(problem)
    losses = _losses(problem, best.at)
    weight = np.ones(len(problem.curve))
    for _ in range(_ROUNDS):
        weight[losses > np.median(losses)] *= 2.0
        found = solve(replace(problem, weight=problem.weight * weight[problem.owner[problem.source]]))
        reached = _losses(problem, found.at)
        if found.waiting > best.waiting or np.sort(reached)[::-1].tolist() >= np.sort(losses)[::-1].tolist():
            break
        best, losses = found, reached
    return replace(best, gap=None)


def _losses(problem: SearchProblem, at: Ints) -> Floats:
    """Return the mean cost of the links of each application whose ends both run, 0 without links; shape (jobs,)."""
    a, b = at[problem.source], at[problem.target]
    runs = (a >= 0) & (b >= 0)
    jobs = problem.owner[problem.source[runs]]
    costs = problem.table[problem.curve[jobs], problem.steps[a[runs], b[runs]]]
    weights = problem.weight[runs]
    total = np.bincount(jobs, weights, len(problem.curve))
    losses: Floats = np.bincount(jobs, costs * weights, len(problem.curve)) / np.maximum(total, 1e-12)
    return losses


def search_problem(
    instance: Instance,
    assumed: ImputedMatrix,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    options: Options,
    prices: Floats,
) -> tuple[SearchProblem, list[tuple[int, int]]]:
    """Return the problem of placing `movers`, and the (application, task) of each of its tasks."""
    applications = instance.applications
    tasks = [(place, task) for place, application in enumerate(applications) for task in range(len(application.tasks))]
    first = np.cumsum([0, *(len(application.tasks) for application in applications)])
    places = sorted({place for place, _ in movers})
    links = [applications[place].links for place in places]
    performance, curve, steps = _performance(instance, assumed)
    costs = 1 - performance
    if options.objective is Objective.slowdown:
        costs = 1 / np.clip(performance, LEAST_PERFORMANCE, 1.0)
    mean = float(np.mean([len(link) for link in links]))
    # A link weighs as one task of a star; if applications weigh equally, by its share of its application.
    alike = options.objective in (Objective.fair, Objective.worst_first)
    weights = [edges.weights / edges.weights.sum() * (mean if alike else len(edges)) for edges in links]
    # What a move costs weighs as the link of its task.
    weighs = np.array([mean / max(len(application.links), 1) if alike else 1.0 for application in applications])
    zones, racks = instance.zones.astype(np.int64), instance.racks.astype(np.int64)
    limits = [
        (application.per_vm_max, application.per_host_max, application.per_zone_max) for application in applications
    ]
    apart = np.zeros((len(applications), len(applications)), np.bool_)
    for place, application in enumerate(applications):
        apart[place, list(application.apart_from)] = True
    everywhere, nothing = np.ones(len(instance.machines), np.bool_), np.zeros(len(instance.machines))
    over = np.maximum(instance.room - instance.free(at) - instance.stated_room, 0)
    problem = SearchProblem(
        at=_machine_of_each(at),
        movable=np.array([task in movers for task in tasks]),
        pinned=np.array(
            [
                applications[place].chosen and applications[place].tasks[task].pinned and at[place][task] >= 0
                for place, task in tasks
            ]
        ),
        owner=np.array([place for place, _ in tasks], np.int64),
        need=np.array([applications[place].tasks[task].takes for place, task in tasks], np.int64),
        # Running tasks fit by definition, whatever the stated capacity.
        room=instance.stated_room + over,
        source=np.concatenate([first[place] + link.sources for place, link in zip(places, links, strict=True)]),
        target=np.concatenate([first[place] + link.targets for place, link in zip(places, links, strict=True)]),
        weight=np.concatenate(weights),
        curve=curve,
        table=np.ascontiguousarray(costs),
        steps=steps,
        allowed=np.stack(
            [everywhere if application.allowed is None else application.allowed for application in applications]
        ),
        domain=np.stack([np.arange(len(instance.machines)), racks, zones]).astype(np.int64),
        most=np.array([[NO_LIMIT if most is None else most for most in row] for row in limits], np.int64),
        spared=np.array([task == applications[place].root for place, task in tasks]),
        apart=apart,
        move_price=prices * weighs,
        bringing=weighs[:, None]
        * np.stack([nothing if application.bringing is None else application.bringing for application in applications]),
        location=instance.location,
        far=float(prices.min()) / _NEARER,
        stays=np.array([not application.leaves_region for application in applications]),
        pays=np.array([not application.moves_for_others for application in applications]),
        over=over,
        most_moves=options.moves_max,
        most_moves_of=np.array(
            [NO_LIMIT if application.moves_max is None else application.moves_max for application in applications],
            np.int64,
        ),
    )
    return problem, tasks


def _machine_of_each(at: tuple[Indices, ...]) -> Ints:
    """Return the machine of each task; those on machines outside the mesh are waiting tasks to the search."""
    return np.concatenate([np.maximum(machines, WAITING) for machines in at]).astype(np.int64)


def _performance(instance: Instance, assumed: ImputedMatrix) -> tuple[Floats, Ints, Int32s]:
    """Return performance by row and step of latency, the row of each application, and the step of each pair of VMs.

    Shapes (rows, steps), (applications,) and (VMs, VMs). Every round trip is a step of its own, so thresholds of curves
    are exact. Under a risk measure every pair is, and every star has a row: its root's paths count by their risk.
    """
    by_pair = instance.training_risk is not None
    if by_pair:
        round_trips_ns = np.sort(assumed.round_trips_ns, axis=None)
        steps = np.argsort(np.argsort(assumed.round_trips_ns, axis=None, kind="stable"), kind="stable")
    else:
        round_trips_ns, steps = np.unique(assumed.round_trips_ns, return_inverse=True)
    pairs = steps.reshape(assumed.round_trips_ns.shape).astype(np.int32)
    rows: dict[tuple[object, ...], int] = {}
    values: list[Floats] = []
    row = []
    for place, application in enumerate(instance.applications):
        sensitivity = application.sensitivity
        root = None if application.root is None else int(application.at[application.root])
        risky = instance.training_risk if root is not None and root >= 0 and application.chosen else None
        key = (id(sensitivity.curve), sensitivity.reference_us, None if risky is None else place)
        if key not in rows:
            rows[key] = len(values)
            values.append(sensitivity.curve(sensitivity.added_us(round_trips_ns)))
            if risky is not None and root is not None:
                _count_risk(values[-1], pairs, root, application, risky)
        row.append(rows[key])
    return np.stack(values), np.array(row, np.int64), pairs


def _count_risk(performance: Floats, pairs: Int32s, root: int, application: Deployment, by: RiskModel) -> None:
    """Write the performance of the paths from a root by their risk, where they were measured."""
    for machine in range(len(pairs)):
        risked = by.mean_between(root, machine, application.sensitivity) if machine != root else np.nan
        if np.isfinite(risked):
            performance[pairs[root, machine]] = performance[pairs[machine, root]] = risked
