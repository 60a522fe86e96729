"""The simulator: its parts by hand, the trace's importer on a few lines, and the order of policies on a small world."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinemora.labs.simulation.core import arrival, network, schemes, series, trace
from sinemora.labs.simulation.core.delays import RoundTrip
from sinemora.labs.simulation.core.inputs import drawn_jobs
from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.simulate import World, simulate
from sinemora.labs.simulation.core.state import SimulationState, SimulationStateError
from sinemora.labs.simulation.core.workload import Workload, curves
from sinemora.recommendations.placement.policies import nomora
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Jobs, Machines, Problem
from tests.recommendations.placement.problems import random_problem, true_costs
from tests.seeds import seeds

WORLD = World(machines=192, seconds=1_200, round_s=300)
DAY = Workload.drawn(WORLD.machines, WORLD.slots, WORLD.seconds * 50, np.random.default_rng(1))
# Most of a day in twenty minutes.
JOBS = replace(DAY, comes_s=DAY.comes_s / 50, end_s=DAY.end_s / 50)
LATENCY = series.drawn(series.PUBLISHED, np.random.default_rng(1), WORLD.covered_s, 600).round_trips()


def test_the_emptiest_machines_fill_first() -> None:
    taken = arrival.emptiest(np.array([5, 3, 1, 0]), 4, np.random.default_rng(1))
    assert taken.sum() == 4
    assert sorted((np.array([5, 3, 1, 0]) - taken).tolist()) == [0, 1, 2, 2]


def several_jobs(rng: np.random.Generator) -> tuple[Problem, Parameters]:
    """Return arriving jobs with fixed roots that compete for slots, and thresholds that leave them few machines."""
    problem = random_problem(rng, jobs=4)
    return problem, Parameters(p_m=int(rng.integers(100, 160)), p_r=int(rng.integers(100, 400)), aggregate=True)


def test_jobs_of_a_round_are_placed_by_the_published_network_together() -> None:
    better = 0
    for seed in seeds(range(40)):
        problem, parameters = several_jobs(np.random.default_rng(seed))
        root, placed = schemes.arrive(problem, Scheme.nomora, np.random.default_rng(seed), parameters)
        assert (root == problem.jobs.roots).all()
        network_cost = literal_cost(problem, parameters)
        assert cost_in_network(problem, parameters, placed) == network_cost
        one_by_one = Assignment.nothing()
        for job in range(len(problem.jobs)):
            used = one_by_one.on_machines(len(problem.machines))
            left = replace(problem.machines, slots=problem.machines.slots - used)
            size = np.where(np.arange(len(problem.jobs)) == job, problem.jobs.size, 0)
            alone = replace(problem, machines=left, jobs=replace(problem.jobs, size=size))
            one_by_one = one_by_one.plus(nomora.solve(alone, parameters).assignment)
        better += cost_in_network(problem, parameters, one_by_one) > network_cost
    # Job after job, as a greedy policy does, is worse in some of these.
    assert better > 0


def literal_cost(problem: Problem, parameters: Parameters) -> int:
    """Return the optimum of the published network with one node per task."""
    certificate = nomora.solve(problem, replace(parameters, aggregate=False)).certificate
    assert certificate is not None
    return certificate.primal


def cost_in_network(problem: Problem, parameters: Parameters, placed: Assignment) -> int:
    """Return the cost of a placement on the cheapest arcs of the published network, waiting tasks included."""
    costs = true_costs(problem)
    rack = problem.machines.rack
    worst = np.stack([costs[:, rack == rack[machine]].max(axis=1) for machine in range(len(rack))], axis=1)
    arc = np.broadcast_to(worst.max(axis=1, keepdims=True), costs.shape)
    arc = np.where(worst <= parameters.p_r, np.minimum(arc, worst), arc)
    arc = np.where(costs <= parameters.p_m, np.minimum(arc, costs), arc)
    waiting = int(problem.jobs.size.sum() - placed.count.sum())
    return int((arc[placed.job, placed.machine] * placed.count).sum()) + waiting * parameters.gamma


def test_slots_of_equal_cost_are_taken_at_random() -> None:
    """The solver's own order would leave the last racks empty, and later tasks would find room beside their root."""
    machines = Machines.regular(960, 4)
    latency = network.ClusterLatency(machines, np.full((3, 6), 900_000), 1)
    jobs = Jobs.of([1_000], [ANYWHERE], [0])
    problem = Problem(jobs, machines, latency, curves())
    _, placed = schemes.arrive(problem, Scheme.nomora_105_110, np.random.default_rng(1))
    by_rack = np.bincount(machines.rack[placed.machine], placed.count, 20)
    assert by_rack.max() <= 48 * 4 * 3 / 4


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
    few = np.random.default_rng(2).integers(0, 200, 90)
    assert (network.ClusterLatency(machines, base, 3, noise=0.15, draw=4).rows(few) == noisy[few]).all()


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
    by_number = {job.job: job for job in trace.jobs(folder, 1_000)}
    assert sorted(by_number) == [7, 9]
    assert by_number[7].ends_s == {0: 200.0, 1: np.inf, 2: np.inf}
    assert (by_number[9].submitted_s, by_number[9].ends_s) == (1.0, {0: np.inf, 1: np.inf})


