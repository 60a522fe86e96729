"""Quality of placement: one JSON object a figure. `TRACE=` names a folder with the Google trace of 2011.

`ONLY=` one group: small or full.

The published minimum-cost flow measures the search: preferring every machine, it is the optimum for fixed roots.
Without a trace, jobs have the generator's sizes.
"""

import dataclasses
import itertools
import os
import resource
from pathlib import Path

import numpy as np

from lab.benchmarks.figures import finish, report, selected
from sinemora.labs.simulation.core import best, network, trace, workload
from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.policies import nomora
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import Assignment, Ints, Jobs, Machines, Problem
from tests.recommendations.placement.problems import cheapest_flow, lost, random_problem, running

MACHINES, SLOTS = 12_500, 12
TENTH = 1_250
"""Machines of the clusters on which the search is measured."""
_ROUNDING = 1e-4
_EVERY_MACHINE = Parameters(p_m=1_000, p_r=0, aggregate=True)
gaps: list[int] = []


def main() -> None:
    groups = {"small": small_instances, "full": full_size}
    for group in selected(groups):
        groups[group]()
    if gaps:
        report("placement_certificate_gap", max(map(abs, gaps)), certificates=len(gaps))


def proven(plan: PlacementPlan) -> PlacementPlan:
    assert plan.certificate is not None
    gaps.append(plan.certificate.gap)
    return plan


def small_instances() -> None:
    """Compare the search with the cheapest flow, and the aggregated network with the literal one."""
    wrong = 0
    for seed in range(500):
        problem = random_problem(np.random.default_rng(seed))
        _, placed = best.place(problem, np.ones(len(problem.jobs), np.int64))
        waiting = int(problem.jobs.size.sum() - placed.count.sum())
        loss = float((lost(problem)[placed.job, placed.machine] * placed.count).sum()) + 2 * waiting
        wrong += loss > cheapest_flow(problem, lost(problem), 2) + _ROUNDING
    report("placement_optimal_mismatches", wrong, checked=500)
    wrong = 0
    for seed, beta in itertools.product(range(150), (0.0, 1.0)):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, most_tasks=8)
        current = running(problem, rng)
        problem = dataclasses.replace(problem, current=current, running_s=rng.integers(0, 60, len(current.count)))
        options = Parameters(p_m=int(rng.integers(100, 160)), p_r=int(rng.integers(100, 400)), beta=beta)
        literal, merged = (
            proven(nomora.solve(problem, dataclasses.replace(options, aggregate=aggregate)))
            for aggregate in (False, True)
        )
        wrong += literal.certificate != merged.certificate
    report("placement_aggregation_mismatches", wrong, checked=300)


def full_size() -> None:
    """Measure the published policy on a whole cluster, and the search on a tenth of it."""
    size = sizes()
    problem = cluster(MACHINES, size)
    for parameters in (Parameters(), Parameters(aggregate=True)):
        proven(nomora.solve(problem, parameters))
    quality(size[:: MACHINES // TENTH])
    report("placement_rss_mib_full", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def sizes() -> Ints:
    folder = os.environ.get("TRACE")
    if not folder:
        return workload.sizes(workload.TRACE_JOBS, np.random.default_rng(1))
    at_start = itertools.takewhile(lambda event: event.time_s <= 0, trace.events(Path(folder)))
    tasks = np.array([event.job for event in at_start if event.kind == trace.SCHEDULE])
    number = np.unique(tasks, return_counts=True)[1]
    return number[number > 1]


def cluster(machines: int, size: Ints, seed: int = 1) -> Problem:
    """Return jobs with roots on random machines."""
    rng = np.random.default_rng(seed)
    places = Machines.regular(machines, SLOTS)
    root = rng.choice(np.repeat(np.arange(machines), SLOTS), len(size), replace=False)
    latency = network.ClusterLatency(places, (network.bases(rng) * 1000).astype(np.int64), 7)
    return Problem(Jobs.of(size - 1, root, workload.kinds(len(size), rng)), places, latency, workload.curves())


def quality(size: Ints) -> None:
    """Measure the mean performance of tasks under the search, the published policy and the cheapest flow.

    Roots and slots are equal. The gain depends on the curves of the few largest jobs, so report the median of five
    clusters.
    """
    means = []
    for seed in range(1, 6):
        problem = cluster(TENTH, np.minimum(size, TENTH), seed)
        _, placed = best.place(problem, np.ones(len(problem.jobs), np.int64))
        published, flow = (
            proven(nomora.solve(problem, parameters)).assignment
            for parameters in (Parameters(aggregate=True), _EVERY_MACHINE)
        )
        performance = 1 - lost(problem)
        means.append([mean(performance, assignment) for assignment in (placed, published, flow)])
    ours, theirs, bound = (float(value) for value in np.median(means, axis=0))
    report("placement_quality_task_mean_best_minus_published", ours - theirs, best=ours, published=theirs)
    report("placement_quality_task_mean_flow_minus_best", bound - ours, worst=max(flow - one for one, _, flow in means))


def mean(performance: np.ndarray, placed: Assignment) -> float:
    return float((performance[placed.job, placed.machine] * placed.count).sum() / placed.count.sum())


if __name__ == "__main__":
    main()
    finish()
