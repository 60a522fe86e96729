"""The simulator: its parts by hand, the trace's importer on a few lines, and the order of policies on a small world."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from sinemora.cli import main
from sinemora.recommender.placement import exact
from sinemora.recommender.placement.problem import Machines
from sinemora.recommender.simulation import arrival, network, trace
from sinemora.recommender.simulation.simulate import Scheme, World, simulate
from tests.recommender.placements import random_problem


def test_the_emptiest_machines_fill_first() -> None:
    taken = arrival.emptiest(np.array([5, 3, 1, 0]), 4, np.random.default_rng(1))
    assert taken.sum() == 4
    assert sorted((np.array([5, 3, 1, 0]) - taken).tolist()) == [0, 1, 2, 2]


def test_one_job_in_order_of_cost_is_exact_when_everything_is_preferred() -> None:
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), jobs=1)
        matrix = exact.cost_matrix(problem, exact.points.table(problem.curves)[problem.jobs.curve], 1001)
        rng = np.random.default_rng(seed)
        taken = arrival.cheapest_slots(matrix[0].astype(np.int64), problem.free_slots(), int(problem.jobs.size[0]), rng)
        missing = int(problem.jobs.size[0] - taken.sum())
        assert int((taken * matrix[0]).sum()) + 1001 * missing == exact.solve(problem).cost


def test_latency_is_the_same_both_ways_and_noise_stays_within_its_width() -> None:
    machines = Machines.regular(200, 2)
    base = (network.bases(np.random.default_rng(1)) * 1000).astype(np.int64)
    true = network.ClusterLatency(machines, base, 3).rows(np.arange(200))
    noisy = network.ClusterLatency(machines, base, 3, noise=0.15, draw=4).rows(np.arange(200))
    assert (true == true.T).all()
    assert (noisy == noisy.T).all()
    off = ~np.eye(200, dtype=bool)
    assert 0.14 < np.abs(noisy[off] / true[off] - 1).max() <= 0.1501
    assert set(true[0, 1:48].tolist()) <= set(base[0].tolist())


def write_trace(folder: Path, lines: list[str]) -> Path:
    (folder / "task_events").mkdir()
    with gzip.open(folder / "task_events" / "part-00000-of-00500.csv.gz", "wt") as part:
        part.write("\n".join(lines) + "\n")
    return folder


def test_the_trace_is_read(tmp_path: Path) -> None:
    rest = "user,0,0,0.1,0.1,0,0"
    lines = [f"0,,7,{task},5,{kind},{rest}" for task in range(3) for kind in (0, 1)]
    lines += [f"0,,8,0,5,1,{rest}", f"601000000,,9,0,,0,{rest}", f"602000000,,9,1,,0,{rest}"]
    lines += [f"700000000,,9,1,5,2,{rest}", f"701000000,,9,1,5,1,{rest}", f"800000000,,7,0,5,4,{rest}"]
    folder = write_trace(tmp_path, lines)
    assert trace.sizes_at_start(folder).tolist() == [3]
    found = {job.job: job for job in trace.jobs(folder, 1_000)}
    assert sorted(found) == [7, 9]
    assert found[7].ends_s == {0: 200.0, 1: np.inf, 2: np.inf}
    assert (found[9].submitted_s, found[9].ends_s) == (1.0, {0: np.inf, 1: np.inf})


def test_a_trace_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(trace.TraceError, match=r"no task_events/part-\*\.csv\.gz"):
        trace.sizes_at_start(tmp_path)
    with pytest.raises(trace.TraceError, match=r"part-00000-of-00500\.csv\.gz, line 2"):
        trace.sizes_at_start(write_trace(tmp_path, ["0,,7,0,5,1,u", "what is this"]))


def test_policies_come_in_their_order_on_a_small_world() -> None:
    world = World(machines=192, jobs=25, intervals=4)
    area = {scheme: simulate(world, scheme).area for scheme in Scheme}
    assert area[Scheme.random] < area[Scheme.nomora_105_110] < area[Scheme.exact]
    assert area[Scheme.nomora_105_110] < area[Scheme.never_move]
    # The objective is slowdown over tasks and the area a mean over jobs: moving freely may lose a little of the latter.
    assert area[Scheme.exact] == pytest.approx(area[Scheme.never_move], abs=1.0)
    assert area[Scheme.gang_budget] > area[Scheme.nomora_preempt_beta0]
    assert area[Scheme.gang_budget] <= 100
    again = simulate(world, Scheme.exact)
    assert again.area == area[Scheme.exact]


def test_the_command_writes_a_line_for_each_policy(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--machines", "96", "--jobs", "8", "--intervals", "2"]
    assert main(["simulate", "--policy", "random", "--policy", "gang_budget", *small]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["policy"] for line in lines] == ["random", "gang_budget"]
    assert all(len(line["scores"]) == 101 and line["scores"] == sorted(line["scores"]) for line in lines)
    assert main(["simulate", "--jobs", "0"]) == 2
