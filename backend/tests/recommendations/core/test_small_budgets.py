"""Small budgets of moves on 300 VMs, beside tasks that wait."""

from functools import cache

import numpy as np
import pytest

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import large
from sinemora.recommendations.core import optimize
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.options import Options
from tests.seeds import seeds


@cache
def waiting(seed: int) -> Instance:
    """Return the instance of a large tenant with its waiting tasks."""
    return instance_of(large(np.random.default_rng((seed, 300)), 300))


@pytest.mark.parametrize("seed", seeds(range(1, 7)))
@pytest.mark.parametrize("budget", [1, 2, 3])
def test_starts_of_waiting_tasks_are_proven_beside_few_moves(seed: int, budget: int) -> None:
    solution = optimize.solve(waiting(seed), Options(moves_max=budget, move_cost=0.0))
    assert solution.search is not None
    assert (solution.search.problem.at < 0).any()
    assert solution.gap == 0
