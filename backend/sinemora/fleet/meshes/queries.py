"""SQL of meshes."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import and_, case, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from sinemora.fleet.inventory.models import Agent, Vm, Zone
from sinemora.fleet.meshes.bulk_plan import BulkPlan, bulk_plan
from sinemora.fleet.meshes.models import BulkOrder, EnrolmentToken, Mesh, MeshFocus, MeshVm, OnDemandMeasurement
from sinemora.fleet.meshes.plan import Member, MeshState, OnDemandPlan
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind

# Columns of a mesh that `mesh_states` selects before its focus and its members.
_SETTINGS = 12
# A measurement on demand stays in the plans until its last exchange is lost or complete.
_ACTIVE_BULK = "stopped_at IS NULL AND finished_at IS NULL AND ends_at > now()"
_ENDS = ("source", "target")
_ACTIVE = "stopped_at IS NULL AND ends_at > now() - interval '3 s'"


def join_mesh(session: Session, mesh_id: UUID, vm_id: UUID) -> bool:
    """Add a VM to a mesh. Return False when it was a member already."""
    joined = session.execute(
        insert(MeshVm)
        .values(tenant_id=session.info["tenant_id"], mesh_id=mesh_id, vm_id=vm_id)
        .on_conflict_do_nothing()
        .returning(MeshVm.vm_id)
    )
    return joined.first() is not None


def is_elsewhere(session: Session, mesh_id: UUID, name: str) -> bool:
    """Return whether a VM of this name exists that is no member of the mesh."""
    member = select(MeshVm).where(MeshVm.mesh_id == mesh_id, MeshVm.vm_id == Vm.id)
    return session.scalar(select(Vm.id).where(Vm.name == name, ~member.exists())) is not None


def mesh_states(session: Session, mesh_id: UUID | None = None) -> list[MeshState]:
    """Return the tenant's meshes with their members in the order of matrices; only one mesh with `mesh_id`.

    One statement reads both, so that the members belong to the revision. With two, a VM that joins in between would be
    missing under the revision that counts it, and agents that know this revision would never fetch its plan again.
    Members are sorted here: collations of databases differ.
    """
    statement = (
        select(
            Mesh.id,
            Mesh.key,
            Mesh.name,
            Mesh.window_s,
            Mesh.rate_hz,
            Mesh.flows,
            Mesh.revision,
            Mesh.spike_threshold_ns,
            Mesh.loss_deadline_ms,
            Mesh.strategy,
            Mesh.period_windows,
            Mesh.representatives,
            # Of the first row only: the pairs of a large incident are many, and so are the rows.
            case((func.row_number().over(partition_by=Mesh.id) == 1, MeshFocus.pairs)),
            Vm.id,
            Vm.key,
            Vm.name,
            Zone.id,
            Zone.name,
            Vm.probe_address,
            Vm.event_port,
            Vm.general_port,
            # Read once and hashed. As a join, PostgreSQL compares every VM with every agent: row-level security hides
            # from it how many there are.
            Vm.id.in_(select(Agent.vm_id).where(Agent.revoked_at.is_(None))),
            Vm.responder,
            Vm.ptp_domain,
        )
        .outerjoin(MeshFocus, and_(MeshFocus.tenant_id == Mesh.tenant_id, MeshFocus.mesh_id == Mesh.id))
        .outerjoin(MeshVm, and_(MeshVm.tenant_id == Mesh.tenant_id, MeshVm.mesh_id == Mesh.id))
        .outerjoin(Vm, and_(Vm.tenant_id == MeshVm.tenant_id, Vm.id == MeshVm.vm_id))
        .outerjoin(Zone, and_(Zone.tenant_id == Vm.tenant_id, Zone.id == Vm.zone_id))
        .order_by(Mesh.key)
    )
    if mesh_id is not None:
        statement = statement.where(Mesh.id == mesh_id)
    settings: dict[UUID, tuple[Any, ...]] = {}
    focus: dict[UUID, bytes] = {}
    members: dict[UUID, list[Member]] = defaultdict(list)
    for row in session.execute(statement):
        values: Any = tuple(row)
        id, pairs, member = values[0], values[_SETTINGS], values[_SETTINGS + 1 :]
        settings[id] = values[1:_SETTINGS]
        if pairs is not None:
            focus[id] = pairs
        if member[0] is not None:
            members[id].append(Member(*member))
    return [_state(id, values, members[id], focus.get(id, b"")) for id, values in settings.items()]


def _state(id: UUID, settings: tuple[Any, ...], members: list[Member], focus: bytes) -> MeshState:
    key, name, window_s, rate_hz, flows, revision, spike_ns, deadline_ms, kind, period, representatives = settings
    return MeshState(
        id,
        key,
        name,
        window_s,
        rate_hz,
        flows,
        revision,
        tuple(sorted(members, key=lambda vm: (vm.zone_name, str(vm.zone_id), vm.name))),
        spike_ns,
        deadline_ms,
        Strategy(StrategyKind(kind), period, representatives),
        tuple((one, other) for one, other in np.frombuffer(focus, "<u4").reshape(-1, 2).tolist()),
    )


def lock_mesh(session: Session, *mesh_ids: UUID) -> None:
    """Lock meshes until the end of the transaction: it serialises what is placed on them, and comes before all of that.

    Changes of their members take the lock too. Rows that only refer to a mesh do not wait.
    """
    statement = select(Mesh.id).where(Mesh.id.in_(mesh_ids)).order_by(Mesh.id)
    session.execute(statement.with_for_update(key_share=True, of=Mesh))


def set_focus(session: Session, mesh_id: UUID, pairs: bytes) -> None:
    """Store the pairs that a mesh measures in every window.

    The mesh is locked first: its revision rises with its focus, and every change of the mesh locks it first.
    """
    lock_mesh(session, mesh_id)
    if not pairs:
        session.execute(delete(MeshFocus).where(MeshFocus.mesh_id == mesh_id))
        return
    row = insert(MeshFocus).values(tenant_id=session.info["tenant_id"], mesh_id=mesh_id, pairs=pairs)
    session.execute(row.on_conflict_do_update(index_elements=[MeshFocus.mesh_id], set_={"pairs": pairs}))


@dataclass(frozen=True)
class MeshAgent:
    """Agent of a mesh with the name of its VM, and id and revision of all meshes of that VM."""

    id: UUID
    name: str
    last_report_at: datetime | None
    report_every_s: int
    meshes: list[tuple[UUID, int]]


def agents_of(session: Session, mesh_id: UUID) -> list[MeshAgent]:
    """Return the unrevoked agents of a mesh by name. One statement: all belong to one revision of the mesh."""
    other, of_other = aliased(MeshVm), aliased(Mesh)
    rows = session.execute(
        select(
            Agent.id,
            Vm.name,
            Agent.last_report_at,
            Agent.report_every_s,
            func.array_agg(of_other.id),
            func.array_agg(of_other.revision),
        )
        .join(Vm, and_(Vm.tenant_id == Agent.tenant_id, Vm.id == Agent.vm_id))
        .join(MeshVm, and_(MeshVm.tenant_id == Vm.tenant_id, MeshVm.vm_id == Vm.id))
        .join(other, and_(other.tenant_id == Vm.tenant_id, other.vm_id == Vm.id))
        .join(of_other, and_(of_other.tenant_id == other.tenant_id, of_other.id == other.mesh_id))
        .where(MeshVm.mesh_id == mesh_id, Agent.revoked_at.is_(None))
        .group_by(Agent.id, Vm.name, Agent.last_report_at, Agent.report_every_s)
        .order_by(Vm.name)
    )
    return [
        MeshAgent(id, name, last_at, every_s, list(zip(ids, revisions, strict=True)))
        for id, name, last_at, every_s, ids, revisions in rows
    ]


def places_of(session: Session, zone_ids: Collection[UUID]) -> dict[UUID, tuple[str, str]]:
    """Return provider and region of zones."""
    rows = session.execute(select(Zone.id, Zone.provider, Zone.region).where(Zone.id.in_(zone_ids)))
    return {id: (provider, region) for id, provider, region in rows}


def committed_revision(session: Session, mesh_id: UUID) -> int | None:
    """Return the revision of a mesh; None for an unknown mesh, and in a transaction that has written something.

    What such a transaction sees may never be committed, and another one may give the same revision to other members.
    """
    unwritten = func.pg_current_xact_id_if_assigned().is_(None)
    return session.scalar(select(Mesh.revision).where(Mesh.id == mesh_id, unwritten))


def committed_revisions(session: Session, mesh_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return `committed_revision` of several meshes, by id; none of unknown ones, nor after something was written."""
    rows = session.execute(
        text(
            "SELECT id, revision FROM meshes WHERE tenant_id = :tenant_id AND id = ANY(:ids)"
            " AND pg_current_xact_id_if_assigned() IS NULL"
        ),
        {"tenant_id": session.info["tenant_id"], "ids": list(mesh_ids)},
    )
    return {mesh_id: revision for mesh_id, revision in rows}


