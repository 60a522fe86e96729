"""Capacities of VMs that measurements give: rates of their token buckets, and of trials of the bulk sender."""

from uuid import UUID

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.advisors.transfers.core.network import Floats
from sinemora.advisors.transfers.schemas import CapacitySource, MeasuredCapacity
from sinemora.fleet.meshes.models import BulkKind, BulkOrder
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.token_buckets.models import Direction, TokenBucket

_TRIALS = 200
_CAPPED = 0.9
"""Share of the agents' own cap from which that cap, not the network, may have set the rate of a trial."""
_GBIT_OF_BYTES = 8e-9


def measured_capacities(session: Session, mesh: MeshState, hosts: list[str]) -> list[MeasuredCapacity]:
    """Return the capacities of the hosts that are known, in their order. A token bucket counts before trials."""
    ids = {member.id: member.name for member in mesh.members if member.name in hosts}
    known: dict[tuple[str, Direction], tuple[float, CapacitySource]] = {}
    for vm_id, direction, rate in _trials(session, mesh):
        place = (ids.get(vm_id, ""), direction)
        if vm_id in ids and rate > known.get(place, (0.0,))[0]:
            known[place] = (rate, CapacitySource.BULK_SENDER)
    for bucket in session.scalars(select(TokenBucket).where(TokenBucket.vm_id.in_(ids))):
        place = (ids[bucket.vm_id], Direction(bucket.direction))
        known[place] = (bucket.rate_bytes_per_s, CapacitySource.TOKEN_BUCKET)
    places = [(host, direction) for host in hosts for direction in Direction if (host, direction) in known]
    return [
        MeasuredCapacity(
            host=place[0], direction=place[1], gbit=known[place][0] * _GBIT_OF_BYTES, source=known[place][1]
        )
        for place in places
    ]


def limits(hosts: list[str], known: list[MeasuredCapacity], direction: Direction) -> Floats:
    """Return the capacity of each host in one direction, bytes/s, shape (hosts,); infinite where none is known."""
    rates = {one.host: one.gbit / _GBIT_OF_BYTES for one in known if one.direction is direction}
    return np.array([rates.get(host, np.inf) for host in hosts], np.float64)


def _trials(session: Session, mesh: MeshState) -> list[tuple[UUID, Direction, float]]:
    """Return the rate of each finished transfer of the newest trials, bytes/s, for both of its ends."""
    trials = select(BulkOrder).where(BulkOrder.mesh_id == mesh.id, BulkOrder.kind == BulkKind.trial)
    found = []
    for order in session.scalars(trials.order_by(BulkOrder.created_at.desc()).limit(_TRIALS)):
        for at, step in enumerate(order.steps):
            elapsed_us = order.progress.get(str(at), {}).get("elapsed_us", 0)
            if not elapsed_us:
                continue
            rate = 1e6 * step["bytes"] / elapsed_us
            if rate < _CAPPED * step["rate_bytes_per_s"]:
                found.append((UUID(step["source_vm_id"]), Direction.SENT, rate))
                found.append((UUID(step["target_vm_id"]), Direction.RECEIVED, rate))
    return found
