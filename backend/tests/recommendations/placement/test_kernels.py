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
from sinemora.recommendations.placement import costs
from sinemora.recommendations.placement import matrix as matrix_of
from sinemora.recommendations.placement.policies import exact, gang, search
from sinemora.recommendations.placement.problem import ANYWHERE, Machines
from sinemora.recommendations.placement.solvers.cost_kernels import candidates, cheapest, fill, violators
from sinemora.recommendations.placement.solvers.transport import Transport
from tests.recommendations.placement.policies.test_search import tenant
from tests.recommendations.placement.problems import random_problem

RECORDED = json.loads((Path(__file__).parent / "kernels.json").read_text())


def digest(*arrays: Any) -> str:
    result = hashlib.sha256()
    for array in arrays:
        result.update(np.ascontiguousarray(array).tobytes())
    return result.hexdigest()[:32]


def cost_rows(dtype: type) -> str:
    rng = np.random.default_rng(1)
    latency = rng.integers(0, 1_300_000, (40, 333)).astype(np.int32)
    latency[0] = np.arange(333) * 5_000  # edges of steps
    tables = np.sort(rng.integers(0, 60_000, (50, 101)), axis=1).astype(np.int32)
    out = np.zeros((50, 333), dtype)
    fill(latency, 10_000, tables, 7, out)
    return digest(out)


def cheapest_machines() -> str:
    rng = np.random.default_rng(2)
    price = np.where(rng.random(400) < 0.2, -(1 << 29), rng.integers(-50, 50, 400)).astype(np.int32)
    results = []
    for count in (0, 1, 7, 100, 400):
        for dtype in (np.uint16, np.int32):
            out = np.zeros(400, np.int32)
            written = cheapest(rng.integers(0, 30, 400).astype(dtype), price, count, 3 * count % 400, out)
            results += [np.array([written]), out]
    return digest(*results)


def pairs(dtype: type) -> str:
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 40, (30, 500)).astype(dtype)
    price = rng.integers(-20, 20, 500).astype(np.int32)
    job, machine = np.zeros(15_500, np.int32), np.zeros(15_500, np.int32)
    most = rng.integers(0, 500, 30)
    first = candidates(matrix, price, most, 30, job, machine)
    of_candidates = digest(np.array([first]), job[:first], machine[:first])
    own = rng.integers(-40, 0, 30)
    worst = violators(matrix, own, price, rng.integers(0, 300, 30), job, machine)
    return digest(np.array([worst]), job[:worst], machine[:worst], np.array([int(of_candidates, 16) % (1 << 62)]))


def transport() -> str:
    rng = np.random.default_rng(4)
    results = []
    for seed in range(3):
        problem = random_problem(np.random.default_rng(seed), jobs=60, machines=400, most_tasks=60)
        tables = costs.table(problem.curves)[problem.jobs.curve]
        waiting = matrix_of.waiting_costs(problem, tables)
        matrix = matrix_of.cost_matrix(problem, tables, int(waiting.max()))
        warm = Transport(matrix, problem.jobs.size, problem.free_slots(), waiting)
        warm.solve()
        plan = warm.assignment()
        results += [plan.job, plan.machine, plan.count, np.array([warm.pivots, warm.rounds])]
        np.multiply(matrix, rng.uniform(0.7, 1.3, matrix.shape), out=matrix, casting="unsafe")
        warm.reprice()
        warm.solve()
        plan = warm.assignment()
        results += [plan.job, plan.machine, plan.count, np.array([warm.pivots, warm.rounds])]
    return digest(*results)


def policies() -> str:
    results = []
    for seed in range(6):
        problem = random_problem(np.random.default_rng(seed), jobs=12, machines=60, most_tasks=20, limits=seed % 2 == 0)
        open_roots = np.where(np.arange(12) % 3 == 1, ANYWHERE, problem.jobs.root)
        for roots in (problem.jobs.root, gang.place(problem.with_roots(open_roots))[:, 0]):
            plan = exact.solve(problem.with_roots(roots))
            results += [roots, plan.assignment.job, plan.assignment.machine, plan.assignment.count]
    return digest(*results)


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
    "cost_rows_narrow": lambda: cost_rows(np.uint16),
    "cost_rows_wide": lambda: cost_rows(np.int32),
    "cheapest_machines": cheapest_machines,
    "pairs_narrow": lambda: pairs(np.uint16),
    "pairs_wide": lambda: pairs(np.int32),
    "transport": transport,
    "policies": policies,
    "annealing": annealing,
    "simulated_latency": simulated_latency,
}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_results_are_the_recorded_ones(name: str) -> None:
    assert KERNELS[name]() == RECORDED[name]
