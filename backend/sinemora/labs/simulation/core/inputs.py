"""Inputs of a simulation: the jobs and the round trips of its paths, the same for every policy."""

import hashlib
from dataclasses import dataclass

import numpy as np

from sinemora.labs.simulation.core import series
from sinemora.labs.simulation.core.delays import RoundTrip
from sinemora.labs.simulation.core.series import Statistics
from sinemora.labs.simulation.core.simulate import World
from sinemora.labs.simulation.core.workload import Workload

_BEFORE_S = 7_200


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Jobs and round trips."""

    jobs: Workload
    round_trips: RoundTrip

    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify jobs and round trips."""
        digest = hashlib.sha256(self.round_trips.delay_ns.tobytes())
        for part in (self.jobs.comes_s, self.jobs.size, self.jobs.kind, self.jobs.end_job, self.jobs.end_s):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]


def drawn_jobs(world: World) -> Workload:
    """Draw the jobs of a world."""
    rng = np.random.default_rng(world.seed)
    return Workload.drawn(world.machines, world.slots, world.seconds, rng, world.mix)


def drawn_round_trips(world: World, statistics: Statistics = series.PUBLISHED) -> RoundTrip:
    """Draw the round trips of a world from statistics of one-way delay, equal for all look-backs up to `_BEFORE_S`."""
    rng = np.random.default_rng(world.seed)
    return series.drawn(statistics, rng, world.covered_s, max(world.lookback_s, _BEFORE_S)).round_trips()
