"""What the solver of stars cannot place, graphs and tasks of more than a slot, as a question of searching."""

from typing import NamedTuple

import numpy as np

from sinemora.applications.performance import Indices
from sinemora.placement import search
from sinemora.placement.costs import LEAST_PERFORMANCE, Objective
from sinemora.placement.move_sequence import TaskMove
from sinemora.placement.search import NO_LIMIT, Found, Question
from sinemora.recommendations.formulate import placed_by_solver, table
from sinemora.recommendations.instance import ELSEWHERE, WAITING, Assumed, World


class Searched(NamedTuple):
    """What was asked and found, and the moves that lead there."""

    moves: list[TaskMove]
    question: Question
    found: Found


def left_over(world: World, stars: list[int]) -> set[tuple[int, int]]:
    """(application, task) of all that may move and that a solver of `stars` does not place, roots of stars left out."""
    found = set()
    for place, one in enumerate(world.applications):
        if not one.chosen:
            continue
        solved = {*placed_by_solver(one), one.root} if place in stars else set()
        for position, need in enumerate(one.tasks):
            stays = one.at[position] == ELSEWHERE or (need.pinned and one.at[position] >= 0)
            if position not in solved and not stays:
                found.add((place, position))
    return found


def searched(
    world: World,
    assumed: Assumed,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    objective: Objective,
    least_gain: float,
    moves_max: int,
) -> Searched:
    """Moves of `movers` for the others as they are `at`, and what the search has to say about them."""
    question, tasks = _question(world, assumed, at, movers, objective, least_gain, moves_max)
    found = search.solve(question)
    moves = []
    for row, (place, task) in enumerate(tasks):
        here, there = int(question.at[row]), int(found.at[row])
        if here != there:
            moves.append(TaskMove((place, task), here, there, world.applications[place].tasks[task].takes))
    return Searched(moves, question, found)


def _question(
    world: World,
    assumed: Assumed,
    at: tuple[Indices, ...],
    movers: set[tuple[int, int]],
    objective: Objective,
    least_gain: float,
    moves_max: int,
) -> tuple[Question, list[tuple[int, int]]]:
    applications = world.applications
    tasks = [(place, task) for place, one in enumerate(applications) for task in range(len(one.tasks))]
    first = np.cumsum([0, *(len(one.tasks) for one in applications)])
    places = sorted({place for place, _ in movers})
    links = [applications[place].links for place in places]
    curves = table(list(applications))
    performance = curves.values.T
    costs = 1 - performance
    if objective is Objective.slowdown:
        costs = 1 / np.clip(performance, LEAST_PERFORMANCE, 1.0)
    mean = float(np.mean([len(one) for one in links]))
    weights = []
    for one in links:
        # A link counts as one task of a star does; where applications count alike, its share of its own.
        alike = objective in (Objective.fair, Objective.worst_first)
        weights.append(one.weights / one.weights.sum() * (mean if alike else len(one)))
    zones, racks = world.zones.astype(np.int64), world.racks.astype(np.int64)
    limits = [(one.per_vm_max, one.per_host_max, one.per_zone_max) for one in applications]
    apart = np.zeros((len(applications), len(applications)), np.bool_)
    for place, application in enumerate(applications):
        apart[place, list(application.apart_from)] = True
    everywhere = np.ones(len(world.machines), np.bool_)
    # Tasks on machines outside the mesh run, somewhere: to the search they are not there.
    here = np.concatenate([np.maximum(one, WAITING) for one in at]).astype(np.int64)
    question = Question(
        at=here,
        movable=np.array([one in movers for one in tasks]),
        pinned=np.array(
            [
                place in places and applications[place].tasks[task].pinned and at[place][task] >= 0
                for place, task in tasks
            ]
        ),
        owner=np.array([place for place, _ in tasks], np.int64),
        need=np.array([applications[place].tasks[task].takes for place, task in tasks], np.int64),
        # What runs fits, whatever was said.
        room=world.room - np.minimum(world.free(at), 0),
        source=np.concatenate([first[place] + one.sources for place, one in zip(places, links, strict=True)]),
        target=np.concatenate([first[place] + one.targets for place, one in zip(places, links, strict=True)]),
        weight=np.concatenate(weights),
        curve=np.arange(len(applications)),
        table=np.ascontiguousarray(costs),
        steps=np.minimum(np.rint(assumed.round_trips_ns / (curves.step_us * 1e3)), costs.shape[1] - 1).astype(np.int32),
        allowed=np.stack([everywhere if one.allowed is None else one.allowed for one in applications]),
        domain=np.stack([np.arange(len(world.machines)), racks, zones]).astype(np.int64),
        most=np.array([[NO_LIMIT if most is None else most for most in row] for row in limits], np.int64),
        spared=np.array([task == applications[place].root for place, task in tasks]),
        apart=apart,
        move_price=least_gain,
        most_moves=moves_max,
    )
    return question, tasks
