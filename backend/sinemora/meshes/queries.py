"""SQL of meshes."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from sqlalchemy import and_, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from sinemora.inventory.models import Agent, Vm, Zone
from sinemora.meshes.models import EnrolmentToken, Mesh, MeshVm
from sinemora.meshes.plan import Member, MeshState


def mesh_named(session: Session, name: str) -> Mesh | None:
    """Return the tenant's mesh of this name."""
    return session.scalars(select(Mesh).where(Mesh.name == name)).one_or_none()


def join_mesh(session: Session, mesh_id: UUID, vm_id: UUID) -> bool:
    """Add a VM to a mesh. Return False when it was a member already."""
    joined = session.execute(
        insert(MeshVm)
        .values(tenant_id=session.info["tenant_id"], mesh_id=mesh_id, vm_id=vm_id)
        .on_conflict_do_nothing()
        .returning(MeshVm.vm_id)
    )
    return joined.first() is not None


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
        )
        .outerjoin(MeshVm, and_(MeshVm.tenant_id == Mesh.tenant_id, MeshVm.mesh_id == Mesh.id))
        .outerjoin(Vm, and_(Vm.tenant_id == MeshVm.tenant_id, Vm.id == MeshVm.vm_id))
        .outerjoin(Zone, and_(Zone.tenant_id == Vm.tenant_id, Zone.id == Vm.zone_id))
        .order_by(Mesh.key)
    )
    if mesh_id is not None:
        statement = statement.where(Mesh.id == mesh_id)
    settings: dict[UUID, tuple[tuple[int, str, int, int, int, int], tuple[int, int]]] = {}
    members: dict[UUID, list[Member]] = defaultdict(list)
    for id, key, name, window_s, rate_hz, flows, revision, spike_ns, deadline_ms, *member in session.execute(statement):
        settings[id] = (key, name, window_s, rate_hz, flows, revision), (spike_ns, deadline_ms)
        if member[0] is not None:
            members[id].append(Member(*member))
    return [
        MeshState(
            id,
            *values,
            tuple(sorted(members[id], key=lambda vm: (vm.zone_name, str(vm.zone_id), vm.name))),
            *evidence,
        )
        for id, (values, evidence) in settings.items()
    ]


def committed_revision(session: Session, mesh_id: UUID) -> int | None:
    """Return the revision of a mesh; None for an unknown mesh, and in a transaction that has written something.

    What such a transaction sees may never be committed, and another one may give the same revision to other members.
    """
    unwritten = func.pg_current_xact_id_if_assigned().is_(None)
    return session.scalar(select(Mesh.revision).where(Mesh.id == mesh_id, unwritten))


def fingerprints(session: Session, tenant_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return a number per tenant that changes with any revision of its meshes; no entry for a tenant without meshes."""
    rows = session.execute(
        text(
            "SELECT tenant_id, hashtextextended(string_agg(id || ':' || revision, ',' ORDER BY id), 0)"
            " FROM meshes WHERE tenant_id = ANY(:ids) GROUP BY tenant_id"
        ),
        {"ids": list(tenant_ids)},
    )
    return {tenant_id: number for tenant_id, number in rows}


def token_with(session: Session, digest: bytes, *, lock: bool = False) -> EnrolmentToken | None:
    """Return the enrolment token with this digest; `lock` locks its row."""
    statement = select(EnrolmentToken).where(EnrolmentToken.secret_digest == digest)
    return session.scalars(statement.with_for_update() if lock else statement).one_or_none()