def test_an_invalid_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(trace.JobTraceError, match=r"no task_events/part-\*\.csv\.gz"):
        list(trace.events(tmp_path))
    with pytest.raises(trace.JobTraceError, match=r"part-00000-of-00500\.csv\.gz, line 2"):
        list(trace.events(write_trace(tmp_path, ["0,,7,0,5,1,u", "what is this"])))


def test_tasks_without_an_end_take_that_of_their_job(tmp_path: Path) -> None:
    rest = "user,0,0,0.1,0.1,0,0"
    write_trace(tmp_path, [f"601000000,,9,{task},5,1,{rest}" for task in range(2)])
    (tmp_path / "job_events").mkdir()
    with gzip.open(tmp_path / "job_events" / "part-00000-of-00500.csv.gz", "wt") as part:
        part.write("601000000,,9,0,u,0,n,l\n700000000,,9,4,u,0,n,l\n")
    assert [job.ends_s for job in trace.jobs(tmp_path, 1_000)] == [{0: 100.0, 1: 100.0}]
    assert [job.ends_s for job in trace.jobs(tmp_path, 50)] == [{0: np.inf, 1: np.inf}]


def test_drawn_traces_have_the_published_medians_and_tails() -> None:
    drawn = series.drawn(series.PUBLISHED, np.random.default_rng(1), 6_000).delay_ns / 1e3
    for kind, name in enumerate(series.CLASSES):
        for path, (p50, p99, p999, largest) in enumerate(series.PUBLISHED[name]):
            week = drawn[kind, path * series.DAYS : (path + 1) * series.DAYS].ravel()
            assert np.quantile(week, (0.5, 0.99, 0.999, 1.0)) == pytest.approx([p50, p99, p999, largest], rel=0.1)
            # Seconds that follow one another are alike, those far apart are not.
            ranks = week.argsort().argsort()
            assert np.corrcoef(ranks[1:], ranks[:-1])[0, 1] > 0.3
            assert abs(np.corrcoef(ranks[4_000:], ranks[:-4_000])[0, 1]) < 0.25


def test_a_round_trip_is_twice_the_one_way_delay() -> None:
    one_way = series.drawn(series.PUBLISHED, np.random.default_rng(1), 300, 100)
    round_trip = one_way.round_trips()
    assert (round_trip.delay_ns == 2 * one_way.delay_ns).all()
    assert (round_trip.before_s, round_trip.seconds) == (100, 300)
    assert (round_trip.at(0) == round_trip.delay_ns[:, :, 100]).all()


def past(values: list[int], before_s: int = 0) -> RoundTrip:
    return RoundTrip(np.broadcast_to(np.array(values, np.int32), (3, 1, len(values))).copy(), before_s)


def test_a_measured_value_is_the_mean_of_the_seconds_before() -> None:
    values = [0] * 100
    values[50] = 1_000
    seen = past(values).averaged(10).delay_ns[0, 0]
    assert np.flatnonzero(seen).tolist() == list(range(51, 61))
    assert set(seen[51:61].tolist()) == {100}


def test_no_measured_value_depends_on_the_future() -> None:
    rng = np.random.default_rng(3)
    known, other = (rng.integers(1, 1_000, 400) for _ in range(2))
    for at in (0, 1, 59, 60, 61, 200, 399):
        changed = np.concatenate((known[: at + (at == 0)], other[at + (at == 0) :]))
        here, there = (past(list(values)).averaged(70).delay_ns[0, 0, at] for values in (known, changed))
        assert here == there
    # With fewer seconds than asked for, the mean is of those there are.
    assert past(list(known)).averaged(70).delay_ns[0, 0, 3] == np.rint(known[:3].mean())


def test_rows_and_single_pairs_of_traced_latency_agree() -> None:
    machines = Machines.regular(300, 2, rack_size=10, pod_racks=4)
    result = network.TracedLatency(machines, LATENCY, 1_100, 3, noise=0.1, draw=5)
    rows = result.rows(np.arange(300))
    one, other = np.divmod(np.arange(300 * 300), 300)
    assert (result.pairs(one, other) == rows.ravel()).all()
    assert (rows == rows.T).all()
    true = network.TracedLatency(machines, LATENCY, 1_100, 3).rows(np.arange(300))
    assert np.abs(rows / true - 1).max() <= 0.101
    # A rack is nearer than a pod, and both have as many values as there are pairs.
    assert np.median(true[0, 1:10]) < np.median(true[0, 10:40])
    assert len(np.unique(true[0, 40:])) > 200
    # Round trips: within a rack from half of twice the fastest trace to twice the slowest.
    now = LATENCY.at(1_100)[0]
    assert 0.5 * now.min() - 1 <= true[0, 1:10].min() <= true[0, 1:10].max() <= now.max()


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
    result = series.read_traces(tmp_path, 50, 20)
    assert (result.seconds, result.before_s) == (50, 10)
    result = result.delay_ns
    assert result.shape == (3, 2, 60)
    assert result[:, :, 0].tolist() == [[80_000, 90_000], [300_000, 300_000], [250_000, 250_000]]
    (tmp_path / "pod-1.csv").write_text("300\n" * 60 + "slow\n")
    with pytest.raises(series.SeriesError, match=r"pod-1\.csv, line 61: 'slow'"):
        series.read_traces(tmp_path, 50)
    (tmp_path / "pod-1.csv").write_text("300\n" * 40)
    with pytest.raises(series.SeriesError, match=r"pod-1\.csv has 40 lines; the simulation needs 50"):
        series.read_traces(tmp_path, 50)


