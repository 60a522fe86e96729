"""Distinct paths behind the source ports of a pair, inferred from the delays of one direction. Pure.

Equal-cost routing sends a flow over one of several paths by its addresses and ports (RFC 2992). Ports on one path share
its base delay; their exchanges alternate, so queues and clocks change all ports alike. The first quartile of a port's
delays has an interval by order statistics (David and Nagaraja, Order Statistics, 7.1). Ports whose intervals overlap
are taken to share a path. The number of paths is a lower bound: paths of equal delay look like one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAMPLES = 20
"""Fewest delays of a port that place it on a path."""
# First quartile: below most queues, and less extreme than a minimum.
_QUANTILE = 0.25
# Normal quantile of the interval: one of 64 ports falls outside its own in about one of 40 sweeps.
_Z = 3.5
# Ports of one path may differ by this: timestamps of separate sockets, ns, and share of the delay.
_RESOLUTION_NS, _RESOLUTION = 1_000, 0.005
# Excess of losses of a path, in standard deviations of those of the others, from which it is lossy.
_LOSS_Z = 4.0


@dataclass(frozen=True)
class PortPath:
    """Path of one direction: the places of its ports, its base delay and the excess over the fastest path, ns.

    `lossy`: it loses more than the other paths do, beyond chance.
    """

    ports: tuple[int, ...]
    base_ns: int
    slower_by_ns: int
    sent: int
    lost: int
    lossy: bool


@dataclass(frozen=True)
class _Base:
    port: int
    base: float
    low: float
    high: float


def paths_of(
    ports: int, flow: Sequence[int], delays_ns: Sequence[int | None], lost: Sequence[bool | None]
) -> list[PortPath]:
    """Return the distinct paths of `ports` source ports, fastest first. Ports with too few delays are on none."""
    flows = np.asarray(flow, np.int64)
    delays = np.array([math.nan if delay is None else delay for delay in delays_ns], np.float64)
    sent = np.bincount(flows, minlength=ports)
    losses = np.bincount(flows[np.array([one is True for one in lost], bool)], minlength=ports)
    bases = [base for port in range(ports) if (base := _base(port, delays[flows == port])) is not None]
    groups: list[list[_Base]] = []
    for base in sorted(bases, key=lambda one: one.low):
        if groups and base.low <= max(one.high for one in groups[-1]) + _resolution_ns(base.base):
            groups[-1].append(base)
        else:
            groups.append([base])
    fastest = _centre(groups[0]) if groups else 0
    return [
        PortPath(
            ports=tuple(sorted(places := [one.port for one in group])),
            base_ns=_centre(group),
            slower_by_ns=_centre(group) - fastest,
            sent=int(sent[places].sum()),
            lost=int(losses[places].sum()),
            lossy=_is_lossy(int(sent[places].sum()), int(losses[places].sum()), int(sent.sum()), int(losses.sum())),
        )
        for group in groups
    ]


def _base(port: int, delays: np.ndarray[tuple[int], np.dtype[np.float64]]) -> _Base | None:
    known = np.sort(delays[~np.isnan(delays)])
    n = known.size
    if n < SAMPLES:
        return None
    middle, reach = n * _QUANTILE, _Z * math.sqrt(n * _QUANTILE * (1 - _QUANTILE))
    low, high = (int(np.clip(rank, 0, n - 1)) for rank in (math.floor(middle - reach), math.ceil(middle + reach)))
    return _Base(port, float(known[int(middle)]), float(known[low]), float(known[high]))


def _centre(group: Sequence[_Base]) -> int:
    return round(float(np.median([one.base for one in group])))


def _resolution_ns(base: float) -> float:
    return max(_RESOLUTION_NS, _RESOLUTION * abs(base))


def _is_lossy(sent: int, lost: int, all_sent: int, all_lost: int) -> bool:
    """Return whether the losses of a part exceed those of the rest beyond chance (two proportions, pooled)."""
    rest_sent, rest_lost = all_sent - sent, all_lost - lost
    if sent == 0 or rest_sent == 0:
        return False
    pooled = all_lost / all_sent
    spread = math.sqrt(pooled * (1 - pooled) * (1 / sent + 1 / rest_sent))
    return lost / sent - rest_lost / rest_sent > _LOSS_Z * spread > 0
