"""Use cases of meshes: making them, members, rosters."""

from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.inventory.service import get_vm
from sinemora.kit.errors import NotFound, ProductError, still_used
from sinemora.kit.etag import IfMatch
from sinemora.meshes import queries, usage
from sinemora.meshes.models import Mesh, MeshVm
from sinemora.meshes.plan import MeshState
from sinemora.meshes.schemas import MeshCreate, MeshUpdate, RosterRead, RosterVm, RosterZone
from sinemora.tenants import audit
from sinemora.tenants.access import Actor


def get_mesh(session: Session, mesh_id: UUID) -> Mesh:
    """Return the tenant's mesh. ProductError `mesh_unknown`."""
    mesh = session.get(Mesh, mesh_id)
    if mesh is None:
        raise NotFound("mesh")
    return mesh


def mesh_state(session: Session, mesh_id: UUID) -> MeshState:
    """Return the mesh with its key, window, revision and members in the order of matrices. ProductError `mesh_unknown`.

    `plan.planned(state.members)` says which paths are measured, `plan.clients(keys)` by whom.
    """
    found = queries.mesh_states(session, mesh_id)
    if not found:
        raise NotFound("mesh")
    return found[0]


def create_mesh(session: Session, actor: Actor | None, body: MeshCreate) -> Mesh:
    """Return a new mesh without members. ProductError `mesh_name_taken`."""
    _name_free(session, body.name)
    mesh = Mesh(**body.model_dump())
    audit.created(session, actor, "mesh", mesh)
    return mesh


def update_mesh(session: Session, actor: Actor, mesh_id: UUID, body: MeshUpdate, precondition: IfMatch) -> Mesh:
    """Change a mesh. ProductError `mesh_unknown`, `mesh_name_taken`, `version_changed`."""
    mesh = get_mesh(session, mesh_id)
    precondition.check(mesh)
    said = body.model_dump(exclude_unset=True, exclude_none=True)
    before_s = mesh.window_s
    if said.get("name", mesh.name) != mesh.name:
        _name_free(session, said["name"])
    for field, value in said.items():
        setattr(mesh, field, value)
    if said.get("window_s", before_s) < before_s:
        usage.check_growth(session)
    audit.updated(session, actor, "mesh", mesh, said)
    return mesh


def delete_mesh(session: Session, actor: Actor, mesh_id: UUID, precondition: IfMatch) -> None:
    """Delete a mesh with its tokens; its VMs stay. ProductError `mesh_unknown`, `mesh_in_use`."""
    mesh = get_mesh(session, mesh_id)
    precondition.check(mesh)
    session.delete(mesh)
    with still_used("mesh_in_use", "Applications are declared on this mesh. Delete them first."):
        session.flush()
    audit.record(session, actor, "mesh.deleted", mesh.id, mesh.name)


def add_vm(session: Session, actor: Actor, mesh_id: UUID, vm_id: UUID) -> None:
    """Make a VM a member; again is no error. ProductError `mesh_unknown`, `vm_unknown`, `quota_exceeded`."""
    mesh, vm = get_mesh(session, mesh_id), get_vm(session, vm_id)
    if queries.join_mesh(session, mesh.id, vm.id):
        usage.check_growth(session)
        audit.record(session, actor, "mesh.vm_added", mesh.id, mesh.name, vm=vm.name)


def remove_vm(session: Session, actor: Actor, mesh_id: UUID, vm_id: UUID) -> None:
    """Take a VM out of a mesh. ProductError `mesh_unknown`, `vm_unknown` (also when it is no member)."""
    mesh = get_mesh(session, mesh_id)
    member = session.get(MeshVm, (mesh.id, vm_id))
    if member is None:
        raise NotFound("vm")
    session.delete(member)
    audit.record(session, actor, "mesh.vm_removed", mesh.id, mesh.name, vm=get_vm(session, vm_id).name)


@dataclass(frozen=True)
class ZoneRun:
    """Neighbouring members of one zone."""

    id: UUID
    name: str
    first: int
    count: int


def zone_runs(state: MeshState) -> list[ZoneRun]:
    """Return the zones of a mesh in order, each with where its members stand in the roster."""
    runs: list[ZoneRun] = []
    first = 0
    for (zone_id, name), group in groupby(state.members, key=lambda member: (member.zone_id, member.zone_name)):
        count = len(list(group))
        runs.append(ZoneRun(zone_id, name, first, count))
        first += count
    return runs


def roster(session: Session, mesh_id: UUID) -> RosterRead:
    """Return the axes of the mesh's matrices. ProductError `mesh_unknown`."""
    state = mesh_state(session, mesh_id)
    return RosterRead(
        revision=state.revision,
        vms=[RosterVm.model_validate(member) for member in state.members],
        zones=[RosterZone.model_validate(run) for run in zone_runs(state)],
    )


def _name_free(session: Session, name: str) -> None:
    if queries.mesh_named(session, name):
        raise ProductError("mesh_name_taken", 409, f"There is a mesh named {name} already.")
