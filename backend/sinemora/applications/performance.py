"""What applications reach under given round trips: the curve of each, link by link.

The performance of an application is the mean over its links by weight: for a star the links from the root to every
other task, each counting once (D. A. Popescu, UCAM-CL-TR-914, sec. 6: the performance of a job is judged by the
latency between its root and its tasks). Unknown links do not count; how many are known is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.curves.core.curve import Curve, Floats

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Who talks to whom, as indices of tasks, and how much each link counts; all of shape (links,)."""

    sources: Indices
    targets: Indices
    weights: Floats

    def __len__(self) -> int:
        return int(self.sources.size)


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """What latency costs: the curve, its band where it has one, and the round trip (µs) the curve counts from."""

    curve: Curve
    band: tuple[Curve, Curve] | None
    reference_us: float

    def added_us(self, round_trips_ns: npt.ArrayLike) -> Floats:
        """What round trips add to the one of the curve's test bed; faster ones add nothing."""
        return np.maximum(np.asarray(round_trips_ns, np.float64) / 1e3 - self.reference_us, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Performance of every link, NaN where its round trip is unknown, with its band; shapes (links,).

    `low` is 0 and `extrapolated` true beyond the domain of the curve, which promises nothing there.
    """

    links: Links
    performance: Floats
    low: Floats
    high: Floats
    extrapolated: Flags

    @property
    def measured(self) -> int:
        """How many links are known."""
        return int(np.isfinite(self.performance).sum())

    def mean(self, of: Floats | None = None) -> float | None:
        """The mean of `of` (the performance by default) over known links by weight; None when none is known."""
        values = self.performance if of is None else of
        known = np.isfinite(self.performance)
        if not known.any():
            return None
        return float(np.average(values[known], weights=self.links.weights[known]))

    @property
    def worst(self) -> float | None:
        """The worst known link."""
        return float(np.nanmin(self.performance)) if self.measured else None


def star(root: int, tasks: int) -> Links:
    """Links from task `root` to each of the other `tasks` - 1."""
    others = np.delete(np.arange(tasks), root)
    return Links(np.full(others.size, root, np.intp), others.astype(np.intp), np.ones(others.size))


def graph(edges: Sequence[tuple[int, int, float]]) -> Links:
    """Links of a communication graph: source, target, weight."""
    sources, targets, weights = zip(*edges, strict=True)
    return Links(np.array(sources, np.intp), np.array(targets, np.intp), np.array(weights, np.float64))


def reached(links: Links, at: Indices, round_trips_ns: npt.NDArray[np.floating], sensitivity: Sensitivity) -> Reached:
    """What each link keeps when task i runs on machine `at[i]` (-1: on none).

    `round_trips_ns` has shape (machines, machines), NaN where unknown. Tasks on one machine have no network between
    them: nothing is added. With several windows, (windows, machines, machines), the answer has shapes (windows, links).
    """
    sources, targets = at[links.sources], at[links.targets]
    placed = (sources >= 0) & (targets >= 0)
    trips = np.where(placed, round_trips_ns[..., sources, targets], np.nan)
    trips = np.where(placed & (sources == targets), 0.0, trips)
    added = sensitivity.added_us(trips)
    known = np.isfinite(added)
    beyond = known & (added > sensitivity.curve.end_us)
    performance = np.where(known, sensitivity.curve(np.nan_to_num(added)), np.nan)
    if sensitivity.band is None:
        low = high = performance
    else:
        low, high = (np.where(known, part(np.nan_to_num(added)), np.nan) for part in sensitivity.band)
    return Reached(links, performance, np.where(beyond, 0.0, low), high, beyond)
