"""The exact policy against other solvers, and what a problem refuses."""

import dataclasses

import numpy as np
import pytest

from sinemora.applications.curves.core.table import CurveTable
from sinemora.recommendations.placement import costs
from sinemora.recommendations.placement import matrix as matrix_of
from sinemora.recommendations.placement.plan import moved_tasks, moves
from sinemora.recommendations.placement.policies import exact
from sinemora.recommendations.placement.problem import Assignment, Jobs, Machines, Problem, ProblemError
from sinemora.recommendations.placement.solvers.cost_kernels import CLOSED, cheapest, fill
from sinemora.recommendations.placement.solvers.transport import Transport
from tests.recommendations.placement.problems import Dense, other_solver, random_problem, true_costs
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(range(60)))
def test_costs_what_another_solver_finds(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), limits=seed % 3 == 0)
    plan = exact.solve(problem)
    assert plan.cost == other_solver(problem)
    assert plan.certificate is not None
    assert plan.certificate.primal == plan.certificate.dual == plan.cost
    assert (plan.assignment.on_machines(len(problem.machines)) <= problem.free_slots()).all()
    assert (plan.assignment.of_jobs(len(problem.jobs)) + plan.waiting == problem.jobs.size).all()


def test_warm_plans_cost_what_cold_ones_do() -> None:
    rng = np.random.default_rng(5)
    problem = random_problem(rng, jobs=12, machines=40)
    tables = costs.table(problem.curves)[problem.jobs.curve]
    waiting = matrix_of.waiting_costs(problem, tables)
    matrix = matrix_of.cost_matrix(problem, tables, int(waiting.max()))
    warm = Transport(matrix, problem.jobs.size, problem.free_slots(), waiting)
    warm.solve()
    for _ in range(20):
        drifted = Dense(np.rint(problem.latency.ns * rng.uniform(0.7, 1.3, (40, 40))).astype(np.int32))
        problem = dataclasses.replace(problem, latency=drifted)
        matrix_of.fill_costs(problem, tables, matrix)
        warm.reprice()
        warm.solve()
        certificate = warm.certificate()
        assert certificate.gap == 0
        assert certificate.primal == exact.solve(problem).cost


def test_jobs_arrive_at_a_solved_network() -> None:
    rng = np.random.default_rng(6)
    problem = random_problem(rng, jobs=15, machines=40)
    tables = costs.table(problem.curves)[problem.jobs.curve]
    waiting = matrix_of.waiting_costs(problem, tables)
    matrix = matrix_of.cost_matrix(problem, tables, int(waiting.max()))
    free = problem.free_slots()
    warm = Transport(matrix[:5], problem.jobs.size[:5], free, waiting[:5], room_for_jobs=15)
    warm.solve()
    for at in range(5, 15):
        warm.arrive(matrix[: at + 1], problem.jobs.size[at : at + 1], waiting[at : at + 1])
        warm.solve()
        assert warm.certificate().gap == 0
    assert warm.certificate().primal == exact.solve(problem).cost


def test_pinned_tasks_stay_and_are_paid() -> None:
    rng = np.random.default_rng(7)
    problem = random_problem(rng, jobs=4, machines=12)
    free = exact.solve(problem)
    entries = dataclasses.replace(free.assignment, machine=free.assignment.machine[::-1].copy())
    fits = entries.merged().on_machines(12) <= problem.free_slots()
    keep = fits[entries.machine]
    current = Assignment(entries.job[keep], entries.machine[keep], entries.count[keep]).merged()
    held = dataclasses.replace(problem, current=current, pinned=current.count)
    plan = exact.solve(held)
    went = plan.assignment
    placed = {(j, m): c for j, m, c in zip(went.job, went.machine, went.count, strict=True)}
    for job, machine, count in zip(current.job, current.machine, current.count, strict=True):
        assert placed[job, machine] >= count
    matrix = true_costs(held)
    value = sum(int(matrix[j, m]) * int(c) for (j, m), c in placed.items())
    assert plan.cost == value + int((plan.waiting * matrix_of.waiting_costs(held, matrix.astype(np.int32))).sum())
    assert plan.cost >= free.cost
    assert moved_tasks(current, plan.assignment) == 0