def active_bulk(session: Session) -> list[BulkOrder]:
    """Return the orders of the bulk sender that agents have in their plans."""
    return list(session.scalars(select(BulkOrder).where(text(_ACTIVE_BULK))))


def bulk_plans(session: Session, meshes: Sequence[MeshState]) -> list[BulkPlan]:
    """Return the active orders of the bulk sender between members of these meshes."""
    members = {(mesh.id, member.id): member for mesh in meshes for member in mesh.members}
    plans = []
    for row in active_bulk(session):
        ends = [[members.get((row.mesh_id, UUID(step[f"{end}_vm_id"]))) for step in row.steps] for end in _ENDS]
        if row.secret is None or any(end is None or not end.has_agent for side in ends for end in side):
            continue  # one has left the mesh meanwhile
        plans.append(bulk_plan(row.id, row.starts_at, row.ends_at, row.secret, row.steps, ends, _tls(row)))
    return plans


def _tls(row: BulkOrder) -> tuple[bytes, bytes] | None:
    if row.certificate is None or row.certificate_key is None:
        return None
    return row.certificate, row.certificate_key


def active_on_demand(session: Session) -> list[OnDemandMeasurement]:
    """Return the measurements on demand that agents have in their plans."""
    return list(session.scalars(select(OnDemandMeasurement).where(text(_ACTIVE))))


