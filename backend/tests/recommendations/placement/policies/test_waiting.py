"""Whether all tasks can run, against every placement there is; and the room that one task makes for another."""

import dataclasses
import itertools
import time

import numpy as np
import pytest

from sinemora.recommendations.placement import infeasibility
from sinemora.recommendations.placement.infeasibility import InfeasibleError
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import SearchProblem
from tests.recommendations.placement.policies.test_search_proven import keeps, world
from tests.recommendations.placement.problems import search_problem
from tests.seeds import seeds


def with_waiting(seed: int) -> SearchProblem:
    """Return a random world in which one to three of the tasks that may move wait."""
    problem = world(seed)
    rng = np.random.default_rng(seed + 1)
    movers = np.flatnonzero(problem.movable)
    at = problem.at.copy()
    at[rng.choice(movers, min(len(movers), int(rng.integers(1, 4))), replace=False)] = -1
    return dataclasses.replace(problem, at=at)


def all_can_run(problem: SearchProblem) -> bool:
    """Try every placement in which no movable task waits."""
    places = [
        range(len(problem.room)) if movable else [home]
        for home, movable in zip(problem.at.tolist(), problem.movable, strict=True)
    ]
    return any(keeps(problem, np.array(at)) for at in itertools.product(*places))


@pytest.mark.parametrize("seed", seeds(range(2000, 2040)))
def test_all_tasks_can_run_or_cannot(seed: int) -> None:
    problem = with_waiting(seed)
    assert search.can_start_all(problem, problem.at) == all_can_run(problem)


def full_mesh(machines: int, free: int) -> SearchProblem:
    """Return machines of one slot, all but the last `free` full, where a task of two slots waits.

    It may only use machine 0, which has two slots and a task that may move.
    """
    at = np.append(np.arange(machines - free), -1)
    owner = np.append(np.arange(machines - free), machines - free)
    need = np.ones((len(at), 3), np.int64)
    need[-1] = (2, 0, 0)
    need[:-1, 1:] = 0
    room = np.ones((machines, 3), np.int64)
    room[0, 0] = 2
    allowed = np.ones((len(at), machines), np.bool_)
    allowed[-1] = np.arange(machines) == 0
    nothing = np.empty(0, np.int64)
    return search_problem(
        at=at,
        owner=owner,
        need=need,
        room=room,
        source=nothing,
        target=nothing,
        weight=np.empty(0),
        curve=np.zeros(len(at), np.int64),
        table=np.zeros((1, 1)),
        steps=np.zeros((machines, machines), np.int32),
        allowed=allowed,
        most_moves=1,
    )


def test_one_task_of_hundreds_makes_room() -> None:
    # One move of all leads there; drawing proposals at random would need some ten thousand.
    problem = full_mesh(300, free=1)
    assert search.can_start_all(problem, problem.at)
    assert not search.can_start_all(dataclasses.replace(problem, most_moves=0), problem.at)


def test_naming_limits_takes_less_time_than_the_search() -> None:
    """A search of many tasks must not be repeated for each limit that might be relaxed."""
    problem = dataclasses.replace(full_mesh(300, free=2), most_moves=0)
    jobs = [f"job-{job}" for job in range(len(problem.curve))]
    started = time.process_time()
    solution = search.solve(problem)
    searched = time.process_time()
    with pytest.raises(InfeasibleError) as refused:
        infeasibility.require_all_found(problem, solution.at, jobs, [f"m{machine}" for machine in range(300)])
    took = time.process_time() - searched
    assert refused.value.relax == ("allow moves (none are allowed now)",)
    assert took < (searched - started) / 4
