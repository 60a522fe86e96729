"""VMs that leave for good: retired by their agent, or gone from a mesh whose VMs are short-lived."""

from datetime import datetime

from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.fleet.inventory import agents
from sinemora.fleet.inventory.agents import AgentIdentity
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.models import Mesh, MeshVm
from sinemora.kit.db import system_session, tenant_session

_AT_ONCE = 200
# A stopped agent has said that it is away. Another one is gone only if it could have reported all the time.
_GONE = """
    FROM meshes m
    JOIN mesh_vms mv ON mv.tenant_id = m.tenant_id AND mv.mesh_id = m.id
    JOIN agents a ON a.tenant_id = mv.tenant_id AND a.vm_id = mv.vm_id AND a.revoked_at IS NULL
    WHERE m.remove_gone_after_s IS NOT NULL AND (
        (a.stopped_at > coalesce(a.started_at, '-infinity')
            AND a.stopped_at < :now - make_interval(secs => m.remove_gone_after_s))
        OR greatest(a.last_report_at, a.started_at, a.created_at, CAST(:present_since AS timestamptz))
            < :now - make_interval(secs => m.remove_gone_after_s))
"""


def retire(session: Session, identity: AgentIdentity) -> None:
    """Take an agent's VM out of all its meshes and revoke the agent. If all were short-lived, the VM is deleted."""
    vm = get_vm(session, identity.vm_id)
    meshes = session.scalars(
        select(Mesh).join(MeshVm, MeshVm.mesh_id == Mesh.id).where(MeshVm.vm_id == vm.id).order_by(Mesh.id)
    ).all()
    for mesh in meshes:
        _leave(session, mesh, vm, "retired")
    agents.revoke(session, None, identity.agent_id)
    if meshes and all(mesh.remove_gone_after_s is not None for mesh in meshes):
        _delete(session, vm, "retired")


def remove_gone(now: datetime, present_since: datetime | None) -> int:
    """Remove VMs that are gone from meshes with short-lived VMs; those in no other mesh are deleted. Return how many.

    `present_since`: since when reports can be stored without a break; None: unknown, so only stopped agents are gone.
    """
    times = {"now": now, "present_since": present_since or now}
    with system_session() as session:
        tenants = session.scalars(text(f"SELECT DISTINCT m.tenant_id {_GONE}"), times).all()
    removed = 0
    for tenant_id in tenants:
        try:
            with tenant_session(tenant_id) as session:
                removed += _remove_gone_of(session, times)
        except LookupError:  # the tenant was deleted
            continue
    return removed


def _remove_gone_of(session: Session, times: dict[str, datetime]) -> int:
    """Remove some of a tenant's VMs; their agents are locked, so that none reports meanwhile."""
    rows = session.execute(
        text(
            f"SELECT m.id, mv.vm_id {_GONE} AND m.tenant_id = :tenant_id"
            " ORDER BY a.id LIMIT :at_once FOR NO KEY UPDATE OF a SKIP LOCKED"
        ),
        {**times, "tenant_id": session.info["tenant_id"], "at_once": _AT_ONCE},
    ).all()
    for mesh_id, vm_id in rows:
        vm = get_vm(session, vm_id)
        _leave(session, session.get_one(Mesh, mesh_id), vm, "gone")
        if not session.scalar(select(MeshVm.mesh_id).where(MeshVm.vm_id == vm.id).limit(1)):
            _delete(session, vm, "gone")
    return len(rows)


def _leave(session: Session, mesh: Mesh, vm: Vm, reason: str) -> None:
    session.execute(delete(MeshVm).where(MeshVm.mesh_id == mesh.id, MeshVm.vm_id == vm.id))
    audit.record(session, None, "mesh.vm_removed", mesh.id, mesh.name, vm=vm.name, reason=reason)


def _delete(session: Session, vm: Vm, reason: str) -> None:
    audit.record(session, None, "vm.deleted", vm.id, vm.name, reason=reason)
    session.flush()
    session.delete(vm)
    session.flush()
