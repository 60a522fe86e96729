"""What a tenant could do that no placement on the VMs there are can: swap roles, rent a VM elsewhere, rent some more.

A VM that does not exist yet is taken to be like one of those measured in its zone or group: each of them stands in for
it once, with all its round trips, so that a good or a bad VM stays one. How they differ is what is not known.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from sinemora.applications.performance import Indices, reached
from sinemora.curves.core.curve import Floats
from sinemora.recommendations.holdout import Expected, Gain, series
from sinemora.recommendations.instance import Deployed, Trips, World
from sinemora.recommendations.optimize import expected

DRAWS = 400
_SWAPS_MOST = 60
"""Tasks of an application up to which all pairs of roles are tried; beyond, the root's with each."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something to do for one application, and what it brings; `draws`: how many VMs stood in for new ones.

    Prices are of an hour: for good, and once for what is given back again.
    """

    kind: str
    tasks: tuple[int, ...]
    zone: str | None
    host: str | None
    count: int
    gain: Gain
    draws: int
    price_change_per_hour: float | None
    price_once: float | None


def options(world: World, place: int, extra_most: int, price: float) -> list[Option]:
    """All there is to do for an application, the best first; a gain must exceed `price` to be worth it."""
    found = [
        *_swaps(world, place, price),
        *_recreations(world, place, price),
        *_extras(world, place, extra_most, price),
    ]
    return sorted(found, key=lambda one: -one.gain.gain.mean)


def _swaps(world: World, place: int, price: float) -> Iterator[Option]:
    """The best change of roles between two tasks, by the windows to choose on; told by the others."""
    one = world.applications[place]
    free = [t for t, need in enumerate(one.tasks) if one.at[t] >= 0 and not need.pinned]
    firsts = free if one.root is None and len(free) <= _SWAPS_MOST else [one.root if one.root is not None else -1]
    best: tuple[float, Indices, tuple[int, int]] | None = None
    here = _mean(world.choosing, one, one.at)
    for a in firsts:
        for b in free:
            if a not in free or a == b or one.at[a] == one.at[b] or one.tasks[a].takes != one.tasks[b].takes:
                continue
            at = one.at.copy()
            at[a], at[b] = one.at[b], one.at[a]
            value = _mean(world.choosing, one, at)
            if value > here and (best is None or value > best[0]):
                best = (value, at, (a, b))
    if best is None:
        return
    before = tuple(other.at for other in world.applications)
    after = tuple(best[1] if at == place else other.at for at, other in enumerate(world.applications))
    gained = expected(world, before, after, [place], price)
    if gained is not None:
        yield Option("swap", best[2], None, None, 0, gained, 0, 0.0, 0.0)


def _recreations(world: World, place: int, price: float) -> Iterator[Option]:
    """Each VM of the application made anew in each other zone or group of VMs on one host."""
    one = world.applications[place]
    before = series(one.links, one.at, world.judging, one.sensitivity).performance
    for machine in sorted({int(at) for at in one.at if at >= 0}):
        tasks = tuple(np.flatnonzero(one.at == machine).tolist())
        if any(one.tasks[task].pinned for task in tasks) or _shared(world, place, machine):
            continue
        for zone, host, like in _groups(world, machine):
            if one.allowed is not None and not one.allowed[like[0]]:
                continue
            others = [u for u in like if not (one.at[np.setdiff1d(np.arange(one.at.size), tasks)] == u).any()]
            outcomes = []
            for stand_in in others:
                at = np.where(one.at == machine, stand_in, one.at)
                outcomes.append(series(one.links, at, world.judging, one.sensitivity).performance)
            gained = _told(before, np.array(outcomes), price) if outcomes else None
            if gained is not None:
                change = _price(world, others) if _price(world, [machine]) is not None else None
                if change is not None:
                    change -= _price(world, [machine]) or 0.0
                yield Option("recreate", tasks, zone, host, 1, gained, len(outcomes), change, None)


def _extras(world: World, place: int, most: int, price: float) -> Iterator[Option]:
    """k more VMs in a zone for the tasks of a star; the best stay, the others are given back after an hour."""
    one = world.applications[place]
    if one.root is None or one.at[one.root] < 0:
        return
    root = int(one.at[one.root])
    tasks = [t for t, need in enumerate(one.tasks) if t != one.root and one.at[t] >= 0 and not need.pinned]
    fixed = [t for t in range(len(one.tasks)) if t != one.root and t not in tasks]
    if not tasks:
        return
    chosen, judged = (_from_root(trips, one, root) for trips in (world.choosing, world.judging))
    if not np.isfinite(judged[one.at[tasks]]).all():
        return
    here = one.at[tasks]
    staying = judged[one.at[[t for t in fixed if one.at[t] >= 0]]]
    before = float(np.concatenate([judged[here], staying]).mean())
    rng = np.random.default_rng(7)
    for zone, host, like in _groups(world, None):
        known = [u for u in like if u != root and np.isfinite(chosen[u]) and np.isfinite(judged[u])]
        if host is not None or len(known) < 2 or (one.allowed is not None and not one.allowed[like[0]]):
            continue
        for count in range(1, most + 1):
            after = np.empty(DRAWS)
            for draw in range(DRAWS):
                places = np.concatenate([here, rng.choice(known, count)])
                kept = places[np.argsort(-chosen[places], kind="stable")[: len(tasks)]]
                after[draw] = np.concatenate([judged[kept], staying]).mean()
            low, high = np.quantile(after, [0.025, 0.975])
            gained = Gain(
                Expected(before, before, before, len(world.judging)),
                Expected(float(after.mean()), float(low), float(high), len(world.judging)),
                Expected(float(after.mean()) - before, float(low) - before, float(high) - before, len(world.judging)),
                float((after - before > price).mean()),
            )
            hour = _price(world, known)
            once = None if hour is None else hour * count
            yield Option("over_allocate", tuple(tasks), zone, None, count, gained, len(known), 0.0, once)


def _told(before: Floats, outcomes: Floats, price: float) -> Gain | None:
    """What stand-ins of shape (VMs, windows) tell of one more of their kind: a prediction, by Student's t."""
    known = np.isfinite(before) & np.isfinite(outcomes).all(axis=0)
    if not known.any():
        return None
    here, there = float(before[known].mean()), outcomes[:, known].mean(axis=1)
    mean, draws = float(there.mean()), len(there)
    windows = int(known.sum())
    start = Expected(here, here, here, windows)
    if draws == 1:  # how VMs of that kind differ cannot be told from one
        return Gain(start, Expected(mean, 0.0, 1.0, windows), Expected(mean - here, -1.0, 1.0, windows), 0.5)
    error = max(float(there.std(ddof=1)) * np.sqrt(1 + 1 / draws), 1e-4)
    half = float(stdtrit(draws - 1, 0.975)) * error
    after = Expected(mean, max(mean - half, 0.0), min(mean + half, 1.0), windows)
    gain = Expected(mean - here, max(mean - half - here, -1.0), min(mean + half - here, 1.0), windows)
    return Gain(start, after, gain, float(stdtr(draws - 1, (mean - here - price) / error)))