def test_the_order_of_a_mix_changes_nothing() -> None:
    """JSON in the database sorts keys by length: a run on the server would differ from one of the command."""
    mix = {"tensorflow-mnist": 0.2, "dns": 0.5, "spark-glm": 0.3}
    areas = set()
    for keys in (list(mix), sorted(mix, key=len)):
        world = replace(WORLD, mix={key: mix[key] for key in keys})
        areas.add(simulate(world, Scheme.random, drawn_jobs(world), LATENCY).area)
    assert len(areas) == 1


def test_policies_come_in_their_order_on_a_small_world() -> None:
    world = replace(WORLD, history_s=600)
    result = {scheme: simulate(world, scheme, JOBS, LATENCY) for scheme in Scheme}
    area = {scheme: outcome.area for scheme, outcome in result.items()}
    assert area[Scheme.random] < area[Scheme.nomora_105_110] < area[Scheme.nomora_preempt_beta0] < area[Scheme.best]
    assert area[Scheme.best_no_moves] > area[Scheme.nomora_preempt_beta0]
    assert all(0 < value <= 100 for value in area.values())
    moved = {
        scheme: float(outcome.moved_share.mean()) for scheme, outcome in result.items() if len(outcome.moved_share)
    }
    assert set(moved) == schemes.MOVING
    few = simulate(replace(world, moves_max=2), Scheme.best, JOBS, LATENCY).moved_share
    assert 0 < max(few) < moved[Scheme.best]


def test_a_full_cluster_lets_wait_and_says_how_long() -> None:
    size = np.array([9, 9])
    ends = np.repeat([300.0, np.inf], 9)
    jobs = Workload(np.array([0.0, 0.0]), size, np.array([0, 0]), np.zeros(9, np.int64), ends[:9])
    result = simulate(World(machines=2, slots=6, seconds=600), Scheme.best_no_moves, jobs, LATENCY)
    # Twelve slots: the second job gets three at once and the rest when the first has ended.
    assert sorted(round(at) for at in result.latency_s) == [0, 0, 300]


def test_a_stopped_simulation_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    path, of = tmp_path / "state.npz", {"seed": 1}

    def keep(state: SimulationState) -> None:
        if state.step == 7:
            state.write(path, of)

    whole = simulate(WORLD, Scheme.best, JOBS, LATENCY, after_step=keep)
    rest = simulate(WORLD, Scheme.best, JOBS, LATENCY, state=SimulationState.read(path, of))
    assert (rest.scores == whole.scores).all()
    assert (rest.moved_share == whole.moved_share).all()
    assert len(rest.solver_s) == len(whole.solver_s)
    with pytest.raises(SimulationStateError, match="differs in seed"):
        SimulationState.read(path, {"seed": 2})
    path.write_bytes(b"x")
    with pytest.raises(SimulationStateError, match="not a simulation state"):
        SimulationState.read(path, of)


def test_the_command_keeps_states_and_writes_figures_picture_and_page(run, tmp_path: Path) -> None:
    small = ["simulate", "--machines", "96", "--hours", "0.2", "--kept", str(tmp_path / "kept")]
    both = [*small, "--policy", "random", "--policy", "best", "--report", str(tmp_path)]
    first = run(*both)
    lines = [json.loads(line) for line in first.splitlines()]
    assert [line["policy"] for line in lines] == ["random", "best"]
    assert all(len(line["scores"]) == 101 and line["scores"] == sorted(line["scores"]) for line in lines)
    # All of it has been done: it is only told again.
    assert run(*both) == first
    whole = json.loads((tmp_path / "simulation.json").read_text())
    assert (whole["policies"], whole["world"]["machines"], whole["world"]["trace"]) == (lines, 96, None)
    assert (tmp_path / "scores.svg").read_text().count("<polyline") == 2
    assert "96 machines" in (tmp_path / "report.html").read_text()
    assert "differs in input, seed" in run(*small, "--policy", "random", "--seed", "2", code=1)
    run("simulate", "--hours", "0", code=2)
    run("simulate", "--trace", str(tmp_path), code=1)
