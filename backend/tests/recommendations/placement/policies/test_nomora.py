"""The published network, by hand, and with one node per job; plans and problems that all policies share."""

import dataclasses
import re

import numpy as np
import pytest

from sinemora.applications.curves.core.table import CurveTable
from sinemora.recommendations.placement.plan import moved_tasks, moves
from sinemora.recommendations.placement.policies import nomora
from sinemora.recommendations.placement.policies.explain import ExplainedArc, explain
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import (
    ANYWHERE,
    WAITING_COST,
    Assignment,
    Jobs,
    Machines,
    Problem,
    ProblemError,
)
from tests.recommendations.placement.problems import Dense, cheapest_flow, random_problem, running, true_costs
from tests.seeds import seeds

TASKS = Parameters()
JOBS = Parameters(aggregate=True)


def network_cost(problem: Problem, parameters: Parameters) -> int:
    plan = nomora.solve(problem, parameters)
    assert plan.certificate is not None
    assert plan.certificate.gap == 0
    assert (plan.assignment.on_machines(len(problem.machines)) <= problem.free_slots()).all()
    assert (plan.assignment.of_jobs(len(problem.jobs)) + plan.waiting == problem.jobs.size).all()
    return plan.certificate.primal


@pytest.mark.parametrize("seed", seeds(range(40)))
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_one_node_per_job_costs_the_same(seed: int, beta: float) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    current = running(problem, rng)
    problem = dataclasses.replace(
        problem,
        current=current,
        running_s=rng.integers(0, 60, len(current.count)),
        jobs=dataclasses.replace(problem.jobs, waited_s=rng.integers(0, 9, len(problem.jobs))),
    )
    options = Parameters(p_m=int(rng.integers(100, 160)), p_r=int(rng.integers(100, 400)), beta=beta, omega=2.0)
    literal = network_cost(problem, options)
    assert network_cost(problem, dataclasses.replace(options, aggregate=True)) == literal


@pytest.mark.parametrize("parameters", [TASKS, JOBS])
def test_preferring_everything_costs_what_the_cheapest_flow_does(parameters: Parameters) -> None:
    for seed in seeds(range(20)):
        problem = random_problem(np.random.default_rng(seed))
        everything = dataclasses.replace(parameters, p_m=1000, p_r=0)
        assert nomora.solve(problem, everything).cost == cheapest_flow(problem, true_costs(problem), WAITING_COST)


def small() -> Problem:
    """Two racks of two machines with one free slot each; performance is 1, then 0.8 from 10 µs on."""
    table = CurveTable(10.0, np.array([[1.0], [0.8], [0.5]]))
    ns = np.array([[0, 0, 20_000, 10_000]] * 4, np.int32)
    machines = Machines(np.array([1, 1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0]), ("a", "b", "c", "d"))
    return Problem(Jobs.of([2], [0], [0], ["web"]), machines, Dense(ns), table)


def test_prints_every_arc_of_a_small_example() -> None:
    one = dataclasses.replace(small(), jobs=Jobs.of([1], [0], [0], ["web"]))
    expected = """\
from     to     capacity  cost  flow
T web/1  U web         1  1001     0
T web/1  X             1   200     0
T web/1  M a           1   100     0
T web/1  M b           1   100     1
U web    S             1     0     0
X        R 0           1     0     0
X        R 1           2     0     0
R 0      M a           0     0     0
R 0      M b           1     0     0
R 1      M c           1     0     0
R 1      M d           1     0     0
M a      S             0     0     0
M b      S             1     0     1
M c      S             1     0     0
M d      S             1     0     0
"""
    arcs = [("from", "to", *ExplainedArc._fields[2:]), *explain(one, Parameters(p_r=99))]
    assert [re.split(" {2,}", line) for line in expected.splitlines()] == [[str(one) for one in arc] for arc in arcs]
    with_racks = explain(one)
    assert [(arc.head, arc.cost) for arc in with_racks if arc.tail == "T web/1"][2] == ("R 0", 100)


def test_a_task_that_finds_no_preferred_place_is_charged_the_worst_of_the_cluster() -> None:
    plan = nomora.solve(small(), TASKS)
    assert plan.certificate is not None
    assert plan.certificate.primal == 100 + 200


def test_without_beta_a_task_leaves_for_less_and_with_it_stays() -> None:
    problem = dataclasses.replace(
        small(), jobs=Jobs.of([1], [0], [0]), current=Assignment.of([(0, 3, 1)]), running_s=np.array([30])
    )
    assert nomora.solve(problem, TASKS).assignment.machine.tolist() == [1]
    assert nomora.solve(problem, Parameters(beta=1.0)).assignment.machine.tolist() == [3]


def test_tasks_of_jobs_wait_until_their_root_has_a_place() -> None:
    problem = dataclasses.replace(small(), jobs=Jobs.of([1, 1], [0, ANYWHERE], [0, 0]))
    plan = nomora.solve(problem, TASKS)
    assert plan.root.tolist() == [0, 1]
    assert plan.waiting.tolist() == [0, 0]
    full = dataclasses.replace(small(), jobs=Jobs.of([1] * 5, [0, 1, 2, 3, ANYWHERE], [0] * 5))
    assert nomora.solve(full, TASKS).waiting.tolist() == [1] * 5


def test_refuses_limits_it_does_not_know() -> None:
    with pytest.raises(ProblemError, match="published network"):
        nomora.solve(dataclasses.replace(small(), allowed={0: np.ones(4, np.bool_)}))


def test_latency_between_two_steps_goes_to_the_nearer() -> None:
    latency = np.array([[0, 4_999, 5_000, 14_999, 2**31 - 1, 1_000_000, 994_999]] * 7, np.int32)
    machines = Machines(np.ones(7, np.int64), np.zeros(7, np.int64), np.zeros(7, np.int64))
    problem = Problem(Jobs.of([1], [0], [0]), machines, Dense(latency), CurveTable(10.0, np.ones((101, 1))))
    costs = nomora.cost_matrix(problem, np.arange(100, 201, dtype=np.int32)[None, :])
    assert costs.tolist() == [[100, 100, 101, 101, 200, 200, 199]]


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
        nomora.solve(problem)
    assert (refused.value.code, refused.value.where) == (code, where)
