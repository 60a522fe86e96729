"""The instance that the product forms of a random tenant, without its database."""

from uuid import UUID

import numpy as np

from lab.benchmarks.recommending.tenants import WINDOW_S, WINDOWS, ZONES, Star, Tenant
from sinemora.applications.curves.core.band import transfer_band
from sinemora.applications.curves.core.library import published
from sinemora.applications.performance import Sensitivity, graph, star
from sinemora.recommendations.core import split
from sinemora.recommendations.core.instance import Deployment, Instance, Machine, TaskDemand


def instance_of(tenant: Tenant) -> Instance:
    """Return the instance of a tenant whose round trips are the same in every window."""
    vms = len(tenant.slots)
    machines = tuple(
        Machine(UUID(int=vm), f"vm-{vm}", UUID(int=vm % ZONES), f"z{vm % ZONES}", None, slots, millicores, None, None)
        for vm, (slots, millicores) in enumerate(zip(tenant.slots, tenant.millicores, strict=True))
    )
    parts = split.split(np.arange(WINDOWS) * WINDOW_S, np.full(WINDOWS, WINDOW_S))
    trips = np.broadcast_to((tenant.round_trip_us * 1e3).astype(np.float32), (WINDOWS, vms, vms)).copy()
    trips[:, np.arange(vms), np.arange(vms)] = np.nan
    return Instance(
        machines,
        tuple(_deployment(tenant, place, vms) for place in range(len(tenant.applications))),
        training=trips[parts.training],
        holdout=trips[parts.holdout],
        training_blocks=parts.blocks[parts.training],
        holdout_blocks=parts.blocks[parts.holdout],
        gap_s=parts.gap_s,
        shortage=parts.shortage,
    )


def _deployment(tenant: Tenant, place: int, vms: int) -> Deployment:
    application = tenant.applications[place]
    entry = published(application.curve)
    apart = {other for other, one in enumerate(tenant.applications) if one.apart_from == place}
    apart |= set() if application.apart_from is None else {application.apart_from}
    return Deployment(
        id=UUID(int=place),
        name=application.name,
        tasks=tuple(_task(application, place, task) for task in range(len(application.at))),
        root=0 if application.root else None,
        links=star(0, len(application.at)) if application.root else graph(application.links),
        sensitivity=Sensitivity(entry.curve, transfer_band(entry.key, entry.curve, entry.residuals), 0.0),
        at=np.array(application.at, np.intp),
        objective=None,
        moves_max=application.moves_max,
        move_cost=0.0,
        allowed=np.isin(np.arange(vms) % ZONES, application.zones) if application.zones else None,
        per_vm_max=application.spread[0],
        per_host_max=None,
        per_zone_max=application.spread[1],
        apart_from=frozenset(apart),
        chosen=True,
    )


def _task(application: Star, place: int, task: int) -> TaskDemand:
    slots, millicores = application.takes[task]
    return TaskDemand(UUID(int=place << 32 | task), f"task-{task}", application.pinned[task], slots, millicores, 0)
