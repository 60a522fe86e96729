"""Use cases of applications: declaration, update, performance and VM capacity."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import func
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.applications import attach, contracts, contradictions, queries
from sinemora.applications.curves.catalogue import CatalogueEntry
from sinemora.applications.models import Application, ApplicationZone, Edge, Separation, Task
from sinemora.applications.schemas import ApplicationCreate, ApplicationUpdate, CapacityUpdate, EdgeWrite, TaskWrite
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.inventory.service import get_vm
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.kit.db import locked, named, refuse_taken
from sinemora.kit.errors import ProductError, existing, invalid
from sinemora.kit.field_errors import message_of
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.http.known_ids import uuid_of
from sinemora.kit.renames import renamed


class _Named(Protocol):
    @property
    def id(self) -> Any: ...
    @property
    def name(self) -> Any: ...


Thing = TypeVar("Thing", bound=_Named)
EDITED = "{name} edited its tasks. Let it follow again to have traffic change them."
"""Reason why an application no longer follows traffic."""
PLAIN = (
    "description",
    "objective",
    "kept_share",
    "moves_max",
    "moves_per_day",
    "move_cost",
    "leaves_region",
    "moves_for_others",
    "per_vm_max",
    "per_host_max",
    "per_zone_max",
)


def lock_meshes(session: Session, bodies: Collection[ApplicationCreate]) -> None:
    """Lock all meshes that declarations name, in one order: two manifests may name them in different ones."""
    meshes = [mesh.id for name in {body.mesh for body in bodies} if (mesh := _mesh_of(session, name))]
    apart_from = [name for body in bodies for name in body.apart_from]
    lock_mesh(session, *meshes, *_meshes_of(session, apart_from))


def get_application(session: Session, application_id: UUID) -> Application:
    """Return the tenant's application. ProductError `application_unknown`."""
    return existing(session.get(Application, application_id), "application")


def create_application(session: Session, actor: Actor, body: ApplicationCreate) -> Application:
    """Declare an application.

    ProductError `application_name_taken`, `mesh_unknown`, `curve_unknown`, `curve_version_unknown`, `vm_unknown`,
    `vm_not_in_mesh`, `zone_unknown`, `application_unknown`, `constraints_contradict`, `contract_incomplete`,
    `contract_impossible`.
    """
    mesh_id = get_mesh(session, body.mesh).id
    lock_mesh(session, mesh_id, *_meshes_of(session, body.apart_from))
    refuse_taken(session, Application, body.name, "application_name_taken")
    application = Application(
        name=body.name,
        mesh_id=mesh_id,
        reference_us=body.reference_us,
        **{field: getattr(body, field) for field in PLAIN},
    )
    _attach(application, attach.by_reference(session, body.curve, body.curve_number))
    contracts.check(session, application)
    _set_tasks(session, application, body.tasks, body.edges)
    _set_zones(session, application, body.zones)
    _set_apart(session, application, body.apart_from)
    session.add(application)
    contradictions.check(session, application)
    audit.created(session, actor, "application", application)
    return application


def update_application(
    session: Session, actor: Actor, application_id: UUID, body: ApplicationUpdate, precondition: IfMatch
) -> Application:
    """Update an application; omitted fields stay. ProductErrors of `create_application`, `not_from_traffic`,
    `version_changed`.
    """
    application = _locked(session, application_id, _meshes_of(session, body.apart_from or ()))
    precondition.check(application)
    changes = body.model_dump(exclude_unset=True)
    before = application.name
    if changes.get("name") and changes["name"] != before:
        refuse_taken(session, Application, changes["name"], "application_name_taken")
        application.name = changes["name"]
    if body.curve is not None or "curve_number" in changes:
        reference = body.curve or attach.entries(session, [application])[application.id].id
        _attach(application, attach.by_reference(session, reference, body.curve_number))
    for field in (*PLAIN, "reference_us"):
        if field in changes:
            setattr(application, field, changes[field])
    if contracts.FIELDS & set(changes):
        contracts.check(session, application)
    if body.tasks is not None or body.edges is not None:
        placed = _placed(application)
        _replace_tasks(session, application, body)
        if _placed(application) != placed:
            _set_following(application, EDITED.format(name=actor.name))
    if body.following is not None:
        if body.following and not application.traffic:
            raise ProductError(
                "not_from_traffic",
                409,
                "Not from traffic: only an application that was accepted from a proposal can follow it.",
                errors=[{"pointer": "#/following", "message": "must be left out"}],
            )
        _set_following(application, None if body.following else f"{actor.name} stopped it.")
    if body.zones is not None:
        application.zones.clear()
        session.flush()
        _set_zones(session, application, body.zones)
    if body.apart_from is not None:
        application.apart_from.clear()
        session.flush()
        _set_apart(session, application, body.apart_from)
    contradictions.check(session, application, changes)
    # A change of tasks or edges alone also changes the version of the application.
    application.updated_at = datetime.now(UTC)
    renamed(session, "application", before, application.name)
    session.flush()
    session.expire(application)
    session.refresh(application)
    audit.record(session, actor, "application.updated", application.id, application.name, fields=sorted(changes))
    return application


