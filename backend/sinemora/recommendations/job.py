"""Job that searches for moves, and its submission."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.service import get_mesh
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.recommendations import service
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.placement import progress
from sinemora.recommendations.schemas import RecommendationRequest


def _work(running: JobContext) -> dict[str, Any]:
    if running.checkpoint is not None:  # stored by an attempt whose worker died before it could say so
        return running.checkpoint
    running.progress(0.0, "reading windows")
    with (
        running.session() as session,
        progress.listening(lambda solve: running.progress(solve.share, solve.words)),
    ):
        recommendation = service.recommend(
            session,
            UUID(running.params["mesh_id"]),
            RecommendationRequest.model_validate(running.params["request"]),
            Trigger(running.params["trigger"]),
            running.requested_by,
        )
        result = {"recommendation_id": str(recommendation.id), "moves": len(recommendation.moves)}
        running.keep(session, result)
        return result


RECOMMEND = register(
    JobKind(
        "recommendations.recommend",
        Queue.solve,
        _work,
        href="/v1/recommendations/{recommendation_id}",
        libraries=("scipy.special",),
    )
)


def submit(
    session: Session, actor: Actor | None, mesh_id: UUID, request: RecommendationRequest, trigger: Trigger
) -> Job:
    """Submit the search for moves on a mesh as a job. ProductError `mesh_unknown`, `jobs_too_many`."""
    mesh = get_mesh(session, mesh_id)
    params = {"mesh_id": str(mesh_id), "request": request.model_dump(mode="json"), "trigger": trigger}
    return jobs.submit(session, actor, RECOMMEND, f"Moves on {mesh.name}", params)
