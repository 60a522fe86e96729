"""Packing of several resources, compared with every possible plan."""

import dataclasses
import itertools

import numpy as np
import pytest

from sinemora.recommendations.placement.policies import exact, vector_packing
from sinemora.recommendations.placement.problem import Resources
from tests.recommendations.placement.problems import random_problem, true_costs


@pytest.mark.parametrize("seed", range(8))
def test_packing_agrees_with_all_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=2, machines=3, most_tasks=4)
    resources = Resources(
        rng.integers(1, 4, 2), rng.integers(1, 4, 2), rng.integers(2, 9, 3), rng.integers(2, 9, 3), ((0, 1),)
    )
    matrix, size, free = true_costs(problem), problem.jobs.size, problem.free_slots()
    best = 1 << 60
    ways = [[np.array(p) for p in itertools.product(range(int(n) + 1), repeat=3) if sum(p) <= n] for n in size]
    for first, second in itertools.product(*ways):
        fits = (first + second <= free).all() and not ((first > 0) & (second > 0)).any()
        fits &= bool((first * resources.cpu[0] + second * resources.cpu[1] <= resources.machine_cpu).all())
        fits &= bool((first * resources.memory[0] + second * resources.memory[1] <= resources.machine_memory).all())
        if fits:
            waiting = int(size.sum() - first.sum() - second.sum())
            best = min(best, int(first @ matrix[0] + second @ matrix[1]) + 1001 * waiting)
    plan = vector_packing.solve(dataclasses.replace(problem, resources=resources))
    assert plan.cost == best
    assert plan.certificate is not None
    assert plan.certificate.proven
    assert plan.cost >= exact.solve(problem).cost
