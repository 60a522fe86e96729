"""Jain's fairness index, (Σx)² / (n Σx²), over the shares of VMs, applications, or flows of a path.

It is 1 when all get the same, and k/n when k of n share everything equally (R. Jain, D. Chiu, W. Hawe, "A quantitative
measure of fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301, 1984). The share
of a VM or a flow is the requests per second of a client with one request in flight: 1 / its median round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from sinemora.measurements.aggregate.matrix import Pairs
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import FLOW_COUNT, FLOW_P50
from sinemora.measurements.codec.llq16 import Ints

Shares = npt.NDArray[np.float64]

ALERT_BELOW = 0.883
"""Default of alerts: the mean index of the less fair of two transports in table 5.1 of Z. Nabi, "Mission Control",
University of Cambridge, 2012."""
FLOW_EXCHANGES_MIN = 5
"""Exchanges in each direction from which a flow counts: the median of fewer moves with each of them."""


@dataclass(frozen=True, slots=True)
class FlowShares:
    """Shares of the flows of pairs with several source ports, NaN where a flow has too few exchanges.

    `clients` and `targets`: VM keys by pair. `shares`: requests per second, the flows of all pairs one after the other;
    `firsts`: where those of each pair begin, ascending.
    """

    clients: Ints
    targets: Ints
    firsts: Ints
    shares: Shares

    def of(self, pair: int) -> Shares:
        """Return the shares of the flows of one pair, in requests per second."""
        end = self.firsts[pair + 1] if pair + 1 < self.firsts.size else self.shares.size
        return self.shares[self.firsts[pair] : end]

    def indices(self) -> Shares:
        """Return the index of each pair; NaN below two flows with a share."""
        if not self.firsts.size:
            return np.empty(0)
        known = np.where(np.isfinite(self.shares), self.shares, 0.0)
        sums, squares, counts = (
            np.add.reduceat(values, self.firsts) for values in (known, known * known, (known > 0).astype(np.float64))
        )
        return np.where(counts > 1, sums * sums / np.maximum(counts * squares, np.finfo(float).tiny), np.nan)


def jain_index(shares: Sequence[float]) -> float | None:
    """Return the index of some shares, from 1/n to 1; None without a share above 0. Raises ValueError below 0."""
    if not all(isfinite(share) and share >= 0 for share in shares):
        raise ValueError("shares must be finite and at least 0")
    largest = max(shares, default=0.0)
    if largest == 0:
        return None
    # Relative to the largest, so that squares neither overflow nor vanish.
    relative = [share / largest for share in shares]
    return min(sum(relative) ** 2 / (len(relative) * sum(share * share for share in relative)), 1.0)


def vm_shares(trips_ns: npt.NDArray[np.floating]) -> Shares:
    """Return the share of each VM, requests per second: 1 / median of its round trips, ns [source][target].

    NaN without a known round trip.
    """
    trips = np.where(trips_ns > 0, trips_ns, np.nan).astype(np.float64)
    known = np.isfinite(trips).any(axis=1)
    shares = np.full(trips.shape[0], np.nan)
    shares[known] = 1e9 / np.nanmedian(trips[known], axis=1)
    return shares


def flow_shares(pairs: Pairs) -> FlowShares:
    """Return the shares of the flows of pairs with several source ports, by their medians out and back."""
    stats = pairs.stats
    widths = frame.widths_of(stats.flows) if stats.by_flow.shape[2] else np.zeros(stats.flows.size, np.int64)
    several = np.flatnonzero(widths)
    counted = (stats.by_flow[FLOW_COUNT] >= FLOW_EXCHANGES_MIN).all(axis=0)
    trips = stats.by_flow[FLOW_P50].astype(np.int64).sum(axis=0)
    shares = np.full(trips.size, np.nan)
    known = counted & (trips > 0)
    shares[known] = 1e9 / trips[known]
    firsts = (np.cumsum(widths) - widths)[several]
    return FlowShares(pairs.clients[several], pairs.targets[several], firsts, shares)