def _placed(application: Application) -> list[object]:
    """Return tasks and edges as a value, to find out whether a declaration changes them."""
    edges = sorted((edge.source_task_id, edge.target_task_id, edge.weight) for edge in application.edges)
    return [*(task_written(task) for task in application.tasks), *edges]


def _set_following(application: Application, stopped: str | None) -> None:
    """Let an application follow traffic from now on, or no longer for a reason."""
    for decision in application.traffic:
        decision.stopped = stopped
        if stopped is None:
            decision.since = func.now()


def delete_application(session: Session, actor: Actor, application_id: UUID, precondition: IfMatch) -> None:
    """Delete an application; its VMs stay. ProductError `application_unknown`."""
    application = _locked(session, application_id)
    precondition.check(application)
    audit.deleted(session, actor, "application", application)


def _locked(session: Session, application_id: UUID, others: Collection[UUID] = ()) -> Application:
    """Return an application as it is now, locked after its mesh and `others`. ProductError `application_unknown`."""
    lock_mesh(session, get_application(session, application_id).mesh_id, *others)
    return existing(locked(session, Application, application_id), "application")


def update_capacity(
    session: Session, actor: Actor, vm_id: UUID, body: CapacityUpdate, precondition: IfMatch
) -> queries.Carrier:
    """Update the capacity of a VM. ProductError `vm_unknown`, `version_changed`."""
    vm = get_vm(session, vm_id)
    capacity = queries.ensure_capacity(session, vm.id)
    precondition.check(capacity)
    changes = body.model_dump(exclude_unset=True)
    for field, value in changes.items():
        setattr(capacity, field, 1 if field == "slots" and value is None else value)
    session.flush()
    audit.record(session, actor, "vm.capacity_updated", vm.id, vm.name, fields=sorted(changes))
    return capacity_of(session, vm.id)


def capacity_of(session: Session, vm_id: UUID) -> queries.Carrier:
    """Return the capacity of a VM. ProductError `vm_unknown`."""
    return existing(queries.carrier(session, vm_id), "vm")


def _attach(application: Application, entry: CatalogueEntry) -> None:
    if entry.stored is None:
        application.curve_key, application.curve_version_id = entry.id, None
    else:
        application.curve_key, application.curve_version_id = None, entry.stored[1].id


