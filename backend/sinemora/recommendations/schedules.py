"""Use cases of scheduled requests."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import existing
from sinemora.recommendations import checks
from sinemora.recommendations.models import RecommendationSchedule
from sinemora.recommendations.schemas import RecommendationRequest, ScheduleRead, ScheduleWrite


def put_schedule(session: Session, actor: Actor, mesh_id: UUID, body: ScheduleWrite) -> ScheduleRead:
    """Create or replace the schedule of a mesh. ProductErrors of `checks.check`."""
    mesh = mesh_state(session, mesh_id)
    checks.check(session, mesh_id, body)
    row = session.get(RecommendationSchedule, mesh_id)
    if row is None:
        row = RecommendationSchedule(mesh_id=mesh_id)
        session.add(row)
    row.every_h = body.every_h
    row.request = body.model_dump(mode="json", exclude={"every_h"})
    session.flush()
    audit.record(session, actor, "recommendation.scheduled", mesh_id, mesh.name, every_h=body.every_h)
    return schedule_read(row)


def get_schedule(session: Session, mesh_id: UUID) -> RecommendationSchedule:
    """Return the schedule of a mesh. ProductError `schedule_unknown`."""
    return existing(session.get(RecommendationSchedule, mesh_id), "schedule")


def schedule_read(row: RecommendationSchedule) -> ScheduleRead:
    """Convert to the API schema."""
    return ScheduleRead(
        every_h=row.every_h, request=RecommendationRequest.model_validate(row.request), asked_at=row.asked_at
    )
