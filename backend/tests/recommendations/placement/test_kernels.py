"""Simulated latency is the same in parts."""

import numpy as np

from sinemora.labs.simulation.core import network
from sinemora.recommendations.placement.problem import Machines


def test_simulated_latency_is_that_of_a_few_rows_at_a_time() -> None:
    rng = np.random.default_rng(1)
    machines = Machines.regular(700, 4, 40, 4)
    base, sources = rng.integers(50_000, 400_000, (3, 6)), rng.integers(0, 700, 401)
    for noise in (0.0, 0.15):
        latency = network.ClusterLatency(machines, base, 3, noise, 9)
        parts = [latency.rows(sources[first : first + 100]) for first in range(0, len(sources), 100)]
        assert (latency.rows(sources) == np.concatenate(parts)).all()