def _groups(world: World, machine: int | None) -> Iterator[tuple[str, str | None, list[int]]]:
    """Zones, and hosts that were named, other than those a machine is in: (zone, host, machines)."""
    zones: dict[object, list[int]] = {}
    hosts: dict[str, list[int]] = {}
    for at, vm in enumerate(world.machines):
        if at != machine:
            zones.setdefault(vm.zone_id, []).append(at)
            if vm.host is not None:
                hosts.setdefault(vm.host, []).append(at)
    own = None if machine is None else world.machines[machine]
    for like in zones.values():
        if own is None or world.machines[like[0]].zone_id != own.zone_id:
            yield world.machines[like[0]].zone, None, like
    for host, like in hosts.items():
        if own is None or host != own.host:
            yield world.machines[like[0]].zone, host, like


def _shared(world: World, place: int, machine: int) -> bool:
    return any(at != place and (one.at == machine).any() for at, one in enumerate(world.applications))


def _from_root(trips: Trips, one: Deployed, root: int) -> Floats:
    """Performance of a task on every machine, mean over windows, NaN where unknown."""
    rows = trips[:, root, :].astype(np.float64)
    rows[:, root] = 0.0
    known = np.isfinite(rows)
    kept = np.where(known, one.sensitivity.curve(one.sensitivity.added_us(np.nan_to_num(rows))), 0.0)
    counted = known.sum(axis=0)
    return np.where(counted > 0, kept.sum(axis=0) / np.maximum(counted, 1), np.nan)


def _mean(trips: Trips, one: Deployed, at: Indices) -> float:
    found = reached(one.links, at, trips, one.sensitivity).performance
    known = np.isfinite(found).any(axis=0)
    if not known.all():
        return -np.inf
    return float(np.average(np.nanmean(found, axis=0), weights=one.links.weights))


def _price(world: World, machines: list[int]) -> float | None:
    prices = [price for machine in machines if (price := world.machines[machine].price_per_hour) is not None]
    return float(np.mean(prices)) if prices else None
