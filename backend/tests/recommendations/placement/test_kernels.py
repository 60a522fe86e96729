"""The native loops of placement and simulation give the recorded results, to the bit.

`kernels.json` has a digest of each result: those of loops that did not change since were recorded from an independent
implementation. A digest is renewed only with the loop that it belongs to.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinemora.labs.simulation.core import network, series
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.problem import Machines
from tests.recommendations.placement.policies.test_search import tenant

RECORDED = json.loads((Path(__file__).parent / "kernels.json").read_text())


def digest(*arrays: Any) -> str:
    result = hashlib.sha256()
    for array in arrays:
        result.update(np.ascontiguousarray(array).tobytes())
    return result.hexdigest()[:32]


def annealing() -> str:
    results = []
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
        results.append(search.solve(problem, seed=seed, proposals=20_000).at)
    return digest(*results)


def simulated_latency() -> str:
    racks = np.arange(700) // 40
    machines = Machines(np.full(700, 4), racks, racks // 4)
    base = np.random.default_rng(5).integers(50_000, 400_000, (3, 6))
    sources = np.random.default_rng(6).integers(0, 700, 50)
    results = []
    for noise, draw in ((0.0, 0), (0.15, 9)):
        results.append(network.ClusterLatency(machines, base, 3, noise, draw).rows(sources))
        traces = series.drawn(series.PUBLISHED, np.random.default_rng(7), 600).round_trips()
        traced = network.TracedLatency(machines, traces, 345, 8, noise, draw)
        results += [traced.rows(sources), traced.pairs(sources, sources[::-1].copy())]
    return digest(*results)


KERNELS: dict[str, Callable[[], str]] = {
    "annealing": annealing,
    "simulated_latency": simulated_latency,
}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_results_are_the_recorded_ones(name: str) -> None:
    assert KERNELS[name]() == RECORDED[name]


def test_simulated_latency_is_that_of_a_few_rows_at_a_time() -> None:
    rng = np.random.default_rng(1)
    machines = Machines.regular(700, 4, 40, 4)
    base, sources = rng.integers(50_000, 400_000, (3, 6)), rng.integers(0, 700, 401)
    for noise in (0.0, 0.15):
        latency = network.ClusterLatency(machines, base, 3, noise, 9)
        parts = [latency.rows(sources[first : first + 100]) for first in range(0, len(sources), 100)]
        assert (latency.rows(sources) == np.concatenate(parts)).all()
