"""Gangs against all there is to choose from."""

import dataclasses

import numpy as np
import pytest

from sinemora.recommendations.placement.policies import exact, gang, nomora
from sinemora.recommendations.placement.problem import ANYWHERE, ProblemError, Spread
from tests.recommendations.placement.problems import random_problem
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(range(25)))
def test_a_gang_of_one_job_is_the_best_of_all_roots(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), jobs=1, machines=7)
    homeless = problem.with_roots(np.array([ANYWHERE]))
    tried = []
    for root in np.flatnonzero(problem.machines.slots > 0):
        tried.append(exact.solve(problem.with_roots(np.array([root]))).cost)
    assert exact.solve(homeless.with_roots(gang.place(homeless))).cost == min(tried)


def test_a_root_without_a_slot_is_reported() -> None:
    problem = random_problem(np.random.default_rng(1), jobs=1, machines=3)
    full = dataclasses.replace(problem, machines=dataclasses.replace(problem.machines, slots=np.zeros(3, np.int64)))
    with pytest.raises(ProblemError) as refused:
        gang.place(full.with_roots(np.array([ANYWHERE])))
    assert refused.value.code == "no_slot_for_root"


def test_the_published_network_refuses_limits() -> None:
    problem = random_problem(np.random.default_rng(2), jobs=2, machines=4)
    with pytest.raises(ProblemError):
        nomora.solve(dataclasses.replace(problem, spread=(Spread(0, "rack", 2),)))


POLICIES = {
    "exact": exact.solve,
    "nomora": nomora.solve,
    "nomora, a node a job": lambda problem: nomora.solve(problem, nomora.Parameters(aggregate=True)),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_a_plan_that_fits(policy: str) -> None:
    problem = random_problem(np.random.default_rng(8), jobs=5, machines=8)
    plan = POLICIES[policy](problem)
    roots = np.bincount(plan.root, minlength=8)
    assert (plan.assignment.on_machines(8) + roots <= problem.machines.slots).all()
    assert (plan.assignment.of_jobs(5) + plan.waiting == problem.jobs.size).all()
