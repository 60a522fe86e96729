"""Routes of recommendations."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from fastapi.responses import PlainTextResponse
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.jobs import service as jobs
from sinemora.jobs.schemas import JobRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.recommendations import checks, contracts, plans, schedules, service
from sinemora.recommendations import job as recommendation_job
from sinemora.recommendations.models import Recommendation, RecommendationState, Trigger
from sinemora.recommendations.plans import PlanFormat
from sinemora.recommendations.schemas import (
    Accuracy,
    ContractRead,
    Decision,
    RecommendationCreate,
    RecommendationRead,
    RecommendationRequest,
    RecommendationSummary,
    ScheduleRead,
    ScheduleWrite,
)

router = signed_in_router("/v1", "recommendations")

Month = Annotated[str | None, Query(description="Month such as 2026-11 (UTC); default: the last 30 days")]


@router.get("/recommendations", response_model=Page[RecommendationSummary])
def list_recommendations(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Filter by mesh")] = None,
    state: Annotated[list[RecommendationState] | None, Query(description="Filter by state")] = None,
) -> Slice[RecommendationSummary]:
    """List recommendations, newest first."""
    statement = select(Recommendation)
    if mesh_id is not None:
        statement = statement.where(Recommendation.mesh_id == mesh_id)
    if state:
        statement = statement.where(Recommendation.state.in_(state))
    rows = paginate(session, statement, page, Recommendation.created_at, Recommendation.id, descending=True)
    return rows.mapped(service.summary)


@router.post("/recommendations", status_code=202, responses=responses(404, 409, 422))
def create_recommendation(
    response: Response, body: RecommendationCreate, session: SessionDep, actor: Editor
) -> JobRead:
    """Search for moves worth making, as a job whose result names the recommendation."""
    mesh = service.resolve_mesh(session, body.mesh or str(body.mesh_id), "mesh" if body.mesh else "mesh_id")
    request = RecommendationRequest.model_validate(body.model_dump(exclude={"mesh", "mesh_id"}, exclude_unset=True))
    checks.check(session, mesh.id, request)
    job = recommendation_job.submit(session, actor, mesh.id, request, Trigger.asked)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return jobs.read(job)


@router.get("/recommendations/accuracy")
def read_recommendation_accuracy(
    session: SessionDep, actor: Viewer, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Accuracy:
    """Report the accuracy of applied and verified recommendations."""
    return service.accuracy(session, limit)


@router.get("/recommendations/{recommendation_id}", responses=responses(404))
def read_recommendation(recommendation_id: UUID, session: SessionDep, actor: Viewer) -> RecommendationRead:
    """Return a recommendation with its moves, gains, proof and outcome."""
    return service.read(session, service.get_recommendation(session, recommendation_id))


@router.get(
    "/recommendations/{recommendation_id}/plan",
    response_class=PlainTextResponse,
    responses=responses(404, 409, 422),
)
def read_recommendation_plan(
    recommendation_id: UUID,
    session: SessionDep,
    actor: Viewer,
    format: Annotated[PlanFormat, Query(description="Format of the plan")] = PlanFormat.KUBERNETES,
    back: Annotated[bool, Query(description="The way back")] = False,
) -> PlainTextResponse:
    """Return the moves as text to carry out. Sinemora itself never does."""
    found = service.get_recommendation(session, recommendation_id)
    return PlainTextResponse(plans.written(session, found, format, back=back))


@router.post("/recommendations/{recommendation_id}/accept", responses=responses(404, 409, 412))
def accept_recommendation(
    recommendation_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> RecommendationRead:
    """Mark as accepted. Sinemora itself never moves tasks."""
    return service.read(session, service.accept(session, actor, recommendation_id, precondition))


@router.post("/recommendations/{recommendation_id}/dismiss", responses=responses(404, 409, 412, 422))
def dismiss_recommendation(
    recommendation_id: UUID,
    body: Decision,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> RecommendationRead:
    """Dismiss, with a reason."""
    return service.read(session, service.dismiss(session, actor, recommendation_id, body.reason, precondition))


@router.post("/recommendations/{recommendation_id}/apply", responses=responses(404, 409, 412))
def apply_recommendation(
    recommendation_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> RecommendationRead:
    """Mark as applied: the tasks are recorded on their new VMs, and the outcome will be measured."""
    return service.read(session, service.apply(session, actor, recommendation_id, precondition))


@router.get("/contracts", responses=responses(422))
def list_contracts(session: SessionDep, actor: Viewer, month: Month = None) -> list[ContractRead]:
    """Report on every contract by name of its application: kept time, budget, what broke it."""
    return contracts.report(session, month)


@router.get("/applications/{application_id}/contract", responses=responses(404, 422))
def read_contract(application_id: UUID, session: SessionDep, actor: Viewer, month: Month = None) -> ContractRead:
    """Return the account of an application's contract."""
    return contracts.read(session, application_id, month)


@router.get("/meshes/{mesh_id}/recommendation-schedules", responses=responses(404))
def read_recommendation_schedule(mesh_id: UUID, session: SessionDep, actor: Viewer) -> ScheduleRead:
    """Return the schedule of a mesh."""
    return schedules.schedule_read(schedules.get_schedule(session, mesh_id))


@router.put("/meshes/{mesh_id}/recommendation-schedules", responses=responses(404, 409, 412, 422))
def set_recommendation_schedule(
    mesh_id: UUID, body: ScheduleWrite, session: SessionDep, actor: Editor, precondition: Precondition
) -> ScheduleRead:
    """Create or replace the schedule of a mesh."""
    return schedules.put_schedule(session, actor, mesh_id, body, precondition)


@router.delete("/meshes/{mesh_id}/recommendation-schedules", status_code=204, responses=responses(404, 412))
def delete_recommendation_schedule(
    mesh_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> None:
    """Delete the schedule of a mesh."""
    schedules.delete_schedule(session, actor, mesh_id, precondition)
