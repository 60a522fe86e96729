"""What applications feel of whole distributions of round trips: the risk of the policy `robust`, pair by pair.

A curve is applied to every round trip that was measured, and what comes out is weighed: its mean, its 99th percentile
or the mean of its worst twentieth. One number of each window (its median, say) would tell nothing of bad moments.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinemora.applications.performance import Indices, Links, Sensitivity, reached
from sinemora.curves.core.curve import Floats
from sinemora.measurements.aggregate.distributions import Counted, Values
from sinemora.placement.problem import Risk, Shares
from sinemora.placement.risk import TAIL

Told = tuple[Floats, Floats, Floats]
"""Performance, and by both ends of the curve's band."""


@dataclass(frozen=True, slots=True, eq=False)
class Felt:
    """What of distributions counts, and those of some windows, from where the roots of stars are."""

    risk: Risk
    values: Values
    known: dict[tuple[int, float, int, int], Told] = field(default_factory=dict)
    """What was worked out already, by curve, its reference and the VMs at both ends."""

    def between(self, source: int, target: int, sensitivity: Sensitivity) -> Told:
        """Performance in each window between two VMs, NaN where nothing was measured."""
        key = (id(sensitivity.curve), sensitivity.reference_us, source, target)
        if key not in self.known:
            found = self.values.windows_of(source, target)
            added = sensitivity.added_us(found.round_trip_ns)
            windows = len(self.values.starts)
            curves = (sensitivity.curve, *(sensitivity.band or (sensitivity.curve, sensitivity.curve)))
            performance, low, high = (_weighed(curve(added), found, windows, self.risk) for curve in curves)
            # Beyond its domain a curve promises nothing.
            beyond = _weighed((added <= sensitivity.curve.end_us).astype(np.float64), found, windows, self.risk) <= 0
            self.known[key] = performance, np.where(beyond, 0.0, low), high
        return self.known[key]


@dataclass(frozen=True, slots=True, eq=False)
class OfValues:
    """How round trips between machines were distributed in the windows to choose on, at the steps of a table."""

    values: Values
    assumed_ns: Floats
    """Round trips where none was measured, shape (machines, machines)."""
    step_ns: float
    steps: int

    def shares(self, source: int) -> Shares:
        """Share of each step, from `source` to every machine: shape (machines, steps)."""
        trips = self.assumed_ns[source]
        machines = len(trips)
        found = np.zeros((machines, self.steps))
        if self.values.knows(source):
            told = self.values.targets_of(source)
            at = told.owner * self.steps + self._step(told.round_trip_ns)
            counted = np.bincount(at, told.times, machines * self.steps).astype(np.float64)
            found = counted.reshape(machines, self.steps)
        silent = found.sum(axis=1) == 0
        silent[source] = True
        found[silent] = 0.0
        found[silent, self._step(trips[silent])] = 1.0
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _step(self, round_trips_ns: np.ndarray) -> Indices:
        return np.minimum(np.rint(round_trips_ns / self.step_ns), self.steps - 1).astype(np.intp)


def felt(links: Links, at: Indices, trips: npt.NDArray[np.floating], sensitivity: Sensitivity, by: Felt | None) -> Told:
    """What links keep in each window when tasks run `at` these machines, shapes (windows, links), NaN where unknown.

    By `trips`, shape (windows, machines, machines), or, for a star from whose root distributions are told, by what
    counts of these.
    """
    found = reached(links, at, trips, sensitivity)
    parts = tuple(np.array(part) for part in (found.performance, found.low, found.high))
    if by is not None:
        ends = zip(at[links.sources].tolist(), at[links.targets].tolist(), strict=True)
        for link, (one, other) in enumerate(ends):
            if min(one, other) >= 0 and one != other and by.values.knows(one):
                for part, column in zip(parts, by.between(one, other, sensitivity), strict=True):
                    part[:, link] = column
    return parts[0], parts[1], parts[2]


def _weighed(performance: Floats, found: Counted, windows: int, risk: Risk) -> Floats:
    """The risk of a performance in each window, of whose values the slowest keep least; NaN where there are none."""
    totals = np.bincount(found.owner, found.times, windows)
    with np.errstate(invalid="ignore", divide="ignore"):
        if risk is Risk.mean:
            return np.asarray(np.bincount(found.owner, found.times * performance, windows) / totals)
        order = np.lexsort((found.round_trip_ns, found.owner))
        owner, count, performance = found.owner[order], found.times[order], performance[order]
        reach = np.cumsum(count) - (np.cumsum(totals) - totals)[owner]
        if risk is Risk.p99:
            first = reach >= 0.99 * totals[owner] - 1e-9
            first &= reach - count < 0.99 * totals[owner] - 1e-9
            worst = np.full(windows, np.nan)
            worst[owner[first]] = performance[first]
            return worst
        part = np.minimum(np.clip(reach - (1 - TAIL) * totals[owner], 0.0, None), count)
        return np.asarray(np.bincount(owner, part * performance, windows) / (TAIL * totals))
