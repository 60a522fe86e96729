"""Routes of what-if analysis, scenarios and options."""

from typing import Annotated
from uuid import UUID

from fastapi import Header, Query, Response
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.jobs.responses import ACCEPTED
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.recommendations.service import resolve_mesh
from sinemora.recommendations.what_if import evaluate, options_job, service
from sinemora.recommendations.what_if.models import Scenario
from sinemora.recommendations.what_if.schemas import (
    NextVmsRead,
    NextVmsRequest,
    OptionsRead,
    OptionsRequest,
    ScenarioCreate,
    ScenarioRead,
    ScenarioUpdate,
    WhatIf,
    WhatIfCreate,
    WhatIfRead,
)

router = signed_in_router("/v1", "scenarios")


@router.post("/what-if", responses=responses(409, 422))
@only_reads
def ask_what_if(body: WhatIfCreate, session: SessionDep, actor: Viewer) -> WhatIfRead:
    """Evaluate changes of tasks, VMs, zones, latencies or curves for every application of a mesh. Stores nothing."""
    request = WhatIf.model_validate(body.model_dump(exclude={"mesh"}))
    return evaluate.evaluate(session, resolve_mesh(session, body.mesh).id, request)


@router.get("/scenarios", response_model=Page[ScenarioRead])
def list_scenarios(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Filter by mesh")] = None,
) -> Slice[ScenarioRead]:
    """List scenarios by name."""
    statement = select(Scenario) if mesh_id is None else select(Scenario).where(Scenario.mesh_id == mesh_id)
    return paginate(session, statement, page, Scenario.name).mapped(service.scenario_read)


@router.post("/scenarios", status_code=201, responses=responses(409, 422))
def create_scenario(body: ScenarioCreate, session: SessionDep, actor: Editor) -> ScenarioRead:
    """Save a what-if request as a scenario."""
    return _respond(service.create_scenario(session, actor, body))


@router.get("/scenarios/{scenario_id}", responses=responses(404))
def read_scenario(scenario_id: UUID, session: SessionDep, actor: Viewer) -> ScenarioRead:
    """Return a scenario."""
    return _respond(service.get_scenario(session, scenario_id))


@router.patch("/scenarios/{scenario_id}", responses=responses(404, 409, 412, 422, 428))
def update_scenario(
    scenario_id: UUID,
    body: ScenarioUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> ScenarioRead:
    """Update a scenario; its changes are replaced as a whole."""
    return _respond(service.update_scenario(session, actor, scenario_id, body, precondition))


@router.delete("/scenarios/{scenario_id}", status_code=204, responses=responses(404, 412))
def delete_scenario(scenario_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a scenario."""
    service.delete_scenario(session, actor, scenario_id, precondition)


@router.get(
    "/applications/{application_id}/options",
    response_model=OptionsRead,
    responses={**ACCEPTED, **responses(404, 409, 422)},
)
def list_application_options(
    application_id: UUID,
    session: SessionDep,
    actor: Viewer,
    request: Annotated[OptionsRequest, Query()],
    prefer: Annotated[str, Header(description="`respond-async` (RFC 7240): always run as a job")] = "",
) -> OptionsRead | Response:
    """List role swaps, re-created VMs and additional VMs for an application, with gain and price.

    Of a large application or mesh, a job does this, and its output is the list.
    """
    respond_async = "respond-async" in prefer.lower()
    return options_job.respond(session, actor, application_id, request, respond_async)


@router.get("/applications/{application_id}/next-vms", responses=responses(404, 409, 422))
def list_places_of_next_vms(
    application_id: UUID, session: SessionDep, actor: Viewer, request: Annotated[NextVmsRequest, Query()]
) -> NextVmsRead:
    """List where the next VMs of an application should be, how many to rent for a trial, and its idle VMs by rank."""
    return service.next_vms_of(session, application_id, request)


def _respond(scenario: Scenario) -> ScenarioRead:
    return service.scenario_read(scenario)
