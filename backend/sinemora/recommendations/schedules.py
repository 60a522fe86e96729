"""Use cases of questions asked of a mesh regularly."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit.errors import NotFound
from sinemora.meshes.service import mesh_state
from sinemora.recommendations.models import RecommendationSchedule
from sinemora.recommendations.schemas import Question, ScheduleRead, ScheduleWrite
from sinemora.tenants import audit
from sinemora.tenants.access import Actor


def schedule(session: Session, actor: Actor, mesh_id: UUID, body: ScheduleWrite) -> ScheduleRead:
    """Ask this question of a mesh regularly, in place of what was asked before. ProductError `mesh_unknown`."""
    mesh = mesh_state(session, mesh_id)
    row = session.get(RecommendationSchedule, mesh_id)
    if row is None:
        row = RecommendationSchedule(mesh_id=mesh_id)
        session.add(row)
    row.every_h = body.every_h
    row.question = body.model_dump(mode="json", exclude={"every_h"})
    session.flush()
    audit.record(session, actor, "recommendation.scheduled", mesh_id, mesh.name, every_h=body.every_h)
    return schedule_read(row)


def scheduled(session: Session, mesh_id: UUID) -> RecommendationSchedule:
    """What is asked of a mesh regularly. ProductError `schedule_unknown`."""
    row = session.get(RecommendationSchedule, mesh_id)
    if row is None:
        raise NotFound("schedule")
    return row


def schedule_read(row: RecommendationSchedule) -> ScheduleRead:
    """As it is shown."""
    return ScheduleRead(every_h=row.every_h, question=Question.model_validate(row.question), asked_at=row.asked_at)
