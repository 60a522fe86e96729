"""Brute force: every placement of a random tenant, with the documented objective and the published curves.

Only placements count that moves reach one after the other with every limit kept after each.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import ZONES, Star, Tenant
from sinemora.applications.curves.core.curve import Floats
from sinemora.recommendations.core.constraints import Occupancy
from sinemora.recommendations.placement.move_sequence import TaskMove, ordered

Placements = np.ndarray
"""Machine of each task of all applications, in order; shape (placements, tasks)."""
LEAST_PRICE, NEARER = 1e-4, 32
"""Least price of a move, and the share of it that a zone or region is worth that a task leaves, as documented."""
EQUAL = 1e-9
Step = tuple[int, int, int | None]
"""Task, target, and the machine on which it is parked before."""


def now_of(tenant: Tenant) -> Placements:
    """Return the placement of now, shape (1, tasks)."""
    return np.array([[vm for application in tenant.applications for vm in application.at]])


def owners(tenant: Tenant) -> np.ndarray:
    """Return the application of each task."""
    return np.repeat(np.arange(len(tenant.applications)), [len(one.at) for one in tenant.applications])


def all_placements(tenant: Tenant) -> Placements:
    """Return every placement that may be recommended, that of now among them; starts of waiting tasks are optional."""
    vms = range(len(tenant.slots))
    places = [
        [at] if pinned else [*vms] if at >= 0 else [-1, *vms]
        for application in tenant.applications
        for at, pinned in zip(application.at, application.pinned, strict=True)
    ]
    found = np.array(list(product(*places)), np.int64)
    found = found[kept(tenant, found)]
    return np.asarray(found[pays(tenant, found)])


def kept(tenant: Tenant, at: Placements) -> np.ndarray:
    """Return whether each placement keeps all limits; what breaks one now may stay so, but nothing joins it."""
    now, owner = now_of(tenant)[0], owners(tenant)
    takes = np.array([take for application in tenant.applications for take in application.takes])
    moved = (at != now) & (now >= 0)
    good = moved.sum(axis=1) <= tenant.moves_max
    for vm, room in enumerate(tenant.room):
        good &= ((at == vm) @ takes <= room).all(axis=1)
    region = np.array(tenant.regions)
    for number, application in enumerate(tenant.applications):
        columns = np.flatnonzero(owner == number)
        mine, home = at[:, columns], now[columns]
        if application.moves_max is not None:
            good &= moved[:, columns].sum(axis=1) <= application.moves_max
        if application.zones:
            good &= (np.isin(mine % ZONES, application.zones) | (mine < 0)).all(axis=1)
        if not application.leaves_region:
            good &= ((region[mine % ZONES] == region[home % ZONES]) | (home < 0) | (mine < 0)).all(axis=1)
        first = int(application.root)
        for level, most in enumerate(application.spread):
            if most is not None:
                there, before = (_domain(side[..., first:], level) for side in (mine, home))
                for value in range(len(tenant.slots)):
                    joined = ((there == value) & (before != value)).any(axis=1)
                    good &= ((there == value).sum(axis=1) <= most) | ~joined
        if application.apart_from is not None:
            theirs = at[:, owner == application.apart_from]
            for vm in range(len(tenant.slots)):
                good &= ~((mine == vm).any(axis=1) & (theirs == vm).any(axis=1))
    return np.asarray(good)


def _domain(at: np.ndarray, level: int) -> np.ndarray:
    return at if level == 0 else np.where(at < 0, -1, at % ZONES)


def pays(tenant: Tenant, at: Placements, parked: Sequence[int] = ()) -> np.ndarray:
    """Return whether each application gains what its own moves cost, starts a task, or moves for others.

    `parked`: application of each task that moves twice.
    """
    now, owner = now_of(tenant), owners(tenant)
    good = np.ones(len(at), np.bool_)
    for number, application in enumerate(tenant.applications):
        columns = owner == number
        moves = ((at != now) & (now >= 0))[:, columns].sum(axis=1) + parked.count(number)
        starts = ((at >= 0) & (now < 0))[:, columns].any(axis=1)
        paid = moves * max(application.move_cost, LEAST_PRICE)
        enough = starts | (moves == 0)
        gained = np.ones(len(at), np.bool_)
        for objective in {"loss", tenant.objective} - {"fair"}:
            before, after = (
                _performance(tenant, application, side[:, columns], objective) * len(application.links)
                for side in (now, at)
            )
            gained &= after - before >= paid - EQUAL
        good &= enough | gained | application.moves_for_others
    return good


def best(tenant: Tenant, found: Placements) -> np.ndarray:
    """Return the best of all placements that moves reach."""
    for place in np.argsort(-worth(tenant, found), kind="stable"):
        if reachable(tenant, found[place]):
            return np.asarray(found[place])
    raise LookupError("the placement of now needs no moves")


def reachable(tenant: Tenant, at: np.ndarray) -> bool:
    """Return whether moves lead to a placement with every limit kept after each, those of parked tasks counted."""
    now, owner = now_of(tenant)[0], owners(tenant)
    first = np.cumsum([0, *(len(one.at) for one in tenant.applications)])
    takes = [take for application in tenant.applications for take in application.takes]
    moves = [
        TaskMove((int(owner[task]), int(task - first[owner[task]])), int(now[task]), int(at[task]), takes[task])
        for task in np.flatnonzero(at != now)
    ]
    instance = instance_of(tenant)

    def may_park(parked: Sequence[TaskMove]) -> bool:
        count = Counter(move.task[0] for move in moves if not move.starts) + Counter(move.task[0] for move in parked)
        mosts = [application.moves_max for application in tenant.applications]
        own = all(most is None or count[place] <= most for place, most in enumerate(mosts))
        paid = pays(tenant, at[None], [move.task[0] for move in parked])
        return own and count.total() <= tenant.moves_max and bool(paid[0])

    here = tuple(application.at for application in instance.applications)
    return ordered(moves, Occupancy(instance, here), len(tenant.slots), may_park) is not None


def worth(tenant: Tenant, at: Placements) -> Floats:
    """Return the objective of each placement, larger is better, less the prices of moves and of zones left."""
    now, owner = now_of(tenant), owners(tenant)
    mean_links = float(np.mean([len(application.links) for application in tenant.applications]))
    prices = [max(application.move_cost, LEAST_PRICE) for application in tenant.applications]
    total = values(tenant, at)
    moved = (at != now) & (now >= 0)
    for number, application in enumerate(tenant.applications):
        scale = mean_links / len(application.links) if tenant.objective == "fair" else 1.0
        total -= prices[number] * scale * moved[:, owner == number].sum(axis=1)
    region = np.array(tenant.regions)
    left = (at % ZONES != now % ZONES).astype(int) + (region[at % ZONES] != region[now % ZONES])
    return np.asarray(total - min(prices) / NEARER * (left * moved).sum(axis=1))


def values(tenant: Tenant, at: Placements) -> Floats:
    """Return the performance of each placement as the objective sums it; a waiting task costs more than all links."""
    total, owner = np.zeros(len(at)), owners(tenant)
    mean_links = float(np.mean([len(application.links) for application in tenant.applications]))
    for number, application in enumerate(tenant.applications):
        weight = mean_links if tenant.objective == "fair" else float(len(application.links))
        total += weight * _performance(tenant, application, at[:, owner == number], tenant.objective)
    return np.asarray(total - 1e6 * (at < 0).sum(axis=1))


def needless(tenant: Tenant, at: np.ndarray, found: Placements) -> tuple[bool, bool]:
    """Return whether a placement that performs as well needs fewer moves, and whether one leaves fewer regions."""
    now, region = now_of(tenant), np.array(tenant.regions)
    found = found[values(tenant, found) >= values(tenant, at[None])[0] - EQUAL]
    moved, mine = ((side != now) & (now >= 0) for side in (found, at[None]))
    left, own = (
        ((region[side % ZONES] != region[now % ZONES]) & some).sum(axis=1)
        for side, some in ((found, moved), (at[None], mine))
    )
    count = moved.sum(axis=1)
    fewer = found[count < mine.sum()]
    nearer = found[(count <= mine.sum()) & (left < own[0])]
    return any(reachable(tenant, one) for one in fewer), any(reachable(tenant, one) for one in nearer)


def broken_step(tenant: Tenant, steps: Sequence[Step]) -> int | None:
    """Return the first step after which a limit is broken that was not before; None if there is none."""
    at, parked = now_of(tenant)[0].copy(), dict[int, int]()
    for number, (task, target, via) in enumerate(steps):
        if not _arrives(tenant, at, task, target if via is None else via):
            return number
        if via is not None:
            parked[task] = target
        for other in [task for task, end in parked.items() if _arrives(tenant, at, task, end)]:
            del parked[other]
    return len(steps) if parked else None


def _arrives(tenant: Tenant, at: np.ndarray, task: int, target: int) -> bool:
    """Move a task if every limit allows it now; how many moves there are is no matter of a step."""
    after, ends = at.copy(), np.cumsum([len(one.at) for one in tenant.applications])[:-1]
    after[task] = target
    applications = [
        replace(one, at=here.tolist(), moves_max=None)
        for one, here in zip(tenant.applications, np.split(at, ends), strict=True)
    ]
    if not kept(replace(tenant, applications=applications), after[None])[0]:
        return False
    at[task] = target
    return True


def _performance(tenant: Tenant, application: Star, at: Placements, objective: str) -> Floats:
    """Return the mean performance of an application's links by weight, or of slowdown its negative."""
    pairs, idle = tenant.performance(application), 1.0
    if objective == "slowdown":
        pairs, idle = -1 / np.clip(pairs, 0.1, 1.0), 0.0
    total = np.zeros(len(at))
    for a, b, weight in application.links:
        runs = (at[:, a] >= 0) & (at[:, b] >= 0)
        # Links of waiting tasks count as nothing lost: what waits counts by itself.
        total += weight * np.where(runs, pairs[at[:, a], at[:, b]], idle)
    return total / sum(weight for *_, weight in application.links)
