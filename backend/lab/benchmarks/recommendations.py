"""Calibration of recommendations: do intervals hold the truth, and do probabilities come true? `SEED=` selects worlds.

`ONLY=` one group: calibration, verdicts (of applied moves), optimality (against brute force, `TENANTS=` of
them), sizes (of large tenants), cures (what the overview offers), deadlocks (two owners at once, `PAIRS` times).

A world has VMs, applications with published curves, and round trips through the look-back and the hour after it. The
optimiser sees the look-back. The truth is the mean gain over the hour after it, under the true curves.

The estimator does not know the worlds. Their weather is that of published traces (`lab.incidents.network`: noise with
memories of two minutes to four hours, a daily course), with bursts of heavy-tailed duration, steps of the level, and
windows that miss. True curves are published ones on other hardware: their latency is scaled by a log-normal factor, the
stated error of transfer, and smooth random errors as large as the residuals of the sources are added.
"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from uuid import UUID

import numpy as np

from lab.benchmarks import optimality, verdicts
from lab.benchmarks.figures import comment, report, run
from lab.benchmarks.recommending.collisions import collide
from lab.benchmarks.recommending.instances import deployment, instance, machine
from lab.benchmarks.storing import product
from lab.incidents import network
from lab.incidents.traces import TRACES
from sinemora.applications.curves.core.band import TRANSFER_FACTOR, transfer_band
from sinemora.applications.curves.core.curve import Curve, Floats
from sinemora.applications.curves.core.library import LIBRARY
from sinemora.applications.performance import Indices, Links, Sensitivity, star
from sinemora.recommendations.core import optimize, split
from sinemora.recommendations.core.gains import apply_moves
from sinemora.recommendations.core.holdout import estimate_gain, performance_series
from sinemora.recommendations.core.instance import Instance, TaskDemand
from sinemora.recommendations.core.options import Options

WORLDS = 10_000
"""Cases of a world share its weather: with 3,000 worlds the error of a decile varied by 0.02 between seeds."""
TENANTS, PAIRS, _SHOWN = 500, 2_000, 20
HOUR_S = 3600
LOOK_BACK_MIN = {4: 10, 12: 10, 30: 60, 60: 60, 120: 60, 240: 60}
"""Look-backs in minutes, and the seconds of their windows: windows of ten seconds are soon merged into minutes."""
PRICES = 4
"""Prices put to each estimate, so that probabilities of all sizes occur."""
DECILE_LEAST = 400
"""Least number of cases of a decile that is judged: its standard error is then at most 0.025."""
_BETWEEN_95 = 1.96


@dataclass(frozen=True)
class Truth:
    """True curve of an application: a published one on other hardware."""

    curve: Curve
    factor: float
    errors: Floats
    """Standard normal weights of three waves over the domain, times the residual."""
    steepness: float
    """Beyond the domain, performance falls as x to the power of its negative: 1 in a closed loop."""

    def __call__(self, added_us: Floats) -> Floats:
        x = np.minimum(added_us, self.curve.end_us)
        performance = self.curve(x * self.factor)
        waves = [np.cos(np.pi * order * x / self.curve.end_us) for order in range(self.errors.size)]
        performance = performance + 4 * performance * (1 - performance) * np.tensordot(self.errors, waves, 1)
        beyond = self.curve.end_us / np.maximum(added_us, self.curve.end_us)
        return np.clip(performance, 0.0, 1.0) * beyond**self.steepness


@dataclass(frozen=True)
class Case:
    """Estimate of the gain of a group of moves, and its truth; `asked` pairs prices with probabilities."""

    low: float
    high: float
    asked: tuple[tuple[float, float], ...]
    truth: float


def main(seed: int, worlds: int, tenants: int) -> None:
    """Print the figures of the groups of `ONLY`, all by default."""
    run(
        {
            "calibration": lambda: calibrate(seed, worlds),
            "verdicts": lambda: verdicts.main(seed),
            "optimality": lambda: optimality.main(seed, tenants),
            "sizes": lambda: optimality.sizes(seed),
            "cures": lambda: optimality.cures(seed, min(tenants, optimality.CURED)),
            "deadlocks": lambda: at_once(seed),
        }
    )


def at_once(seed: int) -> None:
    """Print deadlocks, server errors and lost changes of two owners at once, `PAIRS` times."""
    with product.running() as running:
        pairs = int(os.environ.get("PAIRS") or PAIRS)
        found = collide(running.call, running.tenant_id, pairs, seed)
    for words in [*found.failed, *found.lost][:_SHOWN]:
        comment(words)
    report("recommendations_deadlocks", max(found.deadlocks, len(found.failed)), pairs=pairs)
    report("recommendations_lost_changes", len(found.lost), pairs=pairs)


def calibrate(seed: int, worlds: int) -> None:
    """Print how often intervals hold the truth, and how often probabilities come true."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool:
        found = list(pool.map(cases, [(seed, world) for world in range(worlds)], chunksize=20))
    everything = [case for world in found for case in world]
    inside = np.array([case.low <= case.truth <= case.high for case in everything])
    covered = 100 * float(inside.mean())
    report("recommendations_interval_coverage_percent", covered, worlds=worlds, estimates=len(everything))
    deciles = list(calibration(everything))
    judged = [(said, came) for said, came, count in deciles if count >= DECILE_LEAST]
    if not judged:
        sys.exit(f"WORLDS={worlds} is too few: no decile of probability has {DECILE_LEAST} cases.")
    error = max(abs(said - came) for said, came in judged)
    report("recommendations_probability_calibration_error", error, deciles=deciles)


