"""Placement policies through time on a slice of a cluster: one JSON object a figure. Every policy sees the same world.

The source's areas (UCAM-CL-TR-937, 7.2: 24 hours of the Google trace, 12,500 machines) stand beside as `source`; the
slice is a tenth of the machines and generated jobs, so orders are compared, not values.
"""

import dataclasses
import json
import os
import sys
from typing import Any

import numpy as np

from sinemora.recommender.simulation.simulate import Outcome, Scheme, World, simulate

SOURCE = {
    Scheme.random: 47.2,
    Scheme.load_spreading: 46.8,
    Scheme.nomora_105_110: 60.2,
    Scheme.nomora_preempt_beta0: 89.6,
}


def main() -> None:
    world = World(intervals=int(os.environ.get("INTERVALS") or 30))
    areas = {scheme: run(world, scheme) for scheme in (*SOURCE, Scheme.exact, Scheme.gang_budget)}
    for scheme, source in SOURCE.items():
        report(f"simulation_area_{scheme}", areas[scheme].area, "%", source=source)
    best = areas[Scheme.gang_budget]
    report(
        "simulation_area_gang_budget_minus_nomora_preempt_beta0",
        best.area - areas[Scheme.nomora_preempt_beta0].area,
        "%",
        bar="≥ 0 with ≤ 1 % of tasks moved a round",
        moved_percent_mean=round(100 * float(best.moved_share.mean()), 3),
        moved_percent_nomora=round(100 * float(areas[Scheme.nomora_preempt_beta0].moved_share.mean()), 3),
    )
    noisy = dataclasses.replace(world, noise=0.15)
    still, moving = run(noisy, Scheme.never_move), run(noisy, Scheme.budget)
    report("simulation_area_lambda_noise_minus_never_move", moving.area - still.area, "%", bar="≥ 0",
           moved_percent_mean=round(100 * float(moving.moved_share.mean()), 3),
           lambda_0=round(run(noisy, Scheme.exact).area - still.area, 4))  # fmt: skip
    waited = float(np.median(areas[Scheme.exact].latency_s))
    report("simulation_placement_latency_p50_s", waited, "s", bar="≤ 1", source=4_812)


def run(world: World, scheme: Scheme) -> Outcome:
    found = simulate(world, scheme, lambda at: sys.stderr.write(f"\r{scheme} {at}/{world.intervals} "))
    sys.stderr.write(f"area {found.area:.2f} %, solver {np.median(found.solver_s):.3f} s\n")
    return found


def report(figure: str, value: float, unit: str, **detail: Any) -> None:
    line = {"figure": figure, "value": float(f"{value:.6g}"), "unit": unit}
    sys.stdout.write(json.dumps(line | detail, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
