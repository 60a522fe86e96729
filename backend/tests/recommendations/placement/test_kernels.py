"""The native search gives the recorded places, to the bit, and simulated latency is the same in parts."""

import dataclasses
import hashlib

import numpy as np

from sinemora.labs.simulation.core import network
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.problem import Machines
from tests.recommendations.placement.policies.test_search import tenant

RECORDED = "fed6c17632333265ecd30c9ce489190a"
"""Of the places of all seeds; renewed only with the loop of the search."""


def test_places_are_the_recorded_ones() -> None:
    digest = hashlib.sha256()
    for seed in range(12):
        problem = tenant(seed, tasks=24 if seed % 2 else 9, machines=9 if seed % 2 else 5, waiting=seed % 3)
        apart = np.array([[False, True], [True, False]]) if seed % 4 == 1 else problem.apart
        problem = dataclasses.replace(
            problem,
            apart=apart,
            most=np.full((2, 3), 9) if seed % 5 == 2 else problem.most,
            move_price=np.full(2, 0.05 * (seed % 3)),
            most_moves=3 if seed % 4 == 3 else problem.most_moves,
        )
        digest.update(np.ascontiguousarray(search.solve(problem, seed=seed, proposals=20_000).at).tobytes())
    assert digest.hexdigest()[:32] == RECORDED


def test_simulated_latency_is_that_of_a_few_rows_at_a_time() -> None:
    rng = np.random.default_rng(1)
    machines = Machines.regular(700, 4, 40, 4)
    base, sources = rng.integers(50_000, 400_000, (3, 6)), rng.integers(0, 700, 401)
    for noise in (0.0, 0.15):
        latency = network.ClusterLatency(machines, base, 3, noise, 9)
        parts = [latency.rows(sources[first : first + 100]) for first in range(0, len(sources), 100)]
        assert (latency.rows(sources) == np.concatenate(parts)).all()
