"""Simulations of jobs with several roots: a task counts the nearest one."""

from dataclasses import replace

import numpy as np
import pytest

from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.simulate import simulate
from sinemora.labs.simulation.core.state import SimulationState
from sinemora.recommendations.placement.costs import CostTable, table
from sinemora.recommendations.placement.matrix import cost_matrix
from sinemora.recommendations.placement.policies import gang, nomora
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ANYWHERE, Ints, Problem, ProblemError
from tests.labs.simulation.test_simulate import JOBS, LATENCY, WORLD
from tests.recommendations.placement.problems import random_problem

SEVERAL = replace(WORLD, roots=3)


def test_a_task_costs_as_much_as_from_its_nearest_root() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = random_problem(rng, jobs=3)
        roots = rng.integers(0, len(problem.machines), (3, 3))
        roots[0, 2] = roots[1, 1] = roots[1, 2] = ANYWHERE
        tables = table(problem.curves)[problem.jobs.curve]
        several = cost_matrix(problem.with_roots(roots), tables, 1001)
        alone = []
        for column in roots.T:
            costs = cost_matrix(problem.with_roots(np.maximum(column, 0)), tables, 1001).astype(int)
            alone.append(np.where((column == ANYWHERE)[:, None], 1 << 30, costs))
        assert (several == np.min(alone, axis=0)).all()


def test_each_further_root_goes_where_it_helps_most() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        problem = random_problem(rng, jobs=1)
        problem = replace(problem, jobs=replace(problem.jobs, root=np.array([ANYWHERE]), size=np.array([3])))
        roots = gang.place(problem, count=np.array([2]))
        assert roots.shape == (1, 2)
        costs = table(problem.curves)[problem.jobs.curve]
        first = gang.place(problem)
        assert (first[:, 0] == roots[:, 0]).all()
        reached = nearest_three(problem, roots, costs)
        for machine in np.flatnonzero(problem.machines.slots - np.bincount(first[0], minlength=len(problem.machines))):
            assert reached <= nearest_three(problem, np.array([[first[0, 0], machine]]), costs)


def nearest_three(problem: Problem, roots: Ints, costs: CostTable) -> int:
    """Return the cost of three tasks in the cheapest slots that the roots leave; a missing slot costs much."""
    free = problem.machines.slots - np.bincount(roots[0], minlength=len(problem.machines))
    slots = np.sort(np.repeat(cost_matrix(problem.with_roots(roots), costs, 1001)[0].astype(int), np.maximum(free, 0)))
    return int(slots[:3].sum()) + 100_000 * max(0, 3 - len(slots))


@pytest.mark.parametrize("scheme", [Scheme.nomora_preempt_beta0, Scheme.gang_budget])
def test_every_root_takes_a_slot_and_every_task_is_somewhere(scheme: Scheme) -> None:
    seen = []

    def look(state: SimulationState) -> None:
        there = state.root[state.root != ANYWHERE]
        used = state.placed.on_machines(WORLD.machines) + np.bincount(there, minlength=WORLD.machines)
        assert used.max() <= WORLD.slots
        roots = (state.root != ANYWHERE).sum(axis=1)
        assert set(np.unique(roots)) <= {0, 1, 2, 3}
        running = (roots > 0) & (state.left > roots)
        assert (roots[running] == np.minimum(3, JOBS.size[running] - 1)).all()
        assert (state.placed.of_jobs(len(JOBS)) == np.where(roots > 0, np.maximum(state.left - roots, 0), 0)).all()
        seen.append(len(there))

    result = simulate(SEVERAL, scheme, JOBS, LATENCY, after_step=look)
    assert len(seen) == WORLD.steps
    # The nearest of three roots is nearer than the only one.
    assert result.area > simulate(WORLD, scheme, JOBS, LATENCY).area


def test_the_published_network_of_a_job_with_several_roots_is_solved_to_its_optimum() -> None:
    rng = np.random.default_rng(5)
    problem = random_problem(rng, jobs=4)
    problem = problem.with_roots(np.column_stack((problem.jobs.root, np.full((4, 2), ANYWHERE))))
    same = nomora.solve(problem, Parameters(aggregate=True)).cost
    assert same == nomora.solve(problem.with_roots(problem.jobs.root[:, None]), Parameters(aggregate=True)).cost


def test_roots_outside_the_machines_are_refused() -> None:
    problem = random_problem(np.random.default_rng(6), jobs=2)
    machines = len(problem.machines)
    outside = problem.with_roots(np.column_stack((problem.jobs.root, [0, machines])))
    with pytest.raises(ProblemError, match="not in") as error:
        outside.check()
    assert error.value.where == "jobs.further_roots[1, 0]"
