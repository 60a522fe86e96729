"""Fluid simulation of transfers that share links max-min fairly, weighted by connections, as TCP does on average.

Progressive filling: all rates rise in proportion to their weights until a link is full; the transfers of that link stop
rising, the others go on (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, section 6.5.2). Rates are computed
again whenever transfers end.
"""

import numpy as np
import numpy.typing as npt

from sinemora.advisors.transfers.core.network import Floats, Indices, Network
from sinemora.advisors.transfers.core.plan import Transfers

# Transfers that end within this share of the time from now count as ending together, so that thousands stay fast.
_TOGETHER = 1e-3


def finish_s(network: Network, transfers: Transfers, connections: npt.ArrayLike) -> Floats:
    """Return when each transfer ends (s) when all start at once, with these numbers of connections."""
    links = network.links(transfers.sources, transfers.targets)
    weights = np.asarray(connections, np.float64)
    limits = weights * transfers.connection_rate
    left = transfers.size.copy()
    ends = np.zeros(len(transfers))
    active = np.flatnonzero(left > 0)
    now = 0.0
    while active.size:
        rates = fair_rates(links[active], network.capacities, weights[active], limits[active])
        times = left[active] / rates
        step = float(times.min())
        done = times <= step * (1 + _TOGETHER) + _TOGETHER * now
        # What counts as done together takes until the last of them, so no finish is early.
        step = float(times[done].max())
        now += step
        left[active] = np.maximum(left[active] - rates * step, 0.0)
        ends[active[done]] = now
        active = active[~done]
    return ends


def fair_rates(links: Indices, capacities: Floats, weights: Floats, limits: Floats) -> Floats:
    """Return weighted max-min fair rates (bytes/s). `links` (transfers, n) has -1 where a transfer uses fewer.

    No rate exceeds its limit; every transfer is stopped by a full link or by its limit.
    """
    used = links >= 0
    rates = np.zeros(weights.size)
    rising = np.ones(weights.size, bool)
    room = capacities.astype(np.float64).copy()
    while rising.any():
        of_rising = used & rising[:, None]
        weight = np.bincount(
            links[of_rising], np.broadcast_to(weights[:, None], links.shape)[of_rising], capacities.size
        )
        per_weight = np.where(weight > 0, room / np.where(weight > 0, weight, 1), np.inf)
        # The level at which each transfer would stop: its fullest link, or its limit.
        level = np.minimum(np.where(used, per_weight[links], np.inf).min(axis=1), limits / weights)
        lowest = float(level[rising].min())
        stops = rising & (level <= lowest * (1 + 1e-9))
        rates[stops] = weights[stops] * lowest
        taken = used & stops[:, None]
        room -= np.bincount(links[taken], np.broadcast_to(rates[:, None], links.shape)[taken], capacities.size)
        np.maximum(room, 0.0, out=room)
        rising &= ~stops
    return rates
