"""Simulations of jobs with several roots: a task counts the nearest one."""

from dataclasses import replace

import numpy as np
import pytest

from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.simulate import World, simulate
from sinemora.labs.simulation.core.state import SimulationState
from sinemora.recommendations.placement.costs import table
from sinemora.recommendations.placement.policies.nomora import cost_matrix
from sinemora.recommendations.placement.problem import ANYWHERE, ProblemError
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
        several = cost_matrix(problem.with_roots(roots), tables)
        alone = []
        for column in roots.T:
            costs = cost_matrix(problem.with_roots(np.maximum(column, 0)), tables).astype(int)
            alone.append(np.where((column == ANYWHERE)[:, None], 1 << 30, costs))
        assert (several == np.min(alone, axis=0)).all()


@pytest.mark.parametrize(
    ("world", "scheme"), [(WORLD, Scheme.best), (SEVERAL, Scheme.nomora_preempt_beta0), (SEVERAL, Scheme.best)]
)
def test_every_root_takes_a_slot_and_every_task_is_somewhere(world: World, scheme: Scheme) -> None:
    seen = []

    def look(state: SimulationState) -> None:
        there = state.root[state.root != ANYWHERE]
        used = state.placed.on_machines(world.machines) + np.bincount(there, minlength=world.machines)
        assert used.max() <= world.slots
        roots = (state.root != ANYWHERE).sum(axis=1)
        assert set(np.unique(roots)) <= set(range(world.roots + 1))
        running = (roots > 0) & (state.left > roots)
        assert (roots[running] == np.minimum(world.roots, JOBS.size[running] - 1)).all()
        assert (state.placed.of_jobs(len(JOBS)) == np.where(roots > 0, np.maximum(state.left - roots, 0), 0)).all()
        come = JOBS.comes_s < state.step * world.step_s
        ended = np.bincount(JOBS.end_job[JOBS.end_s < state.step * world.step_s], minlength=len(JOBS))
        assert (state.left <= JOBS.size).all()
        assert (state.left[come] >= JOBS.size[come] - ended[come]).all()
        seen.append(int(state.left.sum()))

    simulate(world, scheme, JOBS, LATENCY, after_step=look)
    assert len(seen) == world.steps
    assert len(set(seen)) > 3


@pytest.mark.parametrize("scheme", [Scheme.nomora_preempt_beta0, Scheme.best])
def test_the_nearest_of_three_roots_is_nearer_than_the_only_one(scheme: Scheme) -> None:
    assert simulate(SEVERAL, scheme, JOBS, LATENCY).area > simulate(WORLD, scheme, JOBS, LATENCY).area


def test_roots_outside_the_machines_are_refused() -> None:
    problem = random_problem(np.random.default_rng(6), jobs=2)
    machines = len(problem.machines)
    outside = problem.with_roots(np.column_stack((problem.jobs.root, [0, machines])))
    with pytest.raises(ProblemError, match="not in") as error:
        outside.check()
    assert error.value.where == "jobs.further_roots[1, 0]"
