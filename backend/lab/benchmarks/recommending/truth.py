"""Brute force: every placement of a random tenant, with the documented objective and the published curves.

Only placements count that moves reach one after the other: full VMs cannot swap tasks without a spare slot.
"""

from itertools import product

import numpy as np

from lab.benchmarks.recommending.tenants import ZONES, Star, Tenant
from sinemora.applications.curves.core.curve import Floats
from sinemora.recommendations.placement.move_sequence import TaskMove, ordered

Placements = np.ndarray
"""Machine of each task of all applications, in order; shape (placements, tasks)."""


def all_placements(tenant: Tenant) -> Placements:
    """Return every placement within all limits, that of now among them; starts of waiting tasks are optional."""
    vms = range(len(tenant.slots))
    places = [
        [at] if pinned else [*vms] if at >= 0 else [-1, *vms]
        for application in tenant.applications
        for at, pinned in zip(application.at, application.pinned, strict=True)
    ]
    found = np.array(list(product(*places)), np.int64)
    return np.asarray(found[kept(tenant, found)])


def kept(tenant: Tenant, at: Placements) -> np.ndarray:
    """Return whether each placement keeps all limits."""
    now = np.array([vm for application in tenant.applications for vm in application.at])
    owner = np.repeat(np.arange(len(tenant.applications)), [len(one.at) for one in tenant.applications])
    takes = np.array([take for application in tenant.applications for take in application.takes])
    moved = (at != now) & (now >= 0)
    good = moved.sum(axis=1) <= tenant.moves_max
    for vm, room in enumerate(tenant.room):
        good &= ((at == vm) @ takes <= room).all(axis=1)
    for number, application in enumerate(tenant.applications):
        mine = at[:, owner == number]
        if application.moves_max is not None:
            good &= moved[:, owner == number].sum(axis=1) <= application.moves_max
        if application.zones:
            good &= (np.isin(mine % ZONES, application.zones) | (mine < 0)).all(axis=1)
        counted = mine[:, 1:] if application.root else mine
        for most, domain in zip(application.spread, (counted, np.where(counted < 0, -1, counted % ZONES)), strict=True):
            if most is not None:
                for value in range(len(tenant.slots)):
                    good &= (domain == value).sum(axis=1) <= most
        if application.apart_from is not None:
            theirs = at[:, owner == application.apart_from]
            for vm in range(len(tenant.slots)):
                good &= ~((mine == vm).any(axis=1) & (theirs == vm).any(axis=1))
    return np.asarray(good)


def best(tenant: Tenant) -> float:
    """Return the objective of the best placement."""
    found = all_placements(tenant)
    reached = values(tenant, found)
    now = np.array([vm for application in tenant.applications for vm in application.at])
    takes = [take for application in tenant.applications for take in application.takes]
    free = tenant.room
    for vm, need in zip(now, takes, strict=True):
        if vm >= 0:
            free[vm] -= need
    for place in np.argsort(-reached):
        moves = [
            TaskMove((0, task), int(now[task]), int(vm), takes[task])
            for task, vm in enumerate(found[place])
            if vm != now[task]
        ]
        if not ordered(moves, free).stuck:
            return float(reached[place])
    raise LookupError("the placement of now needs no moves")


def values(tenant: Tenant, at: Placements) -> Floats:
    """Return the objective of each placement, larger is better; a waiting task costs more than all links."""
    total = np.zeros(len(at))
    first, weights = 0, 0.0
    mean_links = float(np.mean([len(application.links) for application in tenant.applications]))
    for application in tenant.applications:
        mine = at[:, first : first + len(application.at)]
        first += len(application.at)
        weight = mean_links if tenant.objective == "fair" else float(len(application.links))
        total += weight * _performance(tenant, application, mine)
        weights += weight
    return np.asarray(total / weights - 1e6 * (at < 0).sum(axis=1))


def _performance(tenant: Tenant, application: Star, at: Placements) -> Floats:
    """Return the mean performance of an application's links by weight, or of slowdown its negative."""
    pairs, idle = tenant.performance(application), 1.0
    if tenant.objective == "slowdown":
        pairs, idle = -1 / np.clip(pairs, 0.1, 1.0), 0.0
    total = np.zeros(len(at))
    for a, b, weight in application.links:
        runs = (at[:, a] >= 0) & (at[:, b] >= 0)
        # Links of waiting tasks count as nothing lost: what waits counts by itself.
        total += weight * np.where(runs, pairs[at[:, a], at[:, b]], idle)
    return total / sum(weight for *_, weight in application.links)