def _replace_tasks(session: Session, application: Application, body: ApplicationUpdate) -> None:
    """Replace tasks, edges or both, validated together as in a new declaration."""
    tasks = body.tasks or [task_written(task) for task in application.tasks]
    names = {task.id: task.name for task in application.tasks}
    edges = body.edges
    if edges is None:
        starry = any(task.root for task in tasks)
        edges = [] if starry else [edge_written(edge, names) for edge in application.edges]
    try:
        checked = ApplicationCreate.model_validate(
            {"name": application.name, "mesh": str(application.mesh_id), "curve": "-", "tasks": tasks, "edges": edges}
        )
    except ValueError as error:
        message = message_of(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
        raise ProductError(
            "request_invalid",
            422,
            "Invalid request: see `errors`.",
            errors=[{"pointer": "#/edges" if body.tasks is None else "#/tasks", "message": message}],
        ) from None
    replace_tasks(session, application, checked.tasks, checked.edges)


def replace_tasks(
    session: Session, application: Application, tasks: Sequence[TaskWrite], edges: Sequence[EdgeWrite]
) -> None:
    """Replace tasks and edges; tasks of the same names stay those they are. ProductErrors of `create_application`."""
    application.edges.clear()
    session.flush()
    _set_tasks(session, application, tasks, edges)


def task_written(task: Task) -> TaskWrite:
    """Return the declaration of a task."""
    fields = ("name", "root", "pinned", "slots", "cpu_millicores", "memory_mib")
    vm = None if task.vm_id is None else str(task.vm_id)
    return TaskWrite(vm=vm, **{field: getattr(task, field) for field in fields})


def edge_written(edge: Edge, names: dict[UUID, str]) -> EdgeWrite:
    """Return the declaration of an edge, with the names of tasks by id."""
    return EdgeWrite(source=names[edge.source_task_id], target=names[edge.target_task_id], weight=edge.weight)


def _set_tasks(
    session: Session, application: Application, tasks: Sequence[TaskWrite], edges: Sequence[EdgeWrite]
) -> None:
    vms = _found(
        [task.vm for task in tasks], lambda names, ids: queries.vms_named(session, names, ids), "vm", "#/tasks/{}/vm"
    )
    _in_mesh(session, application.mesh_id, vms)
    # A VM may be given by its id; a default task name is the name of the VM.
    names = [
        vm.name if vm is not None and task.name == task.vm else str(task.name)
        for task, vm in zip(tasks, vms, strict=True)
    ]
    kept = _keep_tasks(session, application, set(names))
    application.tasks = [
        _written(
            kept.pop(name) if name in kept else Task(),
            position=position,
            vm_id=None if vm is None else vm.id,
            **task.model_dump(exclude={"vm"}) | {"name": name},
        )
        for position, (name, task, vm) in enumerate(zip(names, tasks, vms, strict=True))
    ]
    if not edges:
        return
    session.add(application)
    session.flush()
    ids = {declared.name: task.id for declared, task in zip(tasks, application.tasks, strict=True)}
    application.edges = [
        Edge(source_task_id=ids[edge.source], target_task_id=ids[edge.target], weight=edge.weight) for edge in edges
    ]


def _keep_tasks(session: Session, application: Application, names: Collection[str]) -> dict[str, Task]:
    """Delete the tasks that have none of these names; return the others by name, to be written under their ids.

    A recommendation refers to tasks by id: moving one must not make it another task.
    """
    for task in list(application.tasks):
        if task.name not in names:
            application.tasks.remove(task)
        elif task.root:
            # Two roots at a time, as when the role changes to another task, are refused by the database.
            task.root = False
    session.flush()
    return {task.name: task for task in application.tasks}


def _written(task: Task, **fields: Any) -> Task:
    for field, value in fields.items():
        setattr(task, field, value)
    return task


def _in_mesh(session: Session, mesh_id: UUID, vms: Sequence[Vm | None]) -> None:
    members = queries.members(session, mesh_id)
    strangers = [
        {"pointer": f"#/tasks/{position}/vm", "message": f"{vm.name} is not a member of the mesh; add it first"}
        for position, vm in enumerate(vms)
        if vm is not None and vm.id not in members
    ]
    if strangers:
        raise ProductError("vm_not_in_mesh", 409, "Latency is known only between VMs of the mesh.", errors=strangers)


def _set_zones(session: Session, application: Application, references: Sequence[str]) -> None:
    zones = _found(references, lambda names, ids: queries.zones_named(session, names, ids), "zone", "#/zones/{}")
    application.zones = [ApplicationZone(zone_id=zone_id) for zone_id in {zone.id: None for zone in zones if zone}]


def _meshes_of(session: Session, references: Sequence[str]) -> list[UUID]:
    """Return the meshes of applications to be apart from: their rows are referred to, from both sides at once."""
    ids = [identifier for text in references if (identifier := uuid_of(text))]
    return [one.mesh_id for one in queries.applications_named(session, references, ids)] if references else []


def _set_apart(session: Session, application: Application, references: Sequence[str]) -> None:
    others = _found(
        references, lambda names, ids: queries.applications_named(session, names, ids), "application", "#/apart_from/{}"
    )
    itself = [
        {"pointer": f"#/apart_from/{place}", "message": "This is the application itself. Name others."}
        for place, other in enumerate(others)
        if other is not None and other.id == application.id
    ]
    if itself:
        raise invalid(itself)
    application.apart_from = [Separation(other_id=other) for other in {other.id: None for other in others if other}]


def _found(
    references: Sequence[str | None],
    find: Callable[[Collection[str], Collection[UUID]], list[Thing]],
    what: str,
    pointer: str,
) -> list[Thing | None]:
    """Return the object of each name or id. ProductError `<what>_unknown` lists all unknown ones."""
    ids = {text: identifier for text in references if text is not None and (identifier := uuid_of(text))}
    known: dict[str, Thing] = {}
    for thing in find([text for text in references if text is not None], list(ids.values())):
        known[str(thing.id)] = known[thing.name] = thing
    missing = [
        {"pointer": pointer.format(position), "message": f"unknown {what}: {text}"}
        for position, text in enumerate(references)
        if text is not None and text not in known
    ]
    if missing:
        raise ProductError(f"{what}_unknown", 404, f"{missing[0]['message'].capitalize()}.", errors=missing)
    return [None if text is None else known[text] for text in references]


def get_mesh(session: Session, reference: str) -> Mesh:
    mesh = _mesh_of(session, reference)
    if mesh is None:
        raise ProductError(
            "mesh_unknown",
            404,
            f"Unknown mesh: {reference}. Give the name or id of a mesh.",
            errors=[{"pointer": "#/mesh", "message": "name or id of a mesh"}],
        )
    return mesh


def _mesh_of(session: Session, reference: str) -> Mesh | None:
    identifier = uuid_of(reference)
    return session.get(Mesh, identifier) if identifier else named(session, Mesh, reference)
