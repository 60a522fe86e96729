"""Choose the next run of a profile from those done so far. Deterministic, so an interrupted profile can resume.

First the baseline: increasing load without added latency, until throughput no longer rises. More than the smallest
saturating load would hide latency behind spare demand (UCAM-CL-TR-914, section 5.1). Then the sweep, in rounds: every
latency not yet known well enough once, in random order, so that drift of the machine becomes noise instead of shape.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from sinemora.curves.core.observations import Metric

Phase = Literal["load", "sweep"]

LEVEL = 0.95
_LOAD_RUNS = 3
# A load saturates the server if it reaches this share of the best result. Two successive loads that gain less end the
# search.
_SATURATED = 0.98


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a profile. `added_us` ascend from 0; `loads` ascend, a single one is used without search."""

    added_us: tuple[float, ...]
    loads: tuple[int, ...]
    metric: Metric = "rate"
    repeats_min: int = 3
    repeats_max: int = 8
    tolerance: float = 0.02
    """Target relative half width of the 95 % interval of a mean."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """A run to do."""

    phase: Phase
    load: int
    added_us: float
    round: int


@dataclass(frozen=True, slots=True)
class Run(Step):
    """A finished run. `value` in the metric's unit; `achieved_us`: latency achieved, None if the network does not
    measure it; `others`: processors used by other work meanwhile."""

    value: float
    achieved_us: float | None = None
    others: float | None = None


@dataclass(frozen=True, slots=True)
class Mean:
    """Runs of one latency. `half_width` is relative, of the 95 % interval (Student); None for a single run."""

    count: int
    value: float
    half_width: float | None


def latencies(to_us: float, points: int) -> tuple[float, ...]:
    """Return 0 and `points` latencies up to `to_us`, geometrically spaced, with at most two digits."""
    spread = np.geomspace(to_us / 100, to_us, points)
    rounded = {float(f"{value:.2g}") for value in spread[:-1]} | {float(to_us)}
    return (0.0, *sorted(rounded))


def next_step(plan: Plan, runs: Sequence[Run]) -> Step | None:
    """Return the run to do after these; None if every mean is known well enough."""
    load = saturating_load(plan, runs)
    if load is None:
        return _next_load(plan, runs)
    sweep = [run for run in runs if run.phase == "sweep"]
    current = max((run.round for run in sweep), default=0)
    for number in (current, current + 1):
        before = [run for run in sweep if run.round < number]
        finished = {run.added_us for run in sweep if run.round == number}
        for added_us in _order(plan, before, number):
            if added_us not in finished:
                return Step("sweep", load, added_us, number)
    return None


def saturating_load(plan: Plan, runs: Sequence[Run]) -> int | None:
    """Return the smallest load that saturates the server; None while unknown."""
    if len(plan.loads) == 1:
        return plan.loads[0]
    if any(run.phase == "sweep" for run in runs):
        return next(run.load for run in runs if run.phase == "sweep")
    tested = [load for load in plan.loads if _count(runs, load) >= _LOAD_RUNS]
    reached = [_score(plan, [run for run in runs if run.phase == "load" and run.load == load]) for load in tested]
    saturated = len(tested) == len(plan.loads)
    if len(tested) >= 3:
        saturated |= max(reached[-2:]) < max(reached[:-2]) / _SATURATED
    if not saturated:
        return None
    return next(load for load, best in zip(tested, reached, strict=True) if best >= _SATURATED * max(reached))


def mean_of(values: Iterable[float]) -> Mean:
    """Return the mean of runs with its interval."""
    sample = np.asarray(list(values), np.float64)
    mean = float(sample.mean())
    if sample.size < 2:
        return Mean(int(sample.size), mean, None)
    error = float(sample.std(ddof=1) / np.sqrt(sample.size))
    return Mean(int(sample.size), mean, float(scipy.special.stdtrit(sample.size - 1, (1 + LEVEL) / 2)) * error / mean)


def means(runs: Sequence[Run]) -> dict[float, Mean]:
    """Return the sweep so far, by added latency."""
    at = sorted({run.added_us for run in runs if run.phase == "sweep"})
    return {us: mean_of(run.value for run in runs if run.phase == "sweep" and run.added_us == us) for us in at}


def expected_steps(plan: Plan, runs: Sequence[Run]) -> int:
    """Return the minimum number of runs of the profile, finished ones included."""
    load_runs = sum(run.phase == "load" for run in runs)
    if saturating_load(plan, runs) is None:
        load_runs = max(load_runs, 3 * _LOAD_RUNS)
    counts = {us: mean.count for us, mean in means(runs).items()}
    return load_runs + sum(max(plan.repeats_min, counts.get(us, 0)) for us in plan.added_us)


def _order(plan: Plan, before: Sequence[Run], number: int) -> list[float]:
    """Return the latencies of one round. Each round includes 0, because all performance is relative to it."""
    known = means(before)
    pending = [us for us in plan.added_us[1:] if not _precise(plan, known.get(us))]
    base = known.get(plan.added_us[0])
    if not pending and _precise(plan, base):
        return []
    if base is None or base.count < plan.repeats_max or pending:
        pending.append(plan.added_us[0])
    random.Random(f"{plan.seed} {number}").shuffle(pending)
    return pending


def _precise(plan: Plan, mean: Mean | None) -> bool:
    if mean is None or mean.count < plan.repeats_min:
        return False
    return mean.count >= plan.repeats_max or (mean.half_width is not None and mean.half_width <= plan.tolerance)


def _next_load(plan: Plan, runs: Sequence[Run]) -> Step:
    load = next(load for load in plan.loads if _count(runs, load) < _LOAD_RUNS)
    return Step("load", load, plan.added_us[0], _count(runs, load))


def _count(runs: Sequence[Run], load: int) -> int:
    return sum(run.phase == "load" and run.load == load for run in runs)


def _score(plan: Plan, runs: Sequence[Run]) -> float:
    """Return the median performance, larger is better; one disturbed run must not decide."""
    middle = float(np.median([run.value for run in runs]))
    return middle if plan.metric == "rate" else 1 / middle
