"""Local search for graphs and for tasks larger than one slot, which the star solver cannot place."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.applications.performance import Indices
from sinemora.curves.core.curve import Floats
from sinemora.placement.costs import LEAST_PERFORMANCE, Objective
from sinemora.placement.move_sequence import TaskMove
from sinemora.placement.policies import search
from sinemora.placement.policies.search import NO_LIMIT, SearchProblem, SearchSolution
from sinemora.recommendations.core.formulate import solver_tasks
from sinemora.recommendations.core.instance import ELSEWHERE, WAITING, ImputedMatrix, Instance, Ints


Int32s = npt.NDArray[np.int32]


class SearchResult(NamedTuple):
    """Problem, solution and the moves that lead there."""

    moves: list[TaskMove]
    problem: SearchProblem
    solution: SearchSolution


def unsolved_tasks(instance: Instance, stars: list[int]) -> set[tuple[int, int]]:
    """Return (application, task) of all movable tasks that the solver of `stars` does not place, without roots."""
    unsolved = set()
    for place, application in enumerate(instance.applications):
        if not application.chosen:
            continue
        solved = {*solver_tasks(application), application.root} if place in stars else set()
        for position, need in enumerate(application.tasks):
            stays = application.at[position] == ELSEWHERE or (need.pinned and application.at[position] >= 0)
            if position not in solved and not stays:
                unsolved.add((place, position))
    return unsolved


def search_moves(
    instance: Instance,
    assumed: ImputedMatrix,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    objective: Objective,
    least_gain: float,
    moves_max: int,
) -> SearchResult:
    """Search for moves of `movers` with all other tasks fixed `at` their machines."""
    problem, tasks = _search_problem(instance, assumed, at, movers, objective, least_gain, moves_max)
    solution = search.solve(problem)
    moves = []
    for row, (place, task) in enumerate(tasks):
        here, there = int(problem.at[row]), int(solution.at[row])
        if here != there:
            moves.append(TaskMove((place, task), here, there, instance.applications[place].tasks[task].takes))
    return SearchResult(moves, problem, solution)


def _search_problem(
    instance: Instance,
    assumed: ImputedMatrix,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    objective: Objective,
    least_gain: float,
    moves_max: int,
) -> tuple[SearchProblem, list[tuple[int, int]]]:
    applications = instance.applications
    tasks = [(place, task) for place, application in enumerate(applications) for task in range(len(application.tasks))]
    first = np.cumsum([0, *(len(application.tasks) for application in applications)])
    places = sorted({place for place, _ in movers})
    links = [applications[place].links for place in places]
    performance, curve, steps = _performance(instance, assumed)
    costs = 1 - performance
    if objective is Objective.slowdown:
        costs = 1 / np.clip(performance, LEAST_PERFORMANCE, 1.0)
    mean = float(np.mean([len(link) for link in links]))
    weights = []
    for edges in links:
        # A link weighs as one task of a star; if applications weigh equally, by its share of its application.
        alike = objective in (Objective.fair, Objective.worst_first)
        weights.append(edges.weights / edges.weights.sum() * (mean if alike else len(edges)))
    zones, racks = instance.zones.astype(np.int64), instance.racks.astype(np.int64)
    limits = [
        (application.per_vm_max, application.per_host_max, application.per_zone_max) for application in applications
    ]
    apart = np.zeros((len(applications), len(applications)), np.bool_)
    for place, application in enumerate(applications):
        apart[place, list(application.apart_from)] = True
    everywhere = np.ones(len(instance.machines), np.bool_)
    # Tasks on machines outside the mesh are waiting tasks to the search.
    here = np.concatenate([np.maximum(machines, WAITING) for machines in at]).astype(np.int64)
    problem = SearchProblem(
        at=here,
        movable=np.array([task in movers for task in tasks]),
        pinned=np.array(
            [
                place in places and applications[place].tasks[task].pinned and at[place][task] >= 0
                for place, task in tasks
            ]
        ),
        owner=np.array([place for place, _ in tasks], np.int64),
        need=np.array([applications[place].tasks[task].takes for place, task in tasks], np.int64),
        # Running tasks fit by definition, whatever the stated capacity.
        room=instance.room - np.minimum(instance.free(at), 0),
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
        move_price=least_gain,
        most_moves=moves_max,
        most_moves_of=np.array(
            [NO_LIMIT if application.moves_max is None else application.moves_max for application in applications],
            np.int64,
        ),
    )
    return problem, tasks


def _performance(instance: Instance, assumed: ImputedMatrix) -> tuple[Floats, Ints, Int32s]:
    """Return performance by curve and round trip, the curve of each application, and the round trip of each pair.

    Shapes (curves, round trips), (applications,) and (VMs, VMs). Every round trip has a column of its own: curves with
    thresholds are exact.
    """
    round_trips_ns, steps = np.unique(assumed.round_trips_ns, return_inverse=True)
    rows: dict[tuple[int, float], int] = {}
    values: list[Floats] = []
    curve = []
    for application in instance.applications:
        sensitivity = application.sensitivity
        key = (id(sensitivity.curve), sensitivity.reference_us)
        if key not in rows:
            rows[key] = len(values)
            values.append(sensitivity.curve(sensitivity.added_us(round_trips_ns)))
        curve.append(rows[key])
    shape = assumed.round_trips_ns.shape
    return np.stack(values), np.array(curve, np.int64), steps.reshape(shape).astype(np.int32)
