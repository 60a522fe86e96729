"""Placement policies through time on a part of a cluster: one JSON object a figure. All policies see the same world.

The six published policies are compared with the source (UCAM-CL-TR-937, 6.3: 24 hours of the Google trace, 12,500
machines), with the jobs of the first step placed by the policy. The part is a tenth of the machines with
jobs drawn from the trace's statistics. `HOURS=` sets its length. `TRACE=folder` uses the trace's jobs on 12,500
machines (`MACHINES=`); `HOURS=19.5` is all of the files that are there.
"""

import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lab.benchmarks.figures import finish, report
from sinemora.labs.simulation.core import trace
from sinemora.labs.simulation.core.best import MACHINES_MAX
from sinemora.labs.simulation.core.inputs import drawn_jobs, drawn_round_trips
from sinemora.labs.simulation.core.report import SOURCE
from sinemora.labs.simulation.core.schemes import Scheme
from sinemora.labs.simulation.core.simulate import SimulationResult, World, simulate
from sinemora.labs.simulation.core.workload import Workload

BASELINES = (
    Scheme.random, Scheme.load_spreading, Scheme.nomora_105_110, Scheme.nomora_110_115, Scheme.nomora_preempt,
    Scheme.nomora_preempt_beta0,
)  # fmt: skip


HISTORY_S = 7_200
"""Look-back of the comparison of moves, under both policies."""


class Slice:
    """A world with its jobs and latency."""

    def __init__(self) -> None:
        self.world = World(
            # A trace's jobs fill the cluster they come from; on a tenth of it, most would wait until the end.
            machines=int(os.environ.get("MACHINES") or (12_500 if os.environ.get("TRACE") else 1_250)),
            seconds=round(float(os.environ.get("HOURS") or 8) * 3600),
            seed=int(os.environ.get("SEED") or 1),
        )
        self.jobs = drawn_jobs(self.world)
        if folder := os.environ.get("TRACE"):
            rng = np.random.default_rng(self.world.seed)
            self.jobs = Workload.of_trace(trace.jobs(Path(folder), self.world.seconds), rng)
        self.latency = drawn_round_trips(self.world)

    def run(self, scheme: Scheme, **changes: Any) -> SimulationResult:
        world = dataclasses.replace(self.world, **changes)
        result = simulate(world, scheme, self.jobs, self.latency)
        sys.stderr.write(f"{scheme} {changes or ''}: area {result.area:.2f} %, moved {moved(result)} % a round\n")
        return result


def warm_up() -> None:
    """Run every policy once, so that no measured time includes a first call."""
    world = World(machines=96, seconds=1_200)
    jobs, latency = drawn_jobs(world), drawn_round_trips(world)
    for scheme in (*BASELINES, Scheme.best):
        simulate(world, scheme, jobs, latency)


def main() -> None:
    warm_up()
    here = Slice()
    for scheme in BASELINES:
        result = here.run(scheme)
        report(
            f"simulation_area_{scheme}_minus_source", result.area - SOURCE[scheme],
            area=round(result.area, 2), source=SOURCE[scheme], moved_percent=moved(result),
        )  # fmt: skip
    if here.world.machines > MACHINES_MAX:  # the search holds the latency of every pair
        return
    best, published = (here.run(scheme, history_s=HISTORY_S) for scheme in (Scheme.best, BASELINES[-1]))
    report(
        "simulation_area_best_minus_nomora_preempt_beta0", best.area - published.area,
        area=round(best.area, 3), moved_percent_nomora=moved(published), history_s=HISTORY_S,
    )  # fmt: skip
    report("simulation_moved_percent_best", moved(best))
    still, paid = (here.run(scheme, noise=0.15, history_s=HISTORY_S) for scheme in (Scheme.best_no_moves, Scheme.best))
    report("simulation_area_best_noise_minus_no_moves", paid.area - still.area, moved_percent_mean=moved(paid))
    detail = {"p99": round(float(np.quantile(best.latency_s, 0.99)), 4)}
    report("simulation_placement_latency_p50_s", float(np.median(best.latency_s)), source=4_812, **detail)


def moved(outcome: SimulationResult) -> float:
    """Return the mean percentage of tasks that a round moves."""
    return round(100 * float(outcome.moved_share.mean()), 3) if len(outcome.moved_share) else 0.0


if __name__ == "__main__":
    main()
    finish()
