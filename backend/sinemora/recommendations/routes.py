"""HTTP of recommendations."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from sinemora.jobs import service as jobs
from sinemora.jobs.schemas import JobRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.etag import Precondition, tag
from sinemora.kit.idempotency import ProductRoute
from sinemora.kit.paging import Page, Paging, Slice, paginate
from sinemora.recommendations import job as recommendation_job
from sinemora.recommendations import schedules, service
from sinemora.recommendations.models import Recommendation, RecommendationState, Trigger
from sinemora.recommendations.schemas import (
    Accuracy,
    Decision,
    Question,
    RecommendationCreate,
    RecommendationRead,
    RecommendationSummary,
    ScheduleRead,
    ScheduleWrite,
)
from sinemora.tenants import audit
from sinemora.tenants.access import Editor, SignedIn, Viewer

router = APIRouter(
    prefix="/v1",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["recommendations"],
    responses=responses(401, 403, 429),
)


@router.get("/recommendations", response_model=Page[RecommendationSummary])
def list_recommendations(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only on this mesh")] = None,
    state: Annotated[list[RecommendationState] | None, Query(description="Only these")] = None,
) -> Slice[RecommendationSummary]:
    """Recommendations, newest first."""
    wanted = select(Recommendation)
    if mesh_id is not None:
        wanted = wanted.where(Recommendation.mesh_id == mesh_id)
    if state:
        wanted = wanted.where(Recommendation.state.in_(state))
    found = paginate(session, wanted, page, Recommendation.created_at, Recommendation.id, descending=True)
    return Slice([service.summary(one) for one in found.items], found.next_cursor)


@router.post("/recommendations", status_code=202, responses=responses(409, 422))
def create_recommendation(
    response: Response, body: RecommendationCreate, session: SessionDep, actor: Editor
) -> JobRead:
    """Look for moves worth making; the job's result names the recommendation."""
    mesh = service.mesh_of(session, body.mesh)
    question = Question.model_validate(body.model_dump(exclude={"mesh"}))
    job = recommendation_job.ask(session, actor, mesh.id, question, Trigger.asked)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return jobs.read(job)


@router.get("/recommendations/accuracy")
def read_recommendation_accuracy(
    session: SessionDep, actor: Viewer, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Accuracy:
    """How right recommendations were, of those that were applied and verified."""
    return service.accuracy(session, limit)


@router.get("/recommendations/{recommendation_id}", responses=responses(404))
def read_recommendation(
    request: Request, recommendation_id: UUID, session: SessionDep, actor: Viewer
) -> RecommendationRead:
    """One recommendation: its moves, what they gain, what proves it, what came of it."""
    return _shown(request, service.get_recommendation(session, recommendation_id))


@router.post("/recommendations/{recommendation_id}/accept", responses=responses(404, 409, 412))
def accept_recommendation(
    request: Request, recommendation_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> RecommendationRead:
    """Say that the moves will be made. Sinemora never makes them itself."""
    return _shown(request, service.accept(session, actor, recommendation_id, precondition))


@router.post("/recommendations/{recommendation_id}/dismiss", responses=responses(404, 409, 412, 422))
def dismiss_recommendation(
    request: Request,
    recommendation_id: UUID,
    body: Decision,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> RecommendationRead:
    """Say that the moves will not be made, and why."""
    return _shown(request, service.dismiss(session, actor, recommendation_id, body.reason, precondition))


@router.post("/recommendations/{recommendation_id}/apply", responses=responses(404, 409, 412))
def apply_recommendation(
    request: Request, recommendation_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> RecommendationRead:
    """Say that the moves were made: its tasks are where it put them from now on, and its outcome is measured."""
    return _shown(request, service.apply(session, actor, recommendation_id, precondition))


@router.get("/meshes/{mesh_id}/recommendation-schedules", responses=responses(404))
def read_recommendation_schedule(mesh_id: UUID, session: SessionDep, actor: Viewer) -> ScheduleRead:
    """What is asked of a mesh regularly."""
    return schedules.schedule_read(schedules.scheduled(session, mesh_id))


@router.put("/meshes/{mesh_id}/recommendation-schedules", responses=responses(404, 422))
def write_recommendation_schedule(
    mesh_id: UUID, body: ScheduleWrite, session: SessionDep, actor: Editor
) -> ScheduleRead:
    """Ask this question of a mesh every so often."""
    return schedules.schedule(session, actor, mesh_id, body)


@router.delete("/meshes/{mesh_id}/recommendation-schedules", status_code=204, responses=responses(404))
def delete_recommendation_schedule(mesh_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Ask no more."""
    row = schedules.scheduled(session, mesh_id)
    session.delete(row)
    audit.record(session, actor, "recommendation.unscheduled", mesh_id, str(mesh_id))


def _shown(request: Request, found: Recommendation) -> RecommendationRead:
    tag(request, found)
    return service.read(found)
