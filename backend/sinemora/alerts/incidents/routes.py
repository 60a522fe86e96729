"""HTTP of incidents."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.incidents import service
from sinemora.alerts.incidents.schemas import Assignment, IncidentRead, IncidentSummary, Note, SilencePreview
from sinemora.alerts.models import Incident, IncidentState
from sinemora.alerts.silences.schemas import SilenceCreate
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http import known_ids
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

known_ids.register(incident_id=Incident)
router = signed_in_router("/v1", "alerts")


@router.get("/incidents", response_model=Page[IncidentSummary])
def list_incidents(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only incidents of this mesh")] = None,
    state: Annotated[list[IncidentState] | None, Query(description="Only these")] = None,
    severity: Annotated[list[Severity] | None, Query(description="Only these")] = None,
) -> Slice[IncidentSummary]:
    """List incidents, newest first, without those merged into others."""
    query = select(Incident).where(Incident.merged_into.is_(None))
    if mesh_id is not None:
        query = query.where(Incident.mesh_id == mesh_id)
    if state:
        query = query.where(Incident.state.in_(state))
    if severity:
        query = query.where(Incident.severity.in_(severity))
    return paginate(session, query, page, Incident.opened_at, Incident.id, descending=True).mapped(service.summary)


@router.get("/incidents/{incident_id}", responses=responses(404))
def read_incident(incident_id: UUID, session: SessionDep, actor: Viewer) -> IncidentRead:
    """Read one incident: its suspect with the evidence, affected applications, timeline, similar earlier incidents."""
    return _read(session, service.get_incident(session, incident_id))


@router.post("/incidents/{incident_id}/acknowledge", responses=responses(404, 409, 412, 422))
def acknowledge_incident(
    incident_id: UUID, body: Note, session: SessionDep, actor: Editor, precondition: Precondition
) -> IncidentRead:
    """Acknowledge an incident: its notifications are no longer repeated."""
    state = IncidentState.acknowledged
    return _read(session, service.decide(session, actor, incident_id, state, body.text, precondition))


@router.post("/incidents/{incident_id}/resolve", responses=responses(404, 409, 412, 422))
def resolve_incident(
    incident_id: UUID, body: Note, session: SessionDep, actor: Editor, precondition: Precondition
) -> IncidentRead:
    """Resolve an incident."""
    state = IncidentState.resolved
    return _read(session, service.decide(session, actor, incident_id, state, body.text, precondition))


@router.post("/incidents/{incident_id}/reopen", responses=responses(404, 409, 412, 422))
def reopen_incident(
    incident_id: UUID, body: Note, session: SessionDep, actor: Editor, precondition: Precondition
) -> IncidentRead:
    """Reopen a resolved incident."""
    state = IncidentState.open
    return _read(session, service.decide(session, actor, incident_id, state, body.text, precondition))


@router.post("/incidents/{incident_id}/notes", status_code=201, responses=responses(404, 422))
def create_incident_note(incident_id: UUID, body: Note, session: SessionDep, actor: Editor) -> IncidentRead:
    """Add a note to the timeline."""
    return _read(session, service.add_note(session, actor, incident_id, body.text))


@router.put("/incidents/{incident_id}/assignees", responses=responses(404, 412, 422))
def assign_incident(
    incident_id: UUID,
    body: Assignment,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> IncidentRead:
    """Assign an incident to a person; null: to no one."""
    return _read(session, service.assign(session, actor, incident_id, body.assignee, precondition))


def _read(session: SessionDep, row: Incident) -> IncidentRead:
    return service.incident_read(session, row)


@router.post("/silence-previews", responses=responses(422))
@only_reads
def preview_silence(body: SilenceCreate, session: SessionDep, actor: Viewer) -> SilencePreview:
    """List the incidents of the last week that a silence would have matched. Nothing is saved."""
    return service.preview_silence(session, body)
