"""Loops over many pairs run on two processors: results are those of a few rows at a time."""

import numpy as np

from sinemora.labs.simulation.core import network
from sinemora.recommendations.placement.problem import Machines
from sinemora.recommendations.placement.solvers.cost_kernels import candidates, fill

JOBS, MACHINES, FEW = 601, 500, 100
RNG = np.random.default_rng(1)


def test_costs_are_those_of_a_few_rows_at_a_time() -> None:
    latency = RNG.integers(0, 1_300_000, (JOBS, MACHINES)).astype(np.int32)
    tables = RNG.integers(0, 60_000, (JOBS, 101)).astype(np.int32)
    whole, parts = np.empty((2, JOBS, MACHINES), np.uint16)
    fill(latency, 10_000, tables, 0, whole)
    for first in range(0, JOBS, FEW):
        fill(latency[first : first + FEW], 10_000, tables, first, parts)
    assert (whole == parts).all()


def test_candidates_are_the_cheapest_of_each_job() -> None:
    costs = np.argsort(RNG.random((JOBS, MACHINES)), axis=1).astype(np.uint16)
    price = np.zeros(MACHINES, np.int32)
    wanted = RNG.integers(0, 60, JOBS)
    wanted[[5, 400]] = 0
    job, machine = np.empty((2, int(wanted.sum())), np.int32)
    pairs = candidates(costs, price, wanted, 40, job, machine)
    assert (np.diff(job[:pairs]) >= 0).all()
    for each in range(JOBS):
        expected = np.flatnonzero(costs[each] < min(wanted[each], 40))
        assert sorted(machine[:pairs][job[:pairs] == each]) == expected.tolist()


def test_simulated_latency_is_that_of_a_few_rows_at_a_time() -> None:
    machines = Machines.regular(700, 4, 40, 4)
    base = RNG.integers(50_000, 400_000, (3, 6))
    sources = RNG.integers(0, 700, 401)
    for noise in (0.0, 0.15):
        latency = network.ClusterLatency(machines, base, 3, noise, 9)
        parts = [latency.rows(sources[first : first + FEW]) for first in range(0, len(sources), FEW)]
        assert (latency.rows(sources) == np.concatenate(parts)).all()
