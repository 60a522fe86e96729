"""Tail risk of round-trip distributions for the policy robust, pair by pair.

A curve maps every measured round trip to performance. The risk measure condenses it: mean, 99th percentile, or the mean
of the worst twentieth (CVaR). A median per window would hide slow exchanges.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinemora.applications.performance import Indices, Links, Sensitivity, reached
from sinemora.curves.core.curve import Floats
from sinemora.measurements.aggregate.distributions import Counted, Values
from sinemora.placement.problem import Risk, Shares
from sinemora.placement.risk import TAIL

Banded = tuple[Floats, Floats, Floats]
"""Performance, and by both ends of the curve's band."""


@dataclass(frozen=True, slots=True, eq=False)
class RiskModel:
    """Risk measure and the distributions of some windows from the roots of stars."""

    risk: Risk
    values: Values
    known: dict[tuple[int, float, int, int], Banded] = field(default_factory=dict)
    """Cached results by curve, reference and the VMs at both ends."""

    def between(self, source: int, target: int, sensitivity: Sensitivity) -> Banded:
        """Return the performance in each window between two VMs; NaN where not measured."""
        key = (id(sensitivity.curve), sensitivity.reference_us, source, target)
        if key not in self.known:
            counted = self.values.windows_of(source, target)
            added = sensitivity.added_us(counted.round_trip_ns)
            windows = len(self.values.starts)
            curves = (sensitivity.curve, *(sensitivity.band or (sensitivity.curve, sensitivity.curve)))
            performance, low, high = (_apply_risk(curve(added), counted, windows, self.risk) for curve in curves)
            # A curve has no lower band beyond its domain.
            beyond = (
                _apply_risk((added <= sensitivity.curve.end_us).astype(np.float64), counted, windows, self.risk) <= 0
            )
            self.known[key] = performance, np.where(beyond, 0.0, low), high
        return self.known[key]


@dataclass(frozen=True, slots=True, eq=False)
class StepDistributions:
    """Round-trip distributions of the training windows on the steps of a cost table."""

    values: Values
    assumed_ns: Floats
    """Imputed round trips, shape (machines, machines)."""
    step_ns: float
    steps: int

    def shares(self, source: int) -> Shares:
        """Return the share of each step from `source` to every machine, shape (machines, steps)."""
        trips = self.assumed_ns[source]
        machines = len(trips)
        shares = np.zeros((machines, self.steps))
        if self.values.knows(source):
            rows = self.values.targets_of(source)
            at = rows.owner * self.steps + self._step(rows.round_trip_ns)
            counted = np.bincount(at, rows.times, machines * self.steps).astype(np.float64)
            shares = counted.reshape(machines, self.steps)
        silent = shares.sum(axis=1) == 0
        silent[source] = True
        shares[silent] = 0.0
        shares[silent, self._step(trips[silent])] = 1.0
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _step(self, round_trips_ns: np.ndarray) -> Indices:
        return np.minimum(np.rint(round_trips_ns / self.step_ns), self.steps - 1).astype(np.intp)


def link_performance(
    links: Links, at: Indices, trips: npt.NDArray[np.floating], sensitivity: Sensitivity, by: RiskModel | None
) -> Banded:
    """Return the performance of links in each window for tasks placed `at`, shape (windows, links); NaN is unknown.

    Uses `trips`, shape (windows, machines, machines). A link whose source has distributions in `by` uses their risk.
    """
    links_reached = reached(links, at, trips, sensitivity)
    parts = tuple(np.array(part) for part in (links_reached.performance, links_reached.low, links_reached.high))
    if by is not None:
        ends = zip(at[links.sources].tolist(), at[links.targets].tolist(), strict=True)
        for link, (source, target) in enumerate(ends):
            if min(source, target) >= 0 and source != target and by.values.knows(source):
                for part, column in zip(parts, by.between(source, target, sensitivity), strict=True):
                    part[:, link] = column
    return parts[0], parts[1], parts[2]


def _apply_risk(performance: Floats, counted: Counted, windows: int, risk: Risk) -> Floats:
    """Return the risk of the performance in each window; slow round trips have the lowest performance. NaN if empty."""
    totals = np.bincount(counted.owner, counted.times, windows)
    with np.errstate(invalid="ignore", divide="ignore"):
        if risk is Risk.mean:
            return np.asarray(np.bincount(counted.owner, counted.times * performance, windows) / totals)
        order = np.lexsort((counted.round_trip_ns, counted.owner))
        owner, count, performance = counted.owner[order], counted.times[order], performance[order]
        reach = np.cumsum(count) - (np.cumsum(totals) - totals)[owner]
        if risk is Risk.p99:
            first = reach >= 0.99 * totals[owner] - 1e-9
            first &= reach - count < 0.99 * totals[owner] - 1e-9
            worst = np.full(windows, np.nan)
            worst[owner[first]] = performance[first]
            return worst
        part = np.minimum(np.clip(reach - (1 - TAIL) * totals[owner], 0.0, None), count)
        return np.asarray(np.bincount(owner, part * performance, windows) / (TAIL * totals))
