"""Workload: jobs of a cluster over time, from the Google trace of 2011 or drawn with its statistics.

Statistics of the trace (version 2, Google, CC-BY 4.0), jobs with more than one task: 1,616 jobs with 130,622 tasks run
at the start, and 95 % of them still run 19.5 hours later; 3,141 jobs arrive in these 19.5 hours. Curves are assigned in
the source's shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import through
from sinemora.applications.curves.core.library import published
from sinemora.applications.curves.core.table import CurveTable, tabulate
from sinemora.labs.simulation.core.trace import TraceJob
from sinemora.recommendations.placement.problem import Ints

MIX: Mapping[str, float] = {"memcached-server": 0.5, "strads-lasso": 0.25, "tensorflow-mnist": 0.25}
"""Published curves and their shares of the jobs, as in the source."""
TRACE_JOBS, TRACE_MACHINES = 1_616, 12_500
_TRACE_ARRIVALS_PER_S = 3_141 / 70_200
_ENDING = 0.06
"""Share of the jobs at the start that end within a day."""
# Quantiles: sizes at the start, sizes of arriving jobs, and their durations in seconds.
_QUANTILES = (0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.9994, 1.0)
_SIZES = (2.0, 5.0, 30.0, 123.0, 300.0, 1_178.0, 4_600.0, 20_010.0)
_NEW_QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_NEW_SIZES = (2.0, 9.0, 16.0, 78.0, 200.0, 837.0, 2_000.0, 10_500.0)
_LASTS_S = (16.0, 162.0, 288.0, 815.0, 4_030.0, 11_450.0, 200_000.0, 200_000.0)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Jobs in arrival order: arrays with one entry per job, except for the ends of tasks."""

    comes_s: Floats
    size: Ints
    """Tasks, root included."""
    kind: Ints
    """Column in the table of `curves()`."""
    end_job: Ints
    """Job of each task that ends …"""
    end_s: Floats
    """… and its end, ascending. The root ends last."""

    @classmethod
    def of_trace(cls, jobs: list[TraceJob], rng: np.random.Generator, mix: Mapping[str, float] = MIX) -> Self:
        """Return the jobs of a trace with randomly drawn curves."""
        comes = np.array([job.submitted_s for job in jobs])
        order = np.argsort(comes, kind="stable")
        jobs = [jobs[at] for at in order]
        size = np.array([len(job.ends_s) for job in jobs], np.int64)
        ends = np.concatenate([np.fromiter(job.ends_s.values(), float) for job in jobs])
        return cls._of(comes[order], size, ends, rng, mix)

    @classmethod
    def drawn(
        cls, machines: int, slots: int, seconds: float, rng: np.random.Generator, mix: Mapping[str, float] = MIX
    ) -> Self:
        """Draw jobs in proportion to the size of the cluster; at most 80 % of the slots are taken at the start."""
        running = max(1, round(TRACE_JOBS * machines / TRACE_MACHINES))
        coming = rng.poisson(_TRACE_ARRIVALS_PER_S * machines / TRACE_MACHINES * seconds)
        room = machines * slots
        first = _shrunk(sizes(running, rng), room * 4 // 5)
        later = np.minimum(_by_quantiles(coming, _NEW_QUANTILES, _NEW_SIZES, rng), max(2, room // 50))
        comes = np.concatenate((np.zeros(running), np.sort(rng.uniform(0, seconds, coming))))
        durations = np.concatenate(
            (
                np.where(rng.random(running) < _ENDING, rng.uniform(0, 86_400, running), np.inf),
                np.exp(np.interp(rng.random(coming), _NEW_QUANTILES, np.log(_LASTS_S))),
            )
        )
        size = np.concatenate((first, later))
        return cls._of(comes, size, np.repeat(comes + durations, size), rng, mix)

    @classmethod
    def _of(cls, comes: Floats, size: Ints, ends: Floats, rng: np.random.Generator, mix: Mapping[str, float]) -> Self:
        job = np.repeat(np.arange(len(size)), size)
        known = np.isfinite(ends)
        order = np.argsort(ends[known], kind="stable")
        return cls(comes, size, kinds(len(size), rng, mix), job[known][order], ends[known][order])

    def __len__(self) -> int:
        return len(self.size)


Points = tuple[tuple[float, float], ...]
"""Curve as points: microseconds added to a round trip, and performance; straight lines between."""


def curves(mix: Mapping[str, float] = MIX, own: Mapping[str, Points] = MappingProxyType({})) -> CurveTable:
    """Return the table of a mix's curves by name, by default the source's: Memcached, STRADS, TensorFlow.

    `own` has the curves that are not published. Raises `CurveError` for points that are no curve.
    """
    return tabulate(
        [through(*zip(*own[key], strict=True)) if key in own else published(key).curve for key in sorted(mix)]
    )


def sizes(jobs: int, rng: np.random.Generator) -> Ints:
    """Draw tasks per job, root included, as at the start of the trace: median 5, 99th percentile 1,178."""
    return _by_quantiles(jobs, _QUANTILES, _SIZES, rng)


def kinds(jobs: int, rng: np.random.Generator, mix: Mapping[str, float] = MIX) -> Ints:
    """Draw the curve of each job by the shares of a mix: its column in the table of `curves`."""
    # By name: a mix has no order once it was stored as JSON.
    return rng.choice(len(mix), jobs, p=[share for _, share in sorted(mix.items())])


def _by_quantiles(
    count: int, quantiles: tuple[float, ...], values: tuple[float, ...], rng: np.random.Generator
) -> Ints:
    """Draw one value from each of `count` equal parts of a distribution (stratified sampling)."""
    at = (rng.permutation(count) + rng.random(count)) / max(1, count)
    return np.rint(np.exp(np.interp(at, quantiles, np.log(values)))).astype(np.int64)


def _shrunk(size: Ints, room: int) -> Ints:
    """Return sizes capped so that all fit: a small cluster has no room for the trace's largest jobs."""
    high = int(size.max(initial=2))
    while high > 2 and np.minimum(size, high).sum() > room:
        high = high * 9 // 10
    return np.minimum(size, max(2, high))
