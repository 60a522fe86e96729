"""Tail risk of round-trip distributions pair by pair.

A curve maps every measured round trip to performance. The risk measure condenses it: mean, 99th percentile, or the mean
of the worst twentieth (CVaR). A median per window would hide slow exchanges.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices, Links, Sensitivity, added_on, reached
from sinemora.measurements.aggregate.distributions import Counted, Values
from sinemora.recommendations.placement.problem import Risk

TAIL = 0.05
"""Share of the distribution in CVaR."""


@dataclass(frozen=True, slots=True, eq=False)
class RiskModel:
    """Risk measure and the distributions of some windows from the roots of stars."""

    risk: Risk
    values: Values
    known: dict[tuple[str, float, int, int], tuple[Floats, Floats]] = field(default_factory=dict)
    """Cached results by curve, reference and the VMs at both ends."""

    def between(self, source: int, target: int, sensitivity: Sensitivity) -> tuple[Floats, Floats]:
        """Return the performance in each window between two VMs, and by each draw; NaN where not measured.

        Shapes (windows,) and (DRAWS, windows).
        """
        key = (sensitivity.band.key, sensitivity.reference_us, source, target)
        if key not in self.known:
            counted = self.values.windows_of(source, target)
            added = sensitivity.added_us(counted.round_trip_ns)
            rows = np.concatenate([sensitivity.curve(added)[None], sensitivity.band.draws(added)])
            values = _apply_risk(rows, counted, len(self.values.starts), self.risk)
            self.known[key] = values[0], values[1:]
        return self.known[key]

    def mean_between(self, source: int, target: int, sensitivity: Sensitivity, slower_us: float = 0.0) -> float:
        """Return the mean performance over the windows between two VMs, all exchanges slower by `slower_us`.

        NaN where not measured.
        """
        if not self.values.knows(source):
            return float("nan")
        counted = self.values.windows_of(source, target)
        performance = sensitivity.curve(sensitivity.added_us(counted.round_trip_ns + slower_us * 1e3))[None]
        windows = _apply_risk(performance, counted, len(self.values.starts), self.risk)[0]
        measured = windows[np.isfinite(windows)]
        return float(measured.mean()) if measured.size else float("nan")


def link_performance(
    links: Links, at: Indices, trips: npt.NDArray[np.floating], sensitivity: Sensitivity, by: RiskModel | None
) -> Floats:
    """Return the performance of links in each window for tasks placed `at`, shape (windows, links); NaN is unknown.

    Uses `trips`, shape (windows, machines, machines). A link whose source has distributions in `by` uses their risk.
    """
    performance = np.array(reached(links, at, trips, sensitivity).performance)
    for link, source, target in _with_distributions(links, at, by):
        performance[:, link] = by.between(source, target, sensitivity)[0] if by is not None else np.nan
    return performance


def drawn_performance(
    links: Links, at: Indices, trips: npt.NDArray[np.floating], sensitivity: Sensitivity, by: RiskModel | None
) -> Floats:
    """Return `link_performance` by each draw of the band, shape (DRAWS, windows, links)."""
    added = added_on(links, at, trips, sensitivity)
    draws = np.where(np.isfinite(added), sensitivity.band.draws(np.nan_to_num(added)), np.nan)
    for link, source, target in _with_distributions(links, at, by):
        draws[:, :, link] = by.between(source, target, sensitivity)[1] if by is not None else np.nan
    return draws


def _with_distributions(links: Links, at: Indices, by: RiskModel | None) -> list[tuple[int, int, int]]:
    """Return the links between two VMs whose source has distributions: its number, source and target."""
    if by is None:
        return []
    ends = zip(at[links.sources].tolist(), at[links.targets].tolist(), strict=True)
    return [
        (link, source, target)
        for link, (source, target) in enumerate(ends)
        if min(source, target) >= 0 and source != target and by.values.knows(source)
    ]


def _apply_risk(rows: Floats, counted: Counted, windows: int, risk: Risk) -> Floats:
    """Return the risk of the performance in each window; slow round trips have the lowest performance. NaN if empty.

    `rows` has shape (curves, round trips), the result (curves, windows).
    """
    totals = np.bincount(counted.owner, counted.times, windows)
    order = np.lexsort((counted.round_trip_ns, counted.owner))
    owner, count = counted.owner[order], counted.times[order]
    reach = np.cumsum(count) - (np.cumsum(totals) - totals)[owner]
    if risk is Risk.p99:
        first = (reach >= 0.99 * totals[owner] - 1e-9) & (reach - count < 0.99 * totals[owner] - 1e-9)
        worst = np.full((len(rows), windows), np.nan)
        worst[:, owner[first]] = rows[:, order[first]]
        return worst
    share = TAIL if risk is Risk.cvar else 1.0
    part = np.minimum(np.clip(reach - (1 - share) * totals[owner], 0.0, None), count)
    sums = [np.bincount(owner, part * row[order], windows) for row in rows]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.stack(sums) / (share * totals))
