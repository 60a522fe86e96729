"""Plan of transfers that share a network: the bound of the finish, rates, connections, order.

In proportion to their bytes, all transfers finish together at the bound T* = max over links of bytes / capacity, the
least time in which any schedule moves the bytes (weighted flow assignment of Orchestra, as Z. Nabi, "Mission Control",
2012, uses it). TCP shares a link by connections, so the number of connections of a pair stands for its weight.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.advisors.transfers.core.network import Floats, Indices, Network

CONNECTIONS_MAX = 32
"""Default most connections of one pair: more cost memory and slow start, and shares hardly get closer."""
_SCALES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """Transfers between hosts of a network: indices and bytes, shape (transfers,).

    `connection_rate`: most bytes/s of one connection, by its round trip and loss; infinite where unknown.
    """

    sources: Indices
    targets: Indices
    size: Floats
    connection_rate: Floats

    def __len__(self) -> int:
        return int(self.size.size)


def shuffle(size_bytes: float, reducers: Floats) -> Transfers:
    """Return the shuffle of a sort (Nabi, section 5.1): every worker sends each other one a share of its part.

    `reducers` are the relative volumes that the reducers get, one on each worker. What stays on a worker is left out.
    """
    workers = reducers.size
    sources, targets = np.nonzero(~np.eye(workers, dtype=bool))
    size = size_bytes / workers * reducers[targets] / reducers.sum()
    return Transfers(sources, targets, size, np.full(size.size, np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Bound T* (s), the link that sets it, and of each transfer: rate (bytes/s), connections and place in the order."""

    bound_s: float
    bottleneck: int
    rates: Floats
    connections: npt.NDArray[np.int64]
    order: Indices


def bound(network: Network, transfers: Transfers) -> tuple[float, int]:
    """Return T* in seconds and the link that sets it."""
    links = network.links(transfers.sources, transfers.targets)
    capacities = network.capacities
    used = links >= 0
    load = np.bincount(links[used], np.broadcast_to(transfers.size[:, None], links.shape)[used], capacities.size)
    times = load / capacities
    return float(times.max()), int(times.argmax())


def plan(network: Network, transfers: Transfers, connections_max: int = CONNECTIONS_MAX) -> Plan:
    """Return the plan of some transfers, at least one."""
    bound_s, bottleneck = bound(network, transfers)
    rates = transfers.size / bound_s
    connections = _connections(transfers.size, connections_max)
    # A pair whose connections are slow by round trip or loss needs more of them to reach its rate.
    needed = np.ceil(rates / transfers.connection_rate)
    connections = np.minimum(np.maximum(connections, needed.astype(np.int64)), connections_max)
    # The longest first: where connections are limited, they would end last.
    order = np.empty(len(transfers), np.intp)
    order[np.lexsort((np.arange(len(transfers)), -transfers.size))] = np.arange(len(transfers))
    return Plan(bound_s, bottleneck, rates, connections, order)


def _connections(size: Floats, most: int) -> npt.NDArray[np.int64]:
    """Return numbers of connections whose ratios are close to those of the sizes; equal sizes have one each."""
    weight = size / size.max()
    if weight.min() > 1 - 1e-9:
        return np.ones(size.size, np.int64)
    best: tuple[float, npt.NDArray[np.int64]] | None = None
    for scale in np.unique(np.linspace(1, most, min(_SCALES, most)).round()):
        counts = np.maximum(np.rint(weight * scale), 1)
        share = counts / (weight * scale)
        # Errors of large transfers delay the finish; small ones are done long before.
        error = float(np.average(np.abs(share / np.average(share, weights=size) - 1), weights=size))
        if best is None or error < best[0] - 1e-3:
            best = (error, counts.astype(np.int64))
    return np.ones(size.size, np.int64) if best is None else best[1]


def connection_rate(round_trip_s: float, loss: float, window_bytes: float, segment_bytes: float = 1448.0) -> float:
    """Return the most bytes/s of one TCP connection: its window each round trip, and the loss limit.

    The loss limit is segment / (round trip · √(2 loss / 3)): M. Mathis et al., ACM CCR 27(3), 1997.
    """
    if round_trip_s <= 0:
        return float("inf")
    by_window = window_bytes / round_trip_s
    return by_window if loss <= 0 else min(by_window, segment_bytes / (round_trip_s * (2 * loss / 3) ** 0.5))
