"""Instances of the optimiser without a database: of random tenants, and of any machines, applications and delays."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from lab.benchmarks.recommending.tenants import WINDOW_S, WINDOWS, ZONES, Star, Tenant
from sinemora.applications.curves.core.band import transfer_band
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.library import published
from sinemora.applications.performance import Links, Sensitivity, graph, star
from sinemora.recommendations.core import split
from sinemora.recommendations.core.instance import Deployment, Instance, Machine, TaskDemand


def instance(machines: Sequence[Machine], applications: Sequence[Deployment], trips: Floats, window_s: int) -> Instance:
    """Return an instance with the round trips of consecutive windows, ns, shape (windows, VMs, VMs)."""
    parts = split.split(np.arange(len(trips)) * window_s, np.full(len(trips), window_s))
    return Instance(
        tuple(machines),
        tuple(applications),
        training=trips[parts.training].astype(np.float32),
        holdout=trips[parts.holdout].astype(np.float32),
        training_blocks=parts.blocks[parts.training],
        holdout_blocks=parts.blocks[parts.holdout],
        gap_s=parts.gap_s,
        shortage=parts.shortage,
    )


def machine(at: int, zone: int, slots: int = 1, millicores: int | None = None) -> Machine:
    """Return a VM in a zone."""
    return Machine(UUID(int=at), f"vm-{at}", UUID(int=zone), f"zone-{zone}", None, slots, millicores, None, None)


def deployment(
    place: int, tasks: Sequence[TaskDemand], at: npt.ArrayLike, links: Links, sensitivity: Sensitivity, **limits: Any
) -> Deployment:
    """Return an application with root on machines; without the limits that are not given."""
    none: dict[str, Any] = dict.fromkeys(
        ("objective", "moves_max", "allowed", "per_vm_max", "per_host_max", "per_zone_max")
    )
    given = none | {"name": f"application-{place}", "root": 0, "move_cost": 0.0, "apart_from": frozenset()} | limits
    where = np.array(at, np.intp)
    return Deployment(
        id=UUID(int=place), tasks=tuple(tasks), at=where, links=links, sensitivity=sensitivity, chosen=True, **given
    )


def instance_of(tenant: Tenant) -> Instance:
    """Return the instance of a tenant whose round trips are the same in every window."""
    vms = len(tenant.slots)
    capacities = zip(tenant.slots, tenant.millicores, strict=True)
    machines = [
        replace(machine(vm, vm % ZONES, *capacity), region=f"region-{tenant.regions[vm % ZONES]}")
        for vm, capacity in enumerate(capacities)
    ]
    trips = np.broadcast_to(tenant.round_trip_us * 1e3, (WINDOWS, vms, vms)).copy()
    trips[:, np.arange(vms), np.arange(vms)] = np.nan
    applications = [_deployment(tenant, place, vms) for place in range(len(tenant.applications))]
    return instance(machines, applications, trips, WINDOW_S)


def _deployment(tenant: Tenant, place: int, vms: int) -> Deployment:
    application = tenant.applications[place]
    entry = published(application.curve)
    apart = {other for other, one in enumerate(tenant.applications) if one.apart_from == place}
    apart |= set() if application.apart_from is None else {application.apart_from}
    return deployment(
        place,
        [_task(application, place, task) for task in range(len(application.at))],
        application.at,
        star(0, len(application.at)) if application.root else graph(application.links),
        Sensitivity(entry.curve, transfer_band(entry.key, entry.curve, entry.residuals), 0.0),
        root=0 if application.root else None,
        moves_max=application.moves_max,
        allowed=np.isin(np.arange(vms) % ZONES, application.zones) if application.zones else None,
        per_vm_max=application.spread[0],
        per_zone_max=application.spread[1],
        apart_from=frozenset(apart),
        move_cost=application.move_cost,
        leaves_region=application.leaves_region,
        moves_for_others=application.moves_for_others,
    )


def _task(application: Star, place: int, task: int) -> TaskDemand:
    slots, millicores = application.takes[task]
    return TaskDemand(UUID(int=place << 32 | task), f"task-{task}", application.pinned[task], slots, millicores, 0)
