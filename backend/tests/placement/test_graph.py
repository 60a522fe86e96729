"""Graphs of roles and packing, against everything there is to choose from."""

import dataclasses
import itertools

import numpy as np
import pytest

from sinemora.placement import exact, graph, vector_packing
from sinemora.placement.graph import Aim, Graph
from sinemora.placement.problem import ProblemError, Resources
from tests.placement.problems import random_problem, true_costs


def random_graph(seed: int, roles: int, edges: list[tuple[int, int]], vms: int) -> Graph:
    rng = np.random.default_rng(seed)
    costs = rng.integers(100, 1000, (vms, vms)).astype(np.int32)
    costs = np.maximum(costs, costs.T)
    ends = np.array(edges)
    return Graph(roles, ends[:, 0], ends[:, 1], rng.integers(1, 4, len(edges)), costs)


TREE = [(0, 1), (0, 2), (1, 3), (1, 4)]
RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


def best_of_all(asked: Graph, aim: Aim) -> int:
    ways = itertools.permutations(range(len(asked.costs)), asked.roles)
    return min(graph.value(asked, np.array(way), aim) for way in ways)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("edges", "aim"), [(TREE, a) for a in Aim] + [(RING, Aim.sum), (RING, Aim.longest_link)])
def test_small_graphs_are_solved(seed: int, edges: list[tuple[int, int]], aim: Aim) -> None:
    asked = random_graph(seed, 5, edges, 6)
    best = best_of_all(asked, aim)
    plan = graph.solve(asked, aim, proposals=40_000, tighten_s=5.0 if aim is Aim.longest_link else 0.0)
    assert len(set(plan.vm.tolist())) == 5
    assert plan.cost == graph.value(asked, plan.vm, aim) == best
    assert plan.bound <= best
    if aim is Aim.longest_link:
        assert plan.proven


@pytest.mark.parametrize("seed", range(10))
def test_stars_are_exact(seed: int) -> None:
    asked = random_graph(seed, 5, [(0, 1), (2, 0), (0, 3), (4, 0)], 6)
    plan = graph.solve(asked)
    assert plan.proven
    assert plan.cost == best_of_all(asked, Aim.sum)


def test_the_same_question_has_the_same_answer() -> None:
    asked = random_graph(1, 30, [(a, (a * 7 + 1) % 30) for a in range(30) if a != (a * 7 + 1) % 30], 35)
    first, second = graph.solve(asked, proposals=20_000), graph.solve(asked, proposals=20_000)
    assert first.vm.tolist() == second.vm.tolist()
    assert not first.proven


@pytest.mark.parametrize(
    ("edges", "vms", "aim", "code"),
    [
        ([(0, 5)], 6, Aim.sum, "unknown_role"),
        ([(1, 1)], 6, Aim.sum, "loop"),
        (TREE, 4, Aim.sum, "too_few_vms"),
        (RING, 6, Aim.longest_path, "cyclic"),
    ],
)
def test_graphs_that_make_no_sense_are_refused(edges: list[tuple[int, int]], vms: int, aim: Aim, code: str) -> None:
    with pytest.raises(ProblemError) as refused:
        graph.solve(random_graph(0, 5, edges, vms), aim)
    assert refused.value.code == code


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
