"""Choose the next run of a profile from those done so far. Deterministic, so an interrupted profile can resume.

First the baseline: increasing load without added latency, until throughput no longer rises. More than the smallest
saturating load would hide latency behind spare demand (UCAM-CL-TR-914, section 5.1). Then the sweep, in rounds: every
condition not yet known well enough once, in random order, so that drift of the machine becomes noise instead of shape.
A condition is an added latency, or a magnitude of variance around one of them.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from sinemora.applications.curves.core.observations import Metric

Phase = Literal["load", "sweep"]

LEVEL = 0.95
_LOAD_RUNS = 3
# A load saturates the server if it reaches this share of the best result. Two successive loads that gain less end the
# search.
_SATURATED = 0.98


class Condition(NamedTuple):
    """Latency of a run: the median added to the round trip, and the magnitude of its variance in each direction, µs."""

    added_us: float
    magnitude_us: float = 0.0


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Plan of a profile. `added_us` ascend from 0; `loads` ascend, a single one is used without search.

    `varied` are conditions with variance, measured in the same rounds.
    """

    added_us: tuple[float, ...]
    loads: tuple[int, ...]
    metric: Metric = "rate"
    repeats_min: int = 3
    repeats_max: int = 8
    tolerance: float = 0.02
    """Target relative half width of the 95 % interval of a mean."""
    seed: int = 1
    varied: tuple[Condition, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return all conditions, that without added latency first."""
        return (*map(Condition, self.added_us), *self.varied)


@dataclass(frozen=True, slots=True)
class SweepStep:
    """A run to do."""

    phase: Phase
    load: int
    added_us: float
    round: int
    magnitude_us: float = field(default=0.0, kw_only=True)

    @property
    def condition(self) -> Condition:
        """Return the condition of the run."""
        return Condition(self.added_us, self.magnitude_us)


@dataclass(frozen=True, slots=True)
class Run(SweepStep):
    """A finished run. `value` in the metric's unit; `achieved_us`: latency achieved, None if the network does not
    measure it; `others`: processors used by other work meanwhile; `latency_us`: request latency that the benchmark
    reported, by statistic (`p50`, `p99`, `mean`, …), None without; `clients`: value and latency of each of several
    clients."""

    value: float
    achieved_us: float | None = None
    others: float | None = None
    latency_us: dict[str, float] | None = None
    clients: list[dict[str, Any]] | None = None


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


def next_step(plan: SweepPlan, runs: Sequence[Run]) -> SweepStep | None:
    """Return the run to do after these; None if every mean is known well enough."""
    load = saturating_load(plan, runs)
    if load is None:
        return _next_load(plan, runs)
    sweep = [run for run in runs if run.phase == "sweep"]
    current = max((run.round for run in sweep), default=0)
    for number in (current, current + 1):
        before = [run for run in sweep if run.round < number]
        finished = {run.condition for run in sweep if run.round == number}
        for condition in _order(plan, before, number):
            if condition not in finished:
                added_us, magnitude_us = condition
                return SweepStep("sweep", load, added_us, number, magnitude_us=magnitude_us)
    return None


def saturating_load(plan: SweepPlan, runs: Sequence[Run]) -> int | None:
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


def means(runs: Sequence[Run]) -> dict[Condition, Mean]:
    """Return the sweep so far, by condition: those without variance first, then by latency and magnitude."""
    swept = [run for run in runs if run.phase == "sweep"]
    at = sorted({run.condition for run in swept}, key=lambda one: (one.magnitude_us > 0, one))
    return {one: mean_of(run.value for run in swept if run.condition == one) for one in at}


def expected_steps(plan: SweepPlan, runs: Sequence[Run]) -> int:
    """Return the minimum number of runs of the profile, finished ones included."""
    load_runs = sum(run.phase == "load" for run in runs)
    if saturating_load(plan, runs) is None:
        load_runs = max(load_runs, 3 * _LOAD_RUNS)
    counts = {condition: mean.count for condition, mean in means(runs).items()}
    return load_runs + sum(max(plan.repeats_min, counts.get(condition, 0)) for condition in plan.conditions)


def _order(plan: SweepPlan, before: Sequence[Run], number: int) -> list[Condition]:
    """Return the conditions of one round. Each includes no latency, because all performance is relative to it."""
    known = means(before)
    first, *others = plan.conditions
    pending = [condition for condition in others if not _precise(plan, known.get(condition))]
    base = known.get(first)
    if not pending and _precise(plan, base):
        return []
    if base is None or base.count < plan.repeats_max or pending:
        pending.append(first)
    random.Random(f"{plan.seed} {number}").shuffle(pending)
    return pending


def _precise(plan: SweepPlan, mean: Mean | None) -> bool:
    if mean is None or mean.count < plan.repeats_min:
        return False
    return mean.count >= plan.repeats_max or (mean.half_width is not None and mean.half_width <= plan.tolerance)


def _next_load(plan: SweepPlan, runs: Sequence[Run]) -> SweepStep:
    load = next(load for load in plan.loads if _count(runs, load) < _LOAD_RUNS)
    return SweepStep("load", load, plan.added_us[0], _count(runs, load))


def _count(runs: Sequence[Run], load: int) -> int:
    return sum(run.phase == "load" and run.load == load for run in runs)


def _score(plan: SweepPlan, runs: Sequence[Run]) -> float:
    """Return the median performance, larger is better; one disturbed run must not decide."""
    middle = float(np.median([run.value for run in runs]))
    return middle if plan.metric == "rate" else 1 / middle
