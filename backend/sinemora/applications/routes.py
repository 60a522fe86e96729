"""Routes of applications and of VM capacity."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Query, Response
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.applications import manifest, path_costs, reading, schemas, service
from sinemora.applications.models import Application
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.http.routes import accepts
from sinemora.measurements.aggregate.matrix import Statistic
from sinemora.measurements.query.requests import Selections

router = signed_in_router("/v1", "applications")

YAML = "application/yaml"
_YAML_ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {YAML: {"schema": {"type": "string"}}}}}
_YAML_BODY = {"requestBody": {"content": {YAML: {"schema": {"type": "string"}}}, "required": True}}
InMesh = Annotated[UUID | None, Query(description="Only applications on this mesh")]


@router.get("/applications", response_model=Page[schemas.ApplicationRead])
def list_applications(
    session: SessionDep, actor: Viewer, page: Paging, mesh_id: InMesh = None
) -> Slice[schemas.ApplicationRead]:
    """List the tenant's applications by name."""
    statement = select(Application) if mesh_id is None else select(Application).where(Application.mesh_id == mesh_id)
    rows = paginate(session, statement, page, Application.name)
    return Slice(reading.shown(session, list(rows.items)), rows.next_cursor)


@router.post("/applications", status_code=201, responses=responses(409, 422))
def create_application(body: schemas.ApplicationCreate, session: SessionDep, actor: Editor) -> schemas.ApplicationRead:
    """Declare an application: mesh, curve, tasks and their VMs."""
    return _shown(session, service.create_application(session, actor, body))


@router.get("/applications/manifest", response_class=Response, responses=_YAML_ANSWER)
def export_applications(session: SessionDep, actor: Viewer, mesh_id: InMesh = None) -> Response:
    """Export all applications as one YAML document for `POST /v1/applications/manifest`."""
    statement = select(Application).order_by(Application.name)
    rows = session.scalars(statement if mesh_id is None else statement.where(Application.mesh_id == mesh_id))
    return Response(manifest.written(reading.shown(session, list(rows))), media_type=YAML)


@router.post("/applications/manifest", openapi_extra=_YAML_BODY, responses=responses(409, 413, 422))
@accepts(lambda settings: settings.data_limit_bytes)
def import_applications(
    session: SessionDep, actor: Editor, body: Annotated[bytes, Body(media_type=YAML)]
) -> schemas.ManifestResult:
    """Create or update applications from a YAML document; applications not in it stay."""
    return manifest.bring(session, actor, body)


@router.get("/applications/{application_id}", responses=responses(404))
def read_application(application_id: UUID, session: SessionDep, actor: Viewer) -> schemas.ApplicationRead:
    """Return an application."""
    return _shown(session, service.get_application(session, application_id))


@router.patch("/applications/{application_id}", responses=responses(404, 409, 412, 422, 428))
def update_application(
    application_id: UUID,
    body: schemas.ApplicationUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> schemas.ApplicationRead:
    """Update an application; tasks and edges are replaced as a whole."""
    return _shown(session, service.update_application(session, actor, application_id, body, precondition))


@router.delete("/applications/{application_id}", status_code=204, responses=responses(404, 412))
def delete_application(application_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete an application; its VMs stay."""
    service.delete_application(session, actor, application_id, precondition)


@router.get("/applications/{application_id}/performance", responses=responses(404))
def read_application_performance(
    application_id: UUID,
    session: SessionDep,
    actor: Viewer,
    statistic: Annotated[Statistic, Query(description="Statistic of the newest round trips")] = Statistic.P50,
) -> schemas.ApplicationPerformance:
    """Return the performance under the newest round trips, link by link."""
    return reading.performance(session, service.get_application(session, application_id), statistic)


@router.get("/applications/{application_id}/sensitivity", responses=responses(404))
def read_application_sensitivity(
    application_id: UUID, session: SessionDep, actor: Viewer
) -> schemas.ApplicationSensitivity:
    """Return the performance that a link of the application reaches by its round trip, as a table."""
    return reading.sensitivity(session, service.get_application(session, application_id))


@router.get("/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/applications", responses=responses(404))
def list_path_applications(
    mesh_id: UUID, source_vm_id: UUID, target_vm_id: UUID, session: SessionDep, actor: Viewer
) -> schemas.PathApplications:
    """List the applications with links between two VMs, and what the newest round trips of the path cost each."""
    return reading.on_path(session, mesh_id, source_vm_id, target_vm_id)


@router.get("/meshes/{mesh_id}/path-costs", responses=responses(404, 422))
def list_path_costs(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    selections: Annotated[Selections, Query()] = ["mesh"],  # noqa: B006
) -> schemas.PathCosts:
    """List the application that each of some paths or zone pairs costs most, by the newest round trips."""
    return path_costs.costs_of(session, mesh_id, selections)


@router.get("/vms/{vm_id}/capacity", responses=responses(404))
def read_vm_capacity(vm_id: UUID, session: SessionDep, actor: Viewer) -> schemas.CapacityRead:
    """Return the capacity of a VM; one slot by default."""
    return reading.capacity_read(service.capacity_of(session, vm_id))


@router.patch("/vms/{vm_id}/capacity", responses=responses(404, 412, 422, 428))
def update_vm_capacity(
    vm_id: UUID, body: schemas.CapacityUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> schemas.CapacityRead:
    """Update the capacity, price and host of a VM."""
    return reading.capacity_read(service.update_capacity(session, actor, vm_id, body, precondition))


def _shown(session: SessionDep, application: Application) -> schemas.ApplicationRead:
    return reading.shown(session, [application])[0]
