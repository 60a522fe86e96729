"""HTTP of measurements on demand, for people and for agents."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.fleet.inventory.agents import AgentDep, signed_in_agents
from sinemora.fleet.meshes.models import OnDemandMeasurement
from sinemora.kit.db import SessionDep, tenant_session
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.measurements.live.publisher import announce
from sinemora.measurements.on_demand import reading, service
from sinemora.measurements.on_demand.schemas import (
    OnDemandCreate,
    OnDemandRead,
    OnDemandResult,
    OnDemandWindowCreate,
    SourcePortsRead,
)

router = signed_in_router("/v1/on-demand-measurements", "measurements")
path_router = signed_in_router("/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}", "measurements")
agent_router = signed_in_agents(404, 409, 422)


@router.get("", responses=responses(422))
def list_on_demand_measurements(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only of this mesh")] = None,
    source_vm_id: Annotated[UUID | None, Query(description="Only from this VM")] = None,
    target_vm_id: Annotated[UUID | None, Query(description="Only to this VM")] = None,
) -> Page[OnDemandRead]:
    """List the measurements on demand, newest first. The newest 200 of a tenant are kept for 30 days."""
    statement = select(OnDemandMeasurement)
    if mesh_id is not None:
        statement = statement.where(OnDemandMeasurement.mesh_id == mesh_id)
    if source_vm_id is not None:
        statement = statement.where(OnDemandMeasurement.source_vm_id == source_vm_id)
    if target_vm_id is not None:
        statement = statement.where(OnDemandMeasurement.target_vm_id == target_vm_id)
    rows = paginate(session, statement, page, OnDemandMeasurement.starts_at, OnDemandMeasurement.id, descending=True)
    return Page(items=reading.read_all(session, rows.items), next_cursor=rows.next_cursor)


@router.post("", status_code=201, responses=responses(404, 409, 422))
def create_on_demand_measurement(body: OnDemandCreate, session: SessionDep, actor: Editor) -> OnDemandRead:
    """Measure one pair now, at up to 128 exchanges per second for up to a minute. It starts within four seconds.

    The live stream of the mesh carries each second as `event: on_demand`; data: `{id, window}`.
    """
    return service.create(session, actor, body)


@router.get("/{measurement_id}", responses=responses(404))
def read_on_demand_measurement(measurement_id: UUID, session: SessionDep, actor: Viewer) -> OnDemandResult:
    """Return a measurement on demand with its seconds so far."""
    return service.read(session, measurement_id)


@router.post("/{measurement_id}/stop", responses=responses(404))
def stop_on_demand_measurement(measurement_id: UUID, session: SessionDep, actor: Editor) -> OnDemandRead:
    """Stop a measurement on demand; its seconds so far stay."""
    return service.stop(session, actor, measurement_id)


@router.get(
    "/{measurement_id}/exchanges",
    response_class=StreamingResponse,
    responses=responses(404) | {200: {"content": {"text/csv": {}}, "description": "A line for each exchange"}},
)
def export_exchanges(measurement_id: UUID, session: SessionDep, actor: Viewer) -> StreamingResponse:
    """Return every exchange of a measurement as CSV. An empty field is not measured, or unknown."""
    rows = service.csv_rows(session, measurement_id)
    name = f"exchanges-{measurement_id}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=headers)


@path_router.get("/source-ports")
def read_source_ports(
    mesh_id: UUID, source_vm_id: UUID, target_vm_id: UUID, session: SessionDep, actor: Viewer, response: Response
) -> SourcePortsRead:
    """Return which source ports of a VM reach another one faster, by the newest sweeps of on-demand measurements.

    Small enough for a client library, which may keep it for a minute.
    """
    response.headers["Cache-Control"] = "private, max-age=60"
    return service.source_ports(session, mesh_id, source_vm_id, target_vm_id)


@agent_router.post("/on-demand-windows", status_code=204)
def create_on_demand_window(body: OnDemandWindowCreate, agent: AgentDep) -> None:
    """Store a second of a measurement on demand; a repeated one is ignored."""
    with tenant_session(agent.tenant_id) as session:
        added = service.add_window(session, agent, body)
    if added is not None:
        mesh_id, measurement_id, second = added
        announce(mesh_id, "on_demand", {"id": str(measurement_id), "window": second.model_dump(mode="json")})
