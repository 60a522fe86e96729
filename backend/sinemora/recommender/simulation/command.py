"""`sinemora simulate`: placement policies through time, a JSON object for each."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.recommender.simulation.simulate import Outcome, Scheme, World, simulate


def add(commands: Any) -> None:
    """Add the command to the program's."""
    command: argparse.ArgumentParser = commands.add_parser("simulate", help="what placement policies are worth")
    world = World()
    command.add_argument("--policy", action="append", choices=list(Scheme), help="one or more (default: all)")
    for name in ("machines", "jobs", "intervals", "seed"):
        command.add_argument(f"--{name}", type=int, default=getattr(world, name), help="default: %(default)s")
    command.add_argument("--move-price", type=int, default=world.move_price, help="cost points (default: %(default)s)")
    command.add_argument("--noise", type=float, default=world.noise, help="of a measured latency, such as 0.15")
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command.set_defaults(run=_run)


def summary(outcome: Outcome) -> dict[str, Any]:
    """Figures of one policy, and the distribution of scores at every hundredth."""

    def quantiles(values: np.ndarray) -> dict[str, float]:
        if not len(values):
            return {}
        return {
            name: round(float(np.quantile(values, q)), 6) for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
        }

    return {
        "policy": outcome.scheme,
        "area_percent": round(outcome.area, 4),
        "worst_job": round(float(outcome.scores.min()), 4),
        "solver_s": quantiles(outcome.solver_s),
        "placement_latency_s": quantiles(outcome.latency_s),
        "moved_share_mean": round(float(outcome.moved_share.mean()), 6),
        "scores": [round(float(score), 4) for score in np.quantile(outcome.scores, np.linspace(0, 1, 101))],
    }


def _run(options: argparse.Namespace) -> int:
    world = World(
        machines=options.machines,
        jobs=options.jobs,
        intervals=options.intervals,
        noise=options.noise,
        move_price=options.move_price,
        seed=options.seed,
    )
    if world.machines < 2 or world.jobs < 1 or world.intervals < 1 or not 0 <= world.noise < 1:
        sys.stderr.write("At least 2 machines, 1 job and 1 interval; noise from 0 to below 1.\n")
        return 2
    lines = []
    for scheme in options.policy or list(Scheme):

        def progress(interval: int, scheme: str = scheme) -> None:
            sys.stderr.write(f"\r{scheme} {interval}/{world.intervals} ")

        lines.append(json.dumps(summary(simulate(world, Scheme(scheme), progress))))
        sys.stderr.write("\n")
    text = "\n".join(lines) + "\n"
    if options.output:
        options.output.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    return 0
