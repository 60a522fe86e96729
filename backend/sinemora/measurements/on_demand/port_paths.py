"""Distinct paths behind the source ports of a pair, inferred from the delays of one direction. Pure.

Equal-cost routing sends a flow over one of several paths by its addresses and ports (RFC 2992). Ports on one path share
its base delay; their exchanges alternate, so queues and clocks change all ports alike. A low quantile of a port's
delays has an interval by order statistics (David and Nagaraja, Order Statistics, 7.1). Ports whose intervals overlap
are taken to share a path. The number of paths is a lower bound: paths of equal delay look like one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from sinemora.measurements.on_demand.summary import Delays, Exchanges, Losses

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SAMPLES = 20
"""Fewest delays of a port that place it on a path."""
# Below the queues also of a busy machine, where a quartile hides 50 µs, and less extreme than a minimum.
_QUANTILE = 0.1
# Normal quantile of the interval: one of 64 ports falls outside its own in about one of 40 sweeps.
_Z = 3.5
# Ports of one path may differ by this: timestamps of separate sockets, ns, and share of the delay.
_RESOLUTION_NS, _RESOLUTION = 1_000, 0.005
# Excess of losses of a path, in standard deviations of those of the others, from which it is lossy.
_LOSS_Z = 4.0
PORTS_LEAST = 16
"""Fewest ports of a sweep that is advised on: of fewer, halves of it agree by chance."""
# Least share of the ports that either of two sweeps, or halves of one, finds slow that both find slow.
_AGREEING = 0.8
# Least part of the difference of two classes of ports that is free of ports between them. Programs that share the
# machine delay some ports more than others, time and again, but by all amounts.
_EMPTY = 0.25
# Standard deviations of the bases of ports, between which half a sweep tells two paths apart.
_TOLD_APART = 6


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
class PortSweep:
    """Sweep of the source ports of one VM towards another: excess of each port over the fastest one, ns, both ways.

    `fast` are the ports without excess, `hidden_ns` is the difference that noise can hide.
    """

    at: datetime
    excess_ns: dict[int, int]
    fast: frozenset[int]
    hidden_ns: int


@dataclass(frozen=True)
class PortAdvice:
    """Which source ports are faster by the newest sweep, and `faster_by_ns`, the median excess of the others.

    Of `compared` sweeps of these ports, `agreeing` found the same ones; those since `since` without an exception.
    """

    newest: PortSweep
    faster_by_ns: int
    since: datetime
    agreeing: int
    compared: int


@dataclass(frozen=True)
class _Base:
    port: int
    base: float
    low: float
    high: float


def paths_of(ports: int, flow: Sequence[int], delays_ns: Delays, lost: Losses) -> list[PortPath]:
    """Return the distinct paths of `ports` source ports, fastest first. Ports with too few delays are on none."""
    flows = np.asarray(flow, np.int64)
    sent = np.bincount(flows, minlength=ports)
    losses = np.bincount(flows[np.array([one is True for one in lost], bool)], minlength=ports)
    delays = np.array([math.nan if delay is None else delay for delay in delays_ns], np.float64)
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


def sweep_of(at: datetime, ports: Sequence[int], exchanges: Exchanges) -> PortSweep | None:
    """Return the sweep of exchanges over these source ports; None if fewer than `PORTS_LEAST` have enough delays.

    In each direction ports are cut where the classes differ most (N. Otsu, IEEE Transactions on Systems, Man, and
    Cybernetics 9(1), 1979), which always finds two; they count if there is nothing between them, and both halves of
    each port's exchanges find the same.
    """
    flows = np.asarray(exchanges.flow, np.int64)
    is_odd = np.zeros(flows.size, np.bool_)
    for port in range(len(ports)):
        is_odd[flows == port] = np.arange(int((flows == port).sum())) % 2 == 1
    excess, hidden = np.zeros(len(ports)), 0.0
    known = np.zeros(len(ports), np.bool_)
    for one_way in (exchanges.outbound_ns, exchanges.inbound_ns):
        delays = np.array([math.nan if delay is None else delay for delay in one_way], np.float64)
        bases, *halves = (_bases_of(len(ports), flows[part], delays[part]) for part in (slice(None), is_odd, ~is_odd))
        measured = np.isfinite(bases)
        if measured.sum() < PORTS_LEAST:
            continue
        known |= measured
        slow = _slow(bases)
        others = bases[measured & ~slow]
        by = float(np.median(bases[slow]) - np.median(others)) if slow.any() else 0.0
        empty = float(bases[slow].min() - others.max()) if slow.any() else 0.0
        if empty >= _EMPTY * by > 0 and all(_agree(slow, _slow(half)) for half in halves):
            excess[slow] += by
            hidden += _resolution_ns(float(np.median(bases[measured])))
        else:
            hidden += max(_TOLD_APART * bases[measured].std(), _resolution_ns(float(np.median(bases[measured]))))
    if not known.any():
        return None
    fast = excess <= excess[known].min() + _RESOLUTION_NS
    return PortSweep(
        at,
        {port: round(excess[place]) for place, port in enumerate(ports) if known[place]},
        frozenset(port for place, port in enumerate(ports) if known[place] and fast[place]),
        round(hidden),
    )


def advise(sweeps: Sequence[PortSweep]) -> PortAdvice | None:
    """Return the advice of the sweeps of a VM towards another, in any order; None without any."""
    if not sweeps:
        return None
    newest, *older = sorted(sweeps, key=lambda sweep: sweep.at, reverse=True)
    slow = [excess for port, excess in newest.excess_ns.items() if port not in newest.fast]
    same = [sweep for sweep in older if len(newest.excess_ns.keys() & sweep.excess_ns.keys()) > 1]
    agree = [_same(newest, sweep) for sweep in same]
    unbroken = agree.index(False) if False in agree else len(agree)
    return PortAdvice(
        newest,
        round(float(np.median(slow))) if slow else 0,
        [newest, *same][unbroken].at,
        1 + sum(agree),
        1 + len(same),
    )


def _same(newest: PortSweep, older: PortSweep) -> bool:
    ports = sorted(newest.excess_ns.keys() & older.excess_ns.keys())
    slow, before = (np.array([port not in sweep.fast for port in ports]) for sweep in (newest, older))
    return _agree(slow, before)


def _bases_of(ports: int, flows: Ints, delays: Floats) -> Floats:
    """Return the low quantile of each port's delays; NaN where they are too few."""
    bases = np.full(ports, np.nan)
    for port in range(ports):
        known = delays[(flows == port) & ~np.isnan(delays)]
        if known.size >= SAMPLES:
            bases[port] = np.quantile(known, _QUANTILE)
    return bases


def _slow(bases: Floats) -> Flags:
    """Return the ports above the cut that tells two classes of ports best apart."""
    ranked = np.sort(bases[np.isfinite(bases)])
    if ranked.size < 2:
        return np.zeros(bases.size, np.bool_)
    count = np.arange(1, ranked.size)
    below = np.cumsum(ranked)[:-1]
    between = (below / count - (ranked.sum() - below) / (ranked.size - count)) ** 2 * count * (ranked.size - count)
    cut = int(np.argmax(between))
    return np.asarray(bases > (ranked[cut] + ranked[cut + 1]) / 2)


def _agree(slow: Flags, other: Flags) -> bool:
    """Return whether nearly the same ports are slow; also if none is, either way."""
    return int((slow & other).sum()) >= _AGREEING * int((slow | other).sum())


def _base(port: int, delays: Floats) -> _Base | None:
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
