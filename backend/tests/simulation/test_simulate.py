"""The simulator: its parts by hand, the trace's importer on a few lines, and the order of policies on a small world."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinemora.cli import main
from sinemora.placement.policies import exact
from sinemora.placement.problem import ANYWHERE, Machines
from sinemora.simulation.core import arrival, network, schemes, series, trace
from sinemora.simulation.core.schemes import Scheme
from sinemora.simulation.core.simulate import World, simulate
from sinemora.simulation.core.state import State, StateError
from sinemora.simulation.core.workload import Workload
from tests.placement.problems import random_problem

WORLD = World(machines=192, seconds=1_200, round_s=300)
DAY = Workload.drawn(WORLD.machines, WORLD.slots, WORLD.seconds * 50, np.random.default_rng(1))
# Most of a day in twenty minutes.
JOBS = replace(DAY, comes_s=DAY.comes_s / 50, end_s=DAY.end_s / 50)
LATENCY = series.drawn(series.PUBLISHED, np.random.default_rng(1), 4_096)


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
    fields = "user,0,0,0.1,0.1,0,0"
    lines = [f"0,,7,{task},5,{kind},{fields}" for task in range(3) for kind in (0, 1)]
    lines += [f"0,,8,0,5,1,{fields}", f"601000000,,9,0,,0,{fields}", f"602000000,,9,1,,0,{fields}"]
    lines += [f"700000000,,9,1,5,2,{fields}", f"701000000,,9,1,5,1,{fields}", f"800000000,,7,0,5,4,{fields}"]
    folder = write_trace(tmp_path, lines)
    assert trace.sizes_at_start(folder).tolist() == [3]
    by_number = {job.job: job for job in trace.jobs(folder, 1_000)}
    assert sorted(by_number) == [7, 9]
    assert by_number[7].ends_s == {0: 200.0, 1: np.inf, 2: np.inf}
    assert (by_number[9].submitted_s, by_number[9].ends_s) == (1.0, {0: np.inf, 1: np.inf})


def test_an_invalid_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(trace.TraceError, match=r"no task_events/part-\*\.csv\.gz"):
        trace.sizes_at_start(tmp_path)
    with pytest.raises(trace.TraceError, match=r"part-00000-of-00500\.csv\.gz, line 2"):
        trace.sizes_at_start(write_trace(tmp_path, ["0,,7,0,5,1,u", "what is this"]))


def test_tasks_without_an_end_take_that_of_their_job(tmp_path: Path) -> None:
    rest = "user,0,0,0.1,0.1,0,0"
    write_trace(tmp_path, [f"601000000,,9,{task},5,1,{rest}" for task in range(2)])
    (tmp_path / "job_events").mkdir()
    with gzip.open(tmp_path / "job_events" / "part-00000-of-00500.csv.gz", "wt") as part:
        part.write("601000000,,9,0,u,0,n,l\n700000000,,9,4,u,0,n,l\n")
    assert [job.ends_s for job in trace.jobs(tmp_path, 1_000)] == [{0: 100.0, 1: 100.0}]
    assert [job.ends_s for job in trace.jobs(tmp_path, 50)] == [{0: np.inf, 1: np.inf}]


def test_drawn_series_have_the_published_medians_and_tails() -> None:
    drawn = series.drawn(series.PUBLISHED, np.random.default_rng(1)).delay_ns / 1e3
    for kind, name in enumerate(series.CLASSES):
        for path, (p50, p99, p999, largest) in enumerate(series.PUBLISHED[name]):
            result = np.quantile(drawn[kind, path], (0.5, 0.99, 0.999, 1.0))
            assert result == pytest.approx([p50, p99, p999, largest], rel=0.1)
            # Seconds that follow one another are alike, those far apart are not.
            ranks = drawn[kind, path].argsort().argsort()
            assert np.corrcoef(ranks[1:], ranks[:-1])[0, 1] > 0.3
            assert abs(np.corrcoef(ranks[4_000:], ranks[:-4_000])[0, 1]) < 0.25


def test_what_is_measured_is_the_mean_of_the_seconds_before() -> None:
    values = np.zeros((3, 1, 100), np.int32)
    values[:, :, 50] = 1_000
    seen = network.Series(values).averaged(10).delay_ns[0, 0]
    assert np.flatnonzero(seen).tolist() == list(range(51, 61))
    assert set(seen[51:61].tolist()) == {100}


def test_rows_and_single_pairs_of_traced_latency_agree() -> None:
    machines = Machines.regular(300, 2, rack_size=10, pod_racks=4)
    result = network.TracedLatency(machines, LATENCY, 20_000, 3, noise=0.1, draw=5)
    rows = result.rows(np.arange(300))
    one, other = np.divmod(np.arange(300 * 300), 300)
    assert (result.pairs(one, other) == rows.ravel()).all()
    assert (rows == rows.T).all()
    true = network.TracedLatency(machines, LATENCY, 20_000, 3).rows(np.arange(300))
    assert np.abs(rows / true - 1).max() <= 0.101
    # A rack is nearer than a pod, and both have as many values as there are pairs.
    assert np.median(true[0, 1:10]) < np.median(true[0, 10:40])
    assert len(np.unique(true[0, 40:])) > 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trace,messages_per_second,p50_us\nGCE-1,1,9\n", "line 2.*p99_us"),
        ("trace,messages_per_second,p50_us,p99_us,p999_us,max_us\nGCE-1,1,9,8,10,11\n", "line 2.*must ascend"),
        ("trace,messages_per_second,p50_us,p99_us,p999_us,max_us\nGCE-1,1,7,8,10,11\n", "of Azure, EC2"),
    ],
)
def test_statistics_that_are_none_are_told(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(series.SeriesError, match=message):
        series.read_statistics(path)


def test_measured_traces_are_read(tmp_path: Path) -> None:
    for name, value in (("rack-1", 80), ("rack-2", 90), ("pod-1", 300), ("cluster-1", 250)):
        (tmp_path / f"{name}.csv").write_text(f"{value}\n" * 60)
    result = series.read_traces(tmp_path).delay_ns
    assert result.shape == (3, 2, 60)
    assert result[:, :, 0].tolist() == [[80_000, 90_000], [300_000, 300_000], [250_000, 250_000]]
    (tmp_path / "pod-1.csv").write_text("300\n" * 60 + "slow\n")
    with pytest.raises(series.SeriesError, match=r"pod-1\.csv, line 61: 'slow'"):
        series.read_traces(tmp_path)


def test_policies_come_in_their_order_on_a_small_world() -> None:
    result = {scheme: simulate(WORLD, scheme, JOBS, LATENCY) for scheme in Scheme}
    area = {scheme: outcome.area for scheme, outcome in result.items()}
    assert area[Scheme.random] < area[Scheme.nomora_105_110] < area[Scheme.never_move] < area[Scheme.gang]
    assert area[Scheme.nomora_105_110] < area[Scheme.nomora_preempt_beta0]
    assert area[Scheme.gang_budget] > area[Scheme.nomora_preempt_beta0]
    assert all(0 < value <= 100 for value in area.values())
    moved = {
        scheme: float(outcome.moved_share.mean()) for scheme, outcome in result.items() if len(outcome.moved_share)
    }
    assert set(moved) == schemes.MOVING
    assert moved[Scheme.gang_budget] < moved[Scheme.exact] / 5


def test_every_task_is_somewhere_and_no_machine_has_more_than_its_slots() -> None:
    seen = []

    def look(state: State) -> None:
        there = state.root != ANYWHERE
        used = state.placed.on_machines(WORLD.machines) + np.bincount(state.root[there], minlength=WORLD.machines)
        assert used.max() <= WORLD.slots
        assert (state.placed.of_jobs(len(JOBS)) == np.where(there, state.left - 1, 0)).all()
        come = JOBS.comes_s < state.step * WORLD.step_s
        ended = np.bincount(JOBS.end_job[JOBS.end_s < state.step * WORLD.step_s], minlength=len(JOBS))
        assert (state.left <= JOBS.size).all()
        assert (state.left[come] >= JOBS.size[come] - ended[come]).all()
        seen.append(int(state.left.sum()))

    simulate(WORLD, Scheme.budget, JOBS, LATENCY, after_step=look)
    assert len(seen) == WORLD.steps
    assert len(set(seen)) > 3


def test_a_full_cluster_lets_wait_and_says_how_long() -> None:
    size = np.array([9, 9])
    ends = np.repeat([300.0, np.inf], 9)
    jobs = Workload(np.array([0.0, 0.0]), size, np.array([0, 0]), np.zeros(9, np.int64), ends[:9])
    result = simulate(World(machines=2, slots=6, seconds=600), Scheme.never_move, jobs, LATENCY)
    # Twelve slots: the second job gets three at once and the rest when the first has ended.
    assert sorted(round(at) for at in result.latency_s) == [0, 0, 300]


@pytest.mark.parametrize("scheme", [Scheme.random, Scheme.nomora_preempt, Scheme.gang_budget])
def test_a_stopped_simulation_goes_on_as_if_it_had_not_been(scheme: Scheme, tmp_path: Path) -> None:
    path, of = tmp_path / "state.npz", {"seed": 1}

    def keep(state: State) -> None:
        if state.step == 7:
            state.write(path, of)

    whole = simulate(WORLD, scheme, JOBS, LATENCY, after_step=keep)
    rest = simulate(WORLD, scheme, JOBS, LATENCY, state=State.read(path, of))
    assert (rest.scores == whole.scores).all()
    assert (rest.moved_share == whole.moved_share).all()
    assert len(rest.solver_s) == len(whole.solver_s)
    with pytest.raises(StateError, match="differs in seed"):
        State.read(path, {"seed": 2})
    path.write_bytes(b"x")
    with pytest.raises(StateError, match="not a simulation state"):
        State.read(path, of)


def test_the_command_keeps_states_and_writes_figures_picture_and_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = ["simulate", "--machines", "96", "--hours", "0.2", "--kept", str(tmp_path / "kept")]
    both = [*small, "--policy", "random", "--policy", "gang_budget", "--report", str(tmp_path)]
    assert main(both) == 0
    first = capsys.readouterr().out
    lines = [json.loads(line) for line in first.splitlines()]
    assert [line["policy"] for line in lines] == ["random", "gang_budget"]
    assert all(len(line["scores"]) == 101 and line["scores"] == sorted(line["scores"]) for line in lines)
    # All of it has been done: it is only told again.
    assert main(both) == 0
    assert capsys.readouterr().out == first
    whole = json.loads((tmp_path / "simulation.json").read_text())
    assert (whole["policies"], whole["world"]["machines"], whole["world"]["trace"]) == (lines, 96, None)
    assert (tmp_path / "scores.svg").read_text().count("<polyline") == 2
    assert "96 machines" in (tmp_path / "report.html").read_text()
    assert main([*small, "--policy", "random", "--seed", "2"]) == 1
    assert "differs in input, seed" in capsys.readouterr().err
    assert main(["simulate", "--hours", "0"]) == 2
    assert main(["simulate", "--trace", str(tmp_path)]) == 1
