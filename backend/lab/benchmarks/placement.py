"""Quality and speed of placement: one JSON object a figure. `TRACE=` names a folder with the Google trace of 2011.

`ONLY=` one group: small or full.

Without a trace, jobs have the generator's sizes. Times are of a whole step, from latency to certified plan, after one
small plan has warmed up; `cpu_s` is the processor's time for the same.
"""

import dataclasses
import itertools
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.benchmarks.figures import finish, report, selected
from sinemora.labs.simulation.core import network, trace, workload
from sinemora.recommendations.placement import costs, matrix
from sinemora.recommendations.placement.plan import Certificate
from sinemora.recommendations.placement.policies import exact, gang, nomora
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import ANYWHERE, Jobs, Machines, Problem
from sinemora.recommendations.placement.solvers.cost_kernels import fill
from sinemora.recommendations.placement.solvers.transport import Transport
from tests.recommendations.placement.problems import Dense, other_solver, random_problem, running

MACHINES, SLOTS = 12_500, 12
gaps: list[int] = []


def main() -> None:
    groups = {"small": small_instances, "full": full_size}
    for group in selected(groups):
        groups[group]()
    if gaps:
        worst = max(map(abs, gaps))
        report("placement_certificate_gap", worst, certificates=len(gaps))


def full_size() -> None:
    """Measure the figures of a whole cluster in one run."""
    size = sizes()
    problem, bases = cluster(MACHINES, size)
    small, _ = cluster(300, np.array([5, 30, 200]))
    exact.solve(small)
    full(problem, bases)
    quality(size)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report("placement_rss_mib_full", peak)


def proven(certificate: Certificate | None) -> Certificate:
    assert certificate is not None
    gaps.append(certificate.gap)
    return certificate


def small_instances() -> None:
    """Compare every exact mode with OR-tools on the whole network, and gangs with all roots."""
    wrong = checked = 0
    for seed in range(2_000):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, limits=seed % 3 == 0)
        plan = exact.solve(problem)
        proven(plan.certificate)
        wrong += plan.cost != other_solver(problem)
        machines = problem.machines.slots.size
        drift: npt.NDArray[np.int32] = rng.integers(0, 1_100_000, (machines, machines)).astype(np.int32)
        drifted = dataclasses.replace(problem, latency=Dense(drift))
        warm, _ = exact.transport_of(problem)
        warm.solve()
        tables = costs.table(problem.curves)[problem.jobs.curve]
        warm.reprice(matrix.cost_matrix(drifted, tables, int(warm.waiting_cost.max())))
        warm.solve()
        wrong += proven(warm.certificate()).primal != other_solver(drifted)
        checked += 2
        if seed % 8 == 0:
            alone = random_problem(rng, jobs=1, machines=6)
            roots = np.flatnonzero(alone.machines.slots > 0)
            if len(roots):
                best = min(other_solver(alone.with_roots(np.array([root]))) for root in roots)
                rooted = alone.with_roots(gang.place(alone.with_roots(np.array([ANYWHERE]))))
                wrong += exact.solve(rooted).cost != best
                checked += 1
    report("placement_optimal_mismatches", wrong, checked=checked)
    wrong = 0
    for seed, beta in itertools.product(range(150), (0.0, 1.0)):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, most_tasks=8)
        current = running(problem, rng)
        problem = dataclasses.replace(problem, current=current, running_s=rng.integers(0, 60, len(current.count)))
        options = Parameters(p_m=int(rng.integers(100, 160)), p_r=int(rng.integers(100, 400)), beta=beta)
        literal = proven(nomora.solve(problem, options).certificate)
        merged = proven(nomora.solve(problem, dataclasses.replace(options, aggregate=True)).certificate)
        wrong += literal.primal != merged.primal
    report("placement_aggregation_mismatches", wrong, checked=300)


def sizes() -> Any:
    folder = os.environ.get("TRACE")
    return (
        trace.sizes_at_start(Path(folder)) if folder else workload.sizes(workload.TRACE_JOBS, np.random.default_rng(1))
    )


def cluster(machines: int, size: Any, seed: int = 1) -> tuple[Problem, Any]:
    """Return jobs with roots on random machines, and the base latencies in µs."""
    rng = np.random.default_rng(seed)
    places = Machines.regular(machines, SLOTS)
    root = rng.choice(np.repeat(np.arange(machines), SLOTS), len(size), replace=False)
    bases = network.bases(rng)
    latency = network.ClusterLatency(places, (bases * 1000).astype(np.int64), 7)
    return Problem(Jobs.of(size - 1, root, workload.kinds(len(size), rng)), places, latency, workload.curves()), bases


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    started, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - started, time.process_time() - cpu, result


