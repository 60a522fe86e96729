"""Small budgets of moves on 300 VMs: against every single move."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import Star, Tenant, large
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.policies.search import SearchProblem
from tests.recommendations.placement.policies.test_search_proven import keeps, value
from tests.seeds import seeds

VMS = 300


def running(seed: int) -> Tenant:
    """Return a large tenant without its waiting tasks: starts are no moves, and are not enumerated here."""
    tenant = large(np.random.default_rng((seed, VMS)), VMS)
    applications = [_running(application) for application in tenant.applications]
    return replace(tenant, applications=[application for application in applications if application.links])


def _running(application: Star) -> Star:
    kept = [task for task, vm in enumerate(application.at) if vm >= 0]
    number = {task: at for at, task in enumerate(kept)}
    return replace(
        application,
        at=[application.at[task] for task in kept],
        pinned=[application.pinned[task] for task in kept],
        takes=[application.takes[task] for task in kept],
        links=[(number[a], number[b], weight) for a, b, weight in application.links if a in number and b in number],
        apart_from=None,
    )


@cache
def waiting(seed: int) -> Instance:
    """Return the instance of a large tenant with its waiting tasks."""
    return instance_of(large(np.random.default_rng((seed, VMS)), VMS))


def gain_of_best_move(problem: SearchProblem) -> float:
    """Return the largest gain of a single move that keeps all limits."""
    free = problem.room.copy()
    np.add.at(free, problem.at, -problem.need)
    moves = []
    for task in np.flatnonzero(problem.movable):
        home, job = problem.at[task], problem.owner[task]
        gains = np.zeros(len(problem.room))
        for one, other in ((problem.source, problem.target), (problem.target, problem.source)):
            for link in np.flatnonzero(one == task):
                costs = problem.table[problem.curve[job]][problem.steps[:, problem.at[other[link]]]]
                gains += problem.weight[link] * (costs[home] - costs)
        roomy = ((free >= problem.need[task]) | (problem.need[task] == 0)).all(axis=1)
        moves += [(float(gains[machine]), int(task), int(machine)) for machine in np.flatnonzero(roomy & (gains > 0))]
    at = problem.at.copy()
    for gain, task, machine in sorted(moves, reverse=True):
        at[task] = machine
        if keeps(problem, at):
            return gain
        at[task] = problem.at[task]
    return 0.0


@pytest.mark.parametrize("seed", seeds(range(1, 7)))
def test_the_best_move_is_found_and_proven(seed: int) -> None:
    """That the best of several is found is proven on small meshes: `test_search_proven`."""
    first = optimize.solve(instance_of(running(seed)), Options(moves_max=1, move_cost=0.0))
    assert first.search is not None
    problem = first.search.problem
    solution = search.solve(problem)
    assert solution.gap == 0
    assert keeps(problem, solution.at)
    gained = value(problem, problem.at)[1] - solution.total
    # Nearer machines are preferred among equal ones, which counts less than that.
    assert gained >= gain_of_best_move(problem) - problem.move_price[0] - 1e-5


@pytest.mark.parametrize("seed", seeds(range(1, 7)))
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_starts_of_waiting_tasks_are_proven_beside_few_moves(seed: int, budget: int) -> None:
    solution = optimize.solve(waiting(seed), Options(moves_max=budget, move_cost=0.0))
    assert solution.search is not None
    assert (solution.search.problem.at < 0).any()
    assert solution.gap == 0
