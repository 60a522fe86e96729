"""Queries of traffic between the VMs of a mesh."""

from collections.abc import Collection
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Double, cast, func, select
from sqlalchemy.orm import Session

from sinemora.applications.models import TrafficDecision
from sinemora.applications.traffic import core
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.models import MeshVm
from sinemora.measurements.store.traffic_edges import TrafficDay, TrafficEdge

EDGES_MAX = 50_000
"""Most edges that proposals are found in, largest first."""


def edges_of(
    session: Session, mesh_id: UUID, since: date, ports: Collection[int] | None = None
) -> list[core.TrafficEdge]:
    """Return the traffic between VMs of a mesh since a day (UTC), each as the end counted it that counted more.

    `ports`: the traffic with these alone.
    """
    of = TrafficEdge
    members = select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)
    rows_of = (of.day >= since, of.client_vm_id.in_(members), of.server_vm_id.in_(members))

    def larger(value: ColumnElement[Any]) -> ColumnElement[Any]:
        ends = (value.filter(of.reported_by == end) for end in ("client", "server"))
        return func.coalesce(func.greatest(*ends), 0)

    # Sums of bigint are numeric in PostgreSQL, and take three times as long.
    connections, size, windows = (
        larger(func.sum(cast(value, Double)))
        for value in (of.connections, of.bytes_to_server + of.bytes_to_client, of.windows)
    )
    rows = session.execute(
        select(
            *(of.client_vm_id, of.server_vm_id, of.port),
            *(connections, size, larger(func.count()), windows),
            *(func.min(of.first_at), func.max(of.last_at)),
        )
        .where(*rows_of, *(() if ports is None else (of.port.in_(ports),)))
        .group_by(of.client_vm_id, of.server_vm_id, of.port)
        .order_by((size + core.CONNECTION * connections).desc())
        .limit(EDGES_MAX)
    )
    return [core.TrafficEdge(*row[:3], *map(int, row[3:7]), *row[7:]) for row in rows]


def elsewhere(session: Session, mesh_id: UUID, since: date) -> dict[UUID, tuple[int, int]]:
    """Return for each counted VM of a mesh the size of its traffic with no VM, and connections that were left out."""
    size = func.sum(
        TrafficDay.other_bytes_sent + TrafficDay.other_bytes_received + core.CONNECTION * TrafficDay.other_connections
    )
    rows = session.execute(
        select(TrafficDay.vm_id, size, func.sum(TrafficDay.connections_left_out))
        .join(MeshVm, MeshVm.vm_id == TrafficDay.vm_id)
        .where(MeshVm.mesh_id == mesh_id, TrafficDay.day >= since)
        .group_by(TrafficDay.vm_id)
    )
    return {vm_id: (int(of_vm), int(left_out)) for vm_id, of_vm, left_out in rows}


def vms_of(session: Session, mesh_id: UUID) -> dict[UUID, Vm]:
    """Return the VMs of a mesh by id."""
    members = select(MeshVm.vm_id).where(MeshVm.mesh_id == mesh_id)
    return {vm.id: vm for vm in session.scalars(select(Vm).where(Vm.id.in_(members)))}


def decisions(session: Session, mesh_id: UUID, keys: Collection[str] | None = None) -> list[TrafficDecision]:
    """Return the decisions on proposals of a mesh, only those of `keys` if given."""
    statement = select(TrafficDecision).where(TrafficDecision.mesh_id == mesh_id)
    return list(session.scalars(statement if keys is None else statement.where(TrafficDecision.key.in_(keys))))


def followed_meshes(session: Session) -> list[tuple[UUID, UUID]]:
    """Return tenant and id of the meshes with applications that follow traffic, of all tenants of the session."""
    statement = select(TrafficDecision.tenant_id, TrafficDecision.mesh_id).where(
        TrafficDecision.application_id.is_not(None), TrafficDecision.stopped.is_(None)
    )
    return [(tenant_id, mesh_id) for tenant_id, mesh_id in session.execute(statement.distinct())]
