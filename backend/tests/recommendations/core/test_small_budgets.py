"""Small budgets of moves on 300 VMs: against every single move, independent ones, and every pair on a small mesh."""

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


def running(seed: int, vms: int = VMS) -> Tenant:
    """Return a large tenant without its waiting tasks: starts are no moves, and are not enumerated here."""
    tenant = large(np.random.default_rng((seed, vms)), vms)
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
def problem_of(seed: int, vms: int = VMS) -> SearchProblem:
    """Return the problem that the search of a recommendation gets, formed once for all tests of its seed."""
    solution = optimize.solve(instance_of(running(seed, vms)), Options(moves_max=1, move_cost=0.0))
    assert solution.search is not None
    return solution.search.problem


@cache
def waiting(seed: int) -> Instance:
    """Return the instance of a large tenant with its waiting tasks."""
    return instance_of(large(np.random.default_rng((seed, VMS)), VMS))


@cache
def single_moves(seed: int) -> list[tuple[float, int, int]]:
    """Return gain, task and machine of each single move that keeps all limits, best first, whatever the budget."""
    problem = problem_of(seed)
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
        for machine in np.flatnonzero(roomy & (gains > 0)):
            moves.append((float(gains[machine]), int(task), int(machine)))
    kept, at = [], problem.at.copy()
    for gain, task, machine in sorted(moves, reverse=True):
        at[task] = machine
        if keeps(problem, at):
            kept.append((gain, task, machine))
        at[task] = problem.at[task]
        if len(kept) == 200:
            break
    return kept


@pytest.mark.parametrize("seed", seeds(range(1, 7)))
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_the_best_set_of_moves_is_found_and_proven(seed: int, budget: int) -> None:
    problem = replace(problem_of(seed), most_moves=budget)
    solution = search.solve(problem)
    assert solution.gap == 0
    assert keeps(problem, solution.at)
    chosen: list[tuple[float, int, int]] = []
    for gain, task, machine in single_moves(seed):
        at = problem.at.copy()
        for _, other, there in chosen:
            at[other] = there
        at[task] = machine
        jobs = {int(problem.owner[other]) for _, other, _ in chosen}
        if len(chosen) < budget and int(problem.owner[task]) not in jobs and keeps(problem, at):
            chosen.append((gain, task, machine))
    gained = sum(gain - problem.move_price[0] for gain, _, _ in chosen)
    # Nearer machines are preferred among equal ones, which counts less than that.
    assert value(problem, problem.at)[1] - solution.total >= gained - 1e-5


@pytest.mark.parametrize("seed", seeds(range(1, 7)))
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_starts_of_waiting_tasks_are_proven_beside_few_moves(seed: int, budget: int) -> None:
    solution = optimize.solve(waiting(seed), Options(moves_max=budget, move_cost=0.0))
    assert solution.search is not None
    assert (solution.search.problem.at < 0).any()
    assert solution.gap == 0