def test_latency_between_two_steps_goes_to_the_nearer() -> None:
    table = np.arange(100, 201, dtype=np.int32)[None, :]
    out = np.zeros((1, 7), np.int32)
    fill(np.array([[0, 4_999, 5_000, 14_999, 999_999_999, 1_000_000, 994_999]], np.int32), 10_000, table, 0, out)
    assert out.tolist() == [[100, 100, 101, 101, 200, 200, 199]]


@pytest.mark.parametrize("seed", seeds(range(20)))
def test_the_cheapest_machines_are_those_that_sorting_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machines, requested = 50, int(rng.integers(1, 60))
    row = rng.integers(100, 100 + int(rng.choice([3, 40, 60_000])), machines).astype(np.uint16)
    price = np.where(rng.random(machines) < 0.2, CLOSED, -rng.integers(0, 30, machines)).astype(np.int32)
    out = np.empty(machines, np.int32)
    count = cheapest(row, price, requested, int(rng.integers(0, machines)), out)
    after = np.sort((row.astype(np.int64) - price)[price != CLOSED])
    assert sorted(set(out[:count].tolist())) == sorted(out[:count].tolist())
    assert np.array_equal(np.sort(row[out[:count]].astype(np.int64) - price[out[:count]]), after[:requested])


def test_jobs_that_arrive_when_little_is_remembered_find_their_optimum() -> None:
    rng = np.random.default_rng(8)
    problem = random_problem(rng, jobs=30, machines=300)
    tables = costs.table(problem.curves)[problem.jobs.curve]
    waiting = matrix_of.waiting_costs(problem, tables)
    matrix = matrix_of.cost_matrix(problem, tables, int(waiting.max()))
    warm = Transport(matrix[:20], problem.jobs.size[:20], problem.free_slots(), waiting[:20], room_for_jobs=30)
    warm.solve()
    remembered = warm.columns
    warm.arrive(matrix, problem.jobs.size[20:], waiting[20:])
    assert warm.columns < remembered + 10 * 300  # pairs far from being used are forgotten, few are begun with
    warm.solve()
    assert warm.certificate().gap == 0
    assert warm.certificate().primal == exact.solve(problem).cost


def test_moves_pair_what_leaves_with_what_arrives() -> None:
    before = Assignment.of([(0, 1, 3), (0, 2, 1), (1, 5, 2)])
    after = Assignment.of([(0, 1, 1), (0, 3, 3), (1, 5, 1), (2, 9, 4)])
    pairs = [(m.job, m.source, m.target, m.count) for m in moves(before, after)]
    assert pairs == [(0, 1, 3, 2), (0, 2, 3, 1)]
    assert moved_tasks(before, after) == 4  # the task of job 1 that stops has left its machine too


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"size": [3, -1]}, "out_of_range", "jobs.size[1]"),
        ({"root": [0, 9]}, "out_of_range", "jobs.root[1]"),
        ({"root": [0, -1]}, "root_undecided", "b"),
        ({"curve": [0, 1]}, "out_of_range", "jobs.curve[1]"),
        ({"current": [(0, 1, 4)]}, "too_many_tasks", "current, a"),
        ({"current": [(0, 0, 2), (1, 0, 2)]}, "machine_overfull", "x"),
    ],
)
def test_refuses_what_makes_no_sense(change: dict[str, list[int]], code: str, where: str) -> None:
    current = Assignment.of(change.pop("current", []))  # type: ignore[arg-type]
    fields = {"size": [3, 2], "root": [0, 1], "curve": [0, 0]} | change
    curves = CurveTable(10.0, np.ones((3, 1)))
    machines = Machines(np.full(4, 4), np.zeros(4, np.int64), np.zeros(4, np.int64), ("x", "y", "z", "w"))
    problem = Problem(Jobs.of(**fields, names=("a", "b")), machines, Dense(np.zeros((4, 4), np.int32)), curves, current)
    with pytest.raises(ProblemError) as refused:
        exact.solve(problem)
    assert (refused.value.code, refused.value.where) == (code, where)