def calibration(everything: list[Case]) -> Iterator[tuple[float, float, int]]:
    """Yield of each decile of probability: the mean probability, the share that paid, and the number of cases."""
    said = np.array([probability for case in everything for _, probability in case.asked])
    came = np.array([case.truth > price for case in everything for price, _ in case.asked])
    decile = np.minimum((said * 10).astype(int), 9)
    for number in range(10):
        of = decile == number
        if of.any():
            yield round(float(said[of].mean()), 4), round(float(came[of].mean()), 4), int(of.sum())


def cases(item: tuple[int, int]) -> list[Case]:
    """Return the estimates of one world and their truths."""
    rng = np.random.default_rng(item)
    minutes = int(rng.choice(list(LOOK_BACK_MIN)))
    zone_of = np.sort(rng.integers(0, 3, rng.integers(6, 11)))
    mesh = network.Mesh(TRACES[int(rng.integers(len(TRACES)))], zone_of, LOOK_BACK_MIN[minutes])
    windows = minutes * 60 // mesh.window_s
    trips = weather(mesh, windows + HOUR_S // mesh.window_s, rng)
    seen, later = trips[:windows], trips[windows:]
    reference_us = float(rng.choice([0.0, 0.5, 0.8])) * float(np.nanmedian(trips)) / 1e3
    truths, world = instance_of(mesh, observed(seen, rng), reference_us, rng)
    solution = optimize.solve(world, Options(move_cost=float(rng.choice([0.0, 0.02]))))
    here = tuple(application.at for application in world.applications)
    found = []
    for group in solution.groups:
        places = sorted({move.task[0] for move in group.moves})
        there = apply_moves(here, group.moves)
        moved = [(place, world.applications[place]) for place in places]
        before, after = (
            [performance_series(one.links, at[place], world.holdout, one.sensitivity) for place, one in moved]
            for at in (here, there)
        )
        gain = estimate_gain(before, after, 0.0, world.holdout_blocks)
        if gain is None or gain.blocks < split.BLOCKS_LEAST:
            continue
        interval = gain.gain
        asked = []
        for normal in rng.standard_normal(PRICES):
            price = interval.mean + float(normal) * (interval.high - interval.low) / 4
            judged = estimate_gain(before, after, price, world.holdout_blocks)
            assert judged is not None  # the windows are those of `gain`
            asked.append((price, judged.probability))
        gains = [
            true_performance(truths[place], one.links, there[place], later, reference_us)
            - true_performance(truths[place], one.links, here[place], later, reference_us)
            for place, one in moved
        ]
        found.append(Case(interval.low, interval.high, tuple(asked), float(np.mean(gains))))
    return found


def weather(mesh: network.Mesh, steps: int, rng: np.random.Generator) -> Floats:
    """Return true round trips (ns) of a mesh in `steps` windows, shape (steps, VMs, VMs)."""
    one_way = network.quiet(mesh, steps, rng, int(rng.integers(86_400))).median_ns.astype(np.float64)
    calm = np.median(one_way, axis=0)
    # Traces of other providers wander more or less.
    one_way = calm + (one_way - calm) * float(np.exp(rng.normal(0, 0.5)))
    trips = np.nan_to_num(one_way + one_way.transpose(0, 2, 1))
    size = mesh.size
    for a in range(size):
        for b in range(a):
            base = trips[:, a, b].mean()
            change = np.zeros(steps)
            per_hour = mesh.window_s / HOUR_S
            for start in np.flatnonzero(rng.random(steps) < per_hour / 4):  # a burst in four hours, of minutes
                length = max(1, round(60 * (1 + float(rng.pareto(1.5)) * 2) / mesh.window_s))
                change[start : start + length] += rng.exponential(0.4) * base
            for start in np.flatnonzero(rng.random(steps) < per_hour / 12):  # a new route in half a day
                change[start:] += rng.normal(0, 0.12) * base
            trips[:, a, b] = trips[:, b, a] = np.maximum(trips[:, a, b] + change, 0.2 * base)
    return trips


def observed(trips: Floats, rng: np.random.Generator) -> Floats:
    """Return round trips as stored: with the resolution of the store, a hundredth of windows missing."""
    seen = network.coded(trips.astype(np.float32)).astype(np.float64)
    missing = np.triu(rng.random(trips.shape) < 0.01, 1)
    seen[missing | missing.transpose(0, 2, 1)] = np.nan
    return seen


def instance_of(
    mesh: network.Mesh, trips: Floats, reference_us: float, rng: np.random.Generator
) -> tuple[list[Truth], Instance]:
    """Return two or three stars on the mesh, with their true curves."""
    machines = [machine(at, int(zone)) for at, zone in enumerate(mesh.zone_of)]
    order = rng.permutation(mesh.size)
    truths, applications, used = [], [], 0
    for number in range(int(rng.integers(1, 3))):
        tasks = int(rng.integers(2, 4))
        at = order[used : used + tasks]
        used += tasks
        entry = LIBRARY[int(rng.integers(len(LIBRARY)))]
        band = transfer_band(entry.key, entry.curve, entry.residuals)
        factor = float(np.exp(rng.normal(0, np.log(TRANSFER_FACTOR) / _BETWEEN_95)))
        errors = rng.normal(0, band.residual / np.sqrt(3), 3)
        truths.append(Truth(entry.curve, factor, errors, float(rng.uniform(0, 2))))
        demands = [TaskDemand(UUID(int=task), f"task-{task}", False, 1, 0, 0) for task in range(tasks)]
        sensitivity = Sensitivity(entry.curve, band, reference_us)
        applications.append(deployment(number, demands, at, star(0, tasks), sensitivity))
    return truths, instance(machines, applications, trips, mesh.window_s)


def true_performance(truth: Truth, links: Links, at: Indices, trips: Floats, reference_us: float) -> float:
    """Return the mean performance of an application over true round trips, under its true curve."""
    sources, targets = at[links.sources], at[links.targets]
    added = np.maximum(trips[:, sources, targets] / 1e3 - reference_us, 0.0)
    return float(truth(np.where(sources == targets, 0.0, added)).mean())


if __name__ == "__main__":
    main(
        int(os.environ.get("SEED") or 1),
        int(os.environ.get("WORLDS") or WORLDS),
        int(os.environ.get("TENANTS") or TENANTS),
    )
