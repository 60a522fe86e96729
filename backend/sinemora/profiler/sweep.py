"""Which run of a profile comes next, from those done so far: the same runs, the same next one, so any stop can resume.

First the baseline: more and more load with nothing added, until more no longer helps. More than the smallest load that
saturates would hide latency behind spare demand (UCAM-CL-TR-914, section 5.1). Then the sweep, in rounds: every latency
not yet known well enough once, in random order, so that drift of the machine becomes noise instead of shape.
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
# A load saturates when it reaches this share of the best one; two in a row that gain less than the rest end the search.
_SATURATED = 0.98


@dataclass(frozen=True, slots=True)
class Plan:
    """What a profile is to find out. `added_us` ascend from 0; `loads` ascend, a single one is taken without search."""

    added_us: tuple[float, ...]
    loads: tuple[int, ...]
    metric: Metric = "rate"
    repeats_min: int = 3
    repeats_max: int = 8
    tolerance: float = 0.02
    """Relative half width of the 95 % interval of a mean that is good enough."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One run to do."""

    phase: Phase
    load: int
    added_us: float
    round: int


@dataclass(frozen=True, slots=True)
class Run(Step):
    """One run done. `value` in the metric's unit; `achieved_us` is what was really added, if the network tells;
    `others` how many processors other work used meanwhile."""

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
    """0 and `points` latencies up to `to_us`, dense at the beginning, each with two digits at most."""
    spread = np.geomspace(to_us / 100, to_us, points)
    rounded = {float(f"{value:.2g}") for value in spread[:-1]} | {float(to_us)}
    return (0.0, *sorted(rounded))


def next_step(plan: Plan, runs: Sequence[Run]) -> Step | None:
    """The run to do after these; None when all is known well enough."""
    load = saturating_load(plan, runs)
    if load is None:
        return _next_load(plan, runs)
    sweep = [run for run in runs if run.phase == "sweep"]
    current = max((run.round for run in sweep), default=0)
    for number in (current, current + 1):
        before = [run for run in sweep if run.round < number]
        done = {run.added_us for run in sweep if run.round == number}
        for added_us in _order(plan, before, number):
            if added_us not in done:
                return Step("sweep", load, added_us, number)
    return None


def saturating_load(plan: Plan, runs: Sequence[Run]) -> int | None:
    """Return the smallest load that reaches the most; None while that is not known."""
    if len(plan.loads) == 1:
        return plan.loads[0]
    if any(run.phase == "sweep" for run in runs):
        return next(run.load for run in runs if run.phase == "sweep")
    tried = [load for load in plan.loads if _count(runs, load) >= _LOAD_RUNS]
    reached = [_goodness(plan, [run for run in runs if run.phase == "load" and run.load == load]) for load in tried]
    enough = len(tried) == len(plan.loads)
    if len(tried) >= 3:
        enough |= max(reached[-2:]) < max(reached[:-2]) / _SATURATED
    if not enough:
        return None
    return next(load for load, one in zip(tried, reached, strict=True) if one >= _SATURATED * max(reached))


def mean_of(values: Iterable[float]) -> Mean:
    """Mean of runs with its interval."""
    found = np.asarray(list(values), np.float64)
    mean = float(found.mean())
    if found.size < 2:
        return Mean(int(found.size), mean, None)
    error = float(found.std(ddof=1) / np.sqrt(found.size))
    return Mean(int(found.size), mean, float(scipy.special.stdtrit(found.size - 1, (1 + LEVEL) / 2)) * error / mean)


def means(runs: Sequence[Run]) -> dict[float, Mean]:
    """Return the sweep so far, by added latency."""
    at = sorted({run.added_us for run in runs if run.phase == "sweep"})
    return {us: mean_of(run.value for run in runs if run.phase == "sweep" and run.added_us == us) for us in at}


def expected_steps(plan: Plan, runs: Sequence[Run]) -> int:
    """How many runs there will be at least, those done included."""
    load_runs = sum(run.phase == "load" for run in runs)
    if saturating_load(plan, runs) is None:
        load_runs = max(load_runs, 3 * _LOAD_RUNS)
    counts = {us: mean.count for us, mean in means(runs).items()}
    return load_runs + sum(max(plan.repeats_min, counts.get(us, 0)) for us in plan.added_us)


def _order(plan: Plan, before: Sequence[Run], number: int) -> list[float]:
    """Latencies of one round. Nothing added is in each of them: all performance is relative to it."""
    known = means(before)
    pending = [us for us in plan.added_us[1:] if not _enough(plan, known.get(us))]
    base = known.get(plan.added_us[0])
    if not pending and _enough(plan, base):
        return []
    if base is None or base.count < plan.repeats_max or pending:
        pending.append(plan.added_us[0])
    random.Random(f"{plan.seed} {number}").shuffle(pending)
    return pending


def _enough(plan: Plan, mean: Mean | None) -> bool:
    if mean is None or mean.count < plan.repeats_min:
        return False
    return mean.count >= plan.repeats_max or (mean.half_width is not None and mean.half_width <= plan.tolerance)


def _next_load(plan: Plan, runs: Sequence[Run]) -> Step:
    load = next(load for load in plan.loads if _count(runs, load) < _LOAD_RUNS)
    return Step("load", load, plan.added_us[0], _count(runs, load))


def _count(runs: Sequence[Run], load: int) -> int:
    return sum(run.phase == "load" and run.load == load for run in runs)


def _goodness(plan: Plan, runs: Sequence[Run]) -> float:
    """Larger is better. The median: one disturbed run must not decide."""
    middle = float(np.median([run.value for run in runs]))
    return middle if plan.metric == "rate" else 1 / middle
