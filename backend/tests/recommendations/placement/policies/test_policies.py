"""Plans and problems that all policies share: what fits, what a problem refuses, and moves between two plans."""

import numpy as np
import pytest

from sinemora.applications.curves.core.table import CurveTable
from sinemora.recommendations.placement.plan import moved_tasks, moves
from sinemora.recommendations.placement.policies import nomora
from sinemora.recommendations.placement.problem import Assignment, Jobs, Machines, Problem, ProblemError
from tests.recommendations.placement.problems import Dense


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