def on_demand_plans(session: Session, meshes: Sequence[MeshState]) -> list[OnDemandPlan]:
    """Return the active measurements on demand between members of these meshes."""
    members = {(mesh.id, member.id): member for mesh in meshes for member in mesh.members}
    plans = []
    for row in active_on_demand(session):
        responder_id = row.target_vm_id if row.client_vm_id == row.source_vm_id else row.source_vm_id
        client, responder = (members.get((row.mesh_id, id)) for id in (row.client_vm_id, responder_id))
        if client is None or responder is None or not (client.can_probe and responder.can_probe):
            continue  # it has left the mesh meanwhile
        plans.append(
            OnDemandPlan(
                row.id,
                row.key,
                row.rate_hz // row.source_ports,
                row.source_ports,
                row.loss_deadline_ms,
                round(row.starts_at.timestamp()) * 1_000_000_000,
                round(row.ends_at.timestamp()) * 1_000_000_000,
                row.ecn,
                row.reordering,
                client,
                responder,
            )
        )
    return plans


def fingerprints(session: Session, tenant_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return a number per tenant; no entry for a tenant without meshes.

    It changes with any revision of its meshes, with the active measurements on demand, and with a setting.
    """
    rows = session.execute(
        text(
            "SELECT tenant_id, hashtextextended(string_agg(word, ',' ORDER BY word), 0) FROM ("
            "SELECT tenant_id, id || ':' || revision AS word FROM meshes WHERE tenant_id = ANY(:ids) UNION ALL "
            "SELECT tenant_id, 'on-demand:' || id FROM on_demand_measurements"
            f" WHERE tenant_id = ANY(:ids) AND {_ACTIVE} UNION ALL "
            "SELECT tenant_id, 'bulk:' || id FROM bulk_orders"
            f" WHERE tenant_id = ANY(:ids) AND {_ACTIVE_BULK} UNION ALL "
            "SELECT id, 'service-traffic' FROM tenants WHERE id = ANY(:ids) AND service_traffic"
            ") AS words GROUP BY tenant_id"
        ),
        {"ids": list(tenant_ids)},
    )
    return {tenant_id: number for tenant_id, number in rows}


def token_with(session: Session, digest: bytes, *, lock: bool = False) -> EnrolmentToken | None:
    """Return the enrolment token with this digest; `lock` locks its row."""
    statement = select(EnrolmentToken).where(EnrolmentToken.secret_digest == digest)
    return session.scalars(statement.with_for_update() if lock else statement).one_or_none()