def full(problem: Problem, bases: Any) -> None:
    """Measure whole solutions, cold and warm, and arrivals."""
    runs = [timed(lambda: exact.solve(problem)) for _ in range(3)]
    plan = runs[0][2]
    proven(plan.certificate)
    cold, cpu = float(np.median([run[0] for run in runs])), float(np.median([run[1] for run in runs]))
    # Warm: all latencies change repeatedly by up to 2 %; prices and flows are kept.
    tables = costs.table(problem.curves)[problem.jobs.curve]
    transport, _ = exact.transport_of(problem)
    transport.solve()
    rng, warm = np.random.default_rng(2), []
    for _ in range(7):
        bases = bases * rng.uniform(0.98, 1.02, bases.shape)
        drifted = dataclasses.replace(
            problem, latency=network.ClusterLatency(problem.machines, (bases * 1000).astype(np.int64), 7)
        )
        rows = drifted.latency.rows(problem.jobs.root)

        def again(rows: Any = rows) -> Any:
            fill(rows, costs.step_ns(problem.curves), tables, 0, transport.costs)
            transport.reprice()
            transport.solve()
            return transport.assignment(), proven(transport.certificate())

        warm.append(timed(again))
    rounds = arrivals(problem)
    literal_s, literal_cpu, literal = timed(lambda: nomora.solve(problem))
    proven(literal.certificate)
    report("placement_full_cold_ratio_to_literal", cold / literal_s)
    report(
        "placement_full_beta0_cold_s",
        cold,
        cpu_s=round(cpu, 3),
        literal_s=round(literal_s, 2),
        literal_cpu_s=round(literal_cpu, 2),
        jobs=len(problem.jobs),
        tasks=int(problem.jobs.size.sum()),
    )
    seconds, cpu = (float(np.median([run[at] for run in warm])) for at in (0, 1))
    slowest = round(max(run[0] for run in warm), 3)
    report("placement_full_warm_ratio_to_literal", seconds / literal_s)
    report("placement_full_beta0_warm_s", seconds, cpu_s=round(cpu, 3), worst_s=slowest)
    ms, cpu = (1000 * float(np.median([run[at] for run in rounds])) for at in (0, 1))
    report("placement_round_ratio_to_literal", ms / 1000 / literal_s)
    report("placement_round_1000_tasks_ms", ms, cpu_ms=round(cpu, 1))


def arrivals(problem: Problem) -> list[tuple[float, float, Any]]:
    """Measure the arrival of 1,000 tasks in 116 jobs, all preemptible, five times."""
    rng, new, times = np.random.default_rng(3), 116, 5
    count = len(problem.jobs)
    cuts = np.sort(rng.choice(np.arange(1, 1_000), new - 1, replace=False))
    size = np.tile(np.diff(np.concatenate([[0], cuts, [1_000]])), times)
    free = problem.free_slots()
    homes = rng.choice(np.repeat(np.arange(MACHINES), np.maximum(free, 0)), new * times, replace=False)
    root = np.concatenate([problem.jobs.root, homes])
    # The roots' slots are taken from the start, so that only tasks arrive.
    jobs = Jobs.of(
        np.concatenate([problem.jobs.size, size]),
        root,
        np.concatenate([problem.jobs.curve, workload.kinds(new * times, rng)]),
    )
    grown = dataclasses.replace(problem, jobs=jobs)
    tables = costs.table(grown.curves)[jobs.curve]
    step = costs.step_ns(grown.curves)
    waiting = matrix.waiting_costs(grown, tables)
    whole = np.empty((len(jobs), MACHINES), np.uint16)
    fill(grown.latency.rows(jobs.root[:count]), step, tables, 0, whole)
    transport = Transport(
        whole[:count], jobs.size[:count], grown.free_slots(), waiting[:count], room_for_jobs=len(jobs)
    )
    transport.solve()
    runs = []
    for at in range(times):
        first, last = count + at * new, count + (at + 1) * new
        rows = grown.latency.rows(jobs.root[first:last])

        def arrive(rows: Any = rows, first: int = first, last: int = last) -> Any:
            fill(rows, step, tables, first, whole)
            transport.arrive(whole[:last], jobs.size[first:last], waiting[first:last])
            transport.solve()
            return transport.assignment(), proven(transport.certificate())

        runs.append(timed(arrive))
    return runs


def aged(problem: Problem) -> Problem:
    """Return the problem with the placement of the published policy."""
    return dataclasses.replace(problem, current=nomora.solve(problem, Parameters(aggregate=True)).assignment)


def quality(size: Any) -> None:
    """Measure the mean performance of tasks: exact against the published policy with preemption, β = 0.

    Roots and slots are equal. The gain depends on the curves of the few largest jobs, so report the median of five
    clusters.
    """
    means = []
    for seed in range(1, 6):
        problem, _ = cluster(MACHINES, size, seed)
        old = aged(problem)
        plan, published = exact.solve(problem), nomora.solve(old, Parameters(aggregate=True))
        proven(plan.certificate)
        proven(published.certificate)
        loss = matrix.cost_matrix(problem, costs.table(problem.curves, costs.Objective.loss)[problem.jobs.curve], 1001)
        placed = (plan.assignment, published.assignment, old.current)
        lost = [
            (loss[assignment.job, assignment.machine].astype(np.int64) * assignment.count).sum()
            / assignment.count.sum()
            for assignment in placed
        ]
        means.append(1 - np.array(lost, float) / 1000)
    ours, theirs, unmoved = np.transpose(means)
    shown = {"exact": ours, "literal": theirs, "no_preemption": unmoved}
    report(
        "placement_quality_task_mean_exact_minus_literal",
        float(np.median(ours - theirs)),
        differences=np.round(ours - theirs, 4).tolist(),
        **{name: round(float(np.median(part)), 4) for name, part in shown.items()},
    )


if __name__ == "__main__":
    main()
    finish()
