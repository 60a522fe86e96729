"""Performance of applications under given round trips: the curve of each, link by link.

The performance of an application is the weighted mean over its links. The links of a star lead from the root to every
other task, with equal weights (D. A. Popescu, UCAM-CL-TR-937, sec. 6: the latency between root and tasks determines the
performance of a job). Unknown links do not count; `measured` has the number of known links.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.band import Band
from sinemora.applications.curves.core.curve import Curve, Floats

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Communication as indices of tasks, and the weight of each link; all of shape (links,)."""

    sources: Indices
    targets: Indices
    weights: Floats

    def __len__(self) -> int:
        return int(self.sources.size)


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Latency sensitivity: the curve, its band, and the reference round trip (µs) of the curve."""

    curve: Curve
    band: Band
    reference_us: float

    def added_us(self, round_trips_ns: npt.ArrayLike) -> Floats:
        """Return the latency above the reference round trip; faster round trips add nothing."""
        return np.maximum(np.asarray(round_trips_ns, np.float64) / 1e3 - self.reference_us, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Performance of every link with its band, NaN where the round trip is unknown; shapes (links,).

    Beyond the domain of the curve, `low` is 0 and `extrapolated` is true.
    """

    links: Links
    performance: Floats
    low: Floats
    high: Floats
    extrapolated: Flags

    @property
    def measured(self) -> int:
        """Return the number of known links."""
        return int(np.isfinite(self.performance).sum())

    def mean(self, of: Floats | None = None) -> float | None:
        """Return the weighted mean of `of` (default: the performance) over known links; None without any."""
        values = self.performance if of is None else of
        known = np.isfinite(self.performance)
        if not known.any():
            return None
        return float(np.average(values[known], weights=self.links.weights[known]))

    def cost(self, of: Flags) -> float | None:
        """Return the part of the loss 1 - `mean()` that some links cause; None where none of them is known."""
        known = np.isfinite(self.performance)
        if not (known & of).any():
            return None
        losses = np.where(known & of, 1 - self.performance, 0.0)
        return float(np.average(losses[known], weights=self.links.weights[known]))

    @property
    def worst(self) -> float | None:
        """Return the worst known link."""
        return float(np.nanmin(self.performance)) if self.measured else None


def star(root: int, tasks: int) -> Links:
    """Return links from task `root` to each of the other `tasks` - 1."""
    others = np.delete(np.arange(tasks), root)
    return Links(np.full(others.size, root, np.intp), others.astype(np.intp), np.ones(others.size))


def graph(edges: Sequence[tuple[int, int, float]]) -> Links:
    """Return the links of a communication graph from source, target and weight."""
    sources, targets, weights = zip(*edges, strict=True)
    return Links(np.array(sources, np.intp), np.array(targets, np.intp), np.array(weights, np.float64))


def reached(links: Links, at: Indices, round_trips_ns: npt.NDArray[np.floating], sensitivity: Sensitivity) -> Reached:
    """Return the performance of each link with task i on machine `at[i]` (-1: on none).

    `round_trips_ns` has shape (machines, machines), NaN where unknown. Links within one machine add no latency. With
    several windows, (windows, machines, machines), results have shape (windows, links).
    """
    added = added_on(links, at, round_trips_ns, sensitivity)
    known = np.isfinite(added)
    beyond = known & (added > sensitivity.curve.end_us)
    performance = np.where(known, sensitivity.curve(np.nan_to_num(added)), np.nan)
    ends = (sensitivity.band.low, sensitivity.band.high)
    low, high = (np.where(known, part(np.nan_to_num(added)), np.nan) for part in ends)
    return Reached(links, performance, np.where(beyond, 0.0, low), high, beyond)


def added_on(links: Links, at: Indices, round_trips_ns: npt.NDArray[np.floating], sensitivity: Sensitivity) -> Floats:
    """Return the added latency (µs) of each link, in the shapes of `reached`; NaN where unknown."""
    sources, targets = at[links.sources], at[links.targets]
    placed = (sources >= 0) & (targets >= 0)
    trips = np.where(placed, round_trips_ns[..., sources, targets], np.nan)
    return sensitivity.added_us(np.where(placed & (sources == targets), 0.0, trips))
