"""Use cases of meshes, their members and rosters."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.inventory.queries import lock_meshes
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes import queries, usage
from sinemora.fleet.meshes.models import Mesh, MeshVm
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.schemas import MeshCreate, MeshUpdate, RosterRead, RosterVm, RosterZone
from sinemora.fleet.meshes.strategies.strategy import StrategyKind
from sinemora.kit.db import refuse_taken
from sinemora.kit.errors import NotFound, existing, still_used
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.mesh_limit import refuse_limited
from sinemora.kit.renames import renamed

# The members of 1,000 VMs take a quarter as long to read as their newest matrix takes as a whole.
_MEMBERS_KEPT = 50_000
# Settings that decide how many paths a mesh has in a window.
_PLANNED_BY = {"strategy", "period_windows", "representatives"}
_states: LruCache[UUID, MeshState] = LruCache(_MEMBERS_KEPT)

before_deletion: list[Callable[[Session, UUID], object]] = []
"""Functions of features above, called with the id of a mesh in the transaction that deletes it."""


def get_mesh(session: Session, mesh_id: UUID) -> Mesh:
    """Return the tenant's mesh. ProductError `mesh_unknown`."""
    return existing(session.get(Mesh, mesh_id), "mesh")


def mesh_state(session: Session, mesh_id: UUID) -> MeshState:
    """Return the mesh with its key, window, revision and members in the order of matrices. ProductError `mesh_unknown`.

    `state.planned` has the measured paths, `plan.clients(keys)` returns their clients.
    """
    committed = queries.committed_revision(session, mesh_id)
    kept = _states.get(mesh_id)
    if kept is not None and kept.revision == committed:
        return kept
    meshes = queries.mesh_states(session, mesh_id)
    if not meshes:
        raise NotFound("mesh")
    if committed is not None:
        _states.put(mesh_id, meshes[0], size=1 + len(meshes[0].members))
    return meshes[0]


def known_states(session: Session, mesh_ids: Sequence[UUID]) -> dict[UUID, MeshState]:
    """Return several meshes by id as `mesh_state` does; unknown ones are omitted. Those in memory take one query."""
    committed = queries.committed_revisions(session, mesh_ids)
    states = {}
    for mesh_id in mesh_ids:
        kept = _states.get(mesh_id)
        if kept is not None and kept.revision == committed.get(mesh_id):
            states[mesh_id] = kept
            continue
        with suppress(NotFound):
            states[mesh_id] = mesh_state(session, mesh_id)
    return states


def create_mesh(session: Session, actor: Actor | None, body: MeshCreate) -> Mesh:
    """Return a new mesh without members. ProductError `mesh_name_taken`."""
    refuse_taken(session, Mesh, body.name, "mesh_name_taken")
    mesh = Mesh(**body.model_dump())
    audit.created(session, actor, "mesh", mesh)
    return mesh


def update_mesh(session: Session, actor: Actor, mesh_id: UUID, body: MeshUpdate, precondition: IfMatch) -> Mesh:
    """Change a mesh. ProductError `mesh_unknown`, `mesh_name_taken`, `version_changed`, `all_meshes_required`."""
    changes = body.model_dump(exclude_unset=True)
    if "window_s" in changes or changes.keys() & _PLANNED_BY:
        usage.lock(session)
    mesh = get_mesh(session, mesh_id)
    precondition.check(mesh)
    before, before_s = mesh.name, mesh.window_s
    if changes.get("name", mesh.name) != mesh.name:
        refuse_limited(session.info["mesh_limit"], "names of meshes")  # one that is taken would name a hidden mesh
        refuse_taken(session, Mesh, changes["name"], "mesh_name_taken")
    for field, value in changes.items():
        setattr(mesh, field, value)
    if mesh.strategy != StrategyKind.EVENT:
        queries.set_focus(session, mesh.id, b"")
    if changes.get("window_s", before_s) < before_s or changes.keys() & _PLANNED_BY:
        usage.check_growth(session)
    renamed(session, "mesh", before, mesh.name)
    audit.updated(session, actor, "mesh", mesh, changes)
    return mesh


def delete_mesh(session: Session, actor: Actor, mesh_id: UUID, precondition: IfMatch) -> None:
    """Delete a mesh with its tokens; its VMs stay. ProductError `mesh_unknown`, `mesh_in_use`."""
    # The mesh comes first in the order of locks (docs/architecture.md): evaluation holds it while it changes incidents.
    mesh = existing(session.get(Mesh, mesh_id, with_for_update=True), "mesh")
    precondition.check(mesh)
    for prepare in before_deletion:
        prepare(session, mesh_id)
    session.delete(mesh)
    with still_used("mesh_in_use", "Mesh in use: applications are declared on it. Delete them first."):
        session.flush()
    audit.record(session, actor, "mesh.deleted", mesh.id, mesh.name)


def add_vm(session: Session, actor: Actor, mesh_id: UUID, vm_id: UUID) -> None:
    """Add a VM to a mesh; repeating is no error. ProductError `mesh_unknown`, `vm_unknown`, `quota_exceeded`."""
    usage.lock(session)
    mesh, vm = get_mesh(session, mesh_id), get_vm(session, vm_id)
    if queries.join_mesh(session, mesh.id, vm.id):
        usage.check_growth(session)
        audit.record(session, actor, "mesh.vm_added", mesh.id, mesh.name, vm=vm.name)


def remove_vm(session: Session, actor: Actor, mesh_id: UUID, vm_id: UUID) -> None:
    """Remove a VM from a mesh. ProductError `mesh_unknown`, `vm_unknown` (also when it is no member)."""
    mesh = get_mesh(session, mesh_id)
    lock_meshes(session, vm_id=vm_id)  # the trigger that raises the revision would lock the mesh after the member
    member = existing(session.get(MeshVm, (mesh.id, vm_id)), "vm")
    session.delete(member)
    audit.record(session, actor, "mesh.vm_removed", mesh.id, mesh.name, vm=get_vm(session, vm_id).name)


def set_focus(session: Session, mesh: MeshState, pairs: Sequence[tuple[int, int]]) -> None:
    """Let a mesh measure these pairs of VM keys in every window. Without a change its plan stays as it is."""
    if tuple(pairs) != mesh.focus:
        queries.set_focus(session, mesh.id, np.array(pairs, "<u4").tobytes())


@dataclass(frozen=True)
class ZoneRun:
    """Consecutive members of one zone."""

    id: UUID
    name: str
    first: int
    count: int


def zone_runs(state: MeshState) -> list[ZoneRun]:
    """Return the zones of a mesh in order, each with the positions of its members in the roster."""
    runs: list[ZoneRun] = []
    first = 0
    for (zone_id, name), group in groupby(state.members, key=lambda member: (member.zone_id, member.zone_name)):
        count = len(list(group))
        runs.append(ZoneRun(zone_id, name, first, count))
        first += count
    return runs


def zone_of(mesh: MeshState) -> NDArray[np.int64]:
    """Return the zone of each member, by position in `zone_runs`."""
    runs = zone_runs(mesh)
    return np.repeat(np.arange(len(runs)), [run.count for run in runs])


def roster(session: Session, mesh_id: UUID) -> RosterRead:
    """Return the axes of the mesh's matrices. ProductError `mesh_unknown`."""
    state = mesh_state(session, mesh_id)
    return RosterRead(
        revision=state.revision,
        vms=[RosterVm.model_validate(member) for member in state.members],
        zones=[RosterZone.model_validate(run) for run in zone_runs(state)],
    )
