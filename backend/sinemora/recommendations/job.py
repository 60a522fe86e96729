"""The job that looks for moves, and how it is asked for."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.meshes.service import get_mesh
from sinemora.recommendations import service
from sinemora.recommendations.models import Trigger
from sinemora.recommendations.schemas import Question
from sinemora.tenants.access import Actor


def _work(running: JobContext) -> dict[str, Any]:
    running.progress(None, "reading windows, looking for better places")
    with running.session() as session:
        found = service.recommend(
            session,
            UUID(running.params["mesh_id"]),
            Question.model_validate(running.params["question"]),
            Trigger(running.params["trigger"]),
            running.requested_by,
        )
        return {"recommendation_id": str(found.id), "moves": len(found.moves)}


RECOMMEND = register(JobKind("recommendations.recommend", Queue.solve, _work))


def ask(session: Session, actor: Actor | None, mesh_id: UUID, question: Question, trigger: Trigger) -> Job:
    """Look for moves on a mesh, as a job. ProductError `mesh_unknown`, `jobs_too_many`."""
    mesh = get_mesh(session, mesh_id)
    params = {"mesh_id": str(mesh_id), "question": question.model_dump(mode="json"), "trigger": trigger}
    return jobs.submit(session, actor, RECOMMEND, f"Moves on {mesh.name}", params)
