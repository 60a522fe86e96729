"""Use cases of scheduled requests."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import existing
from sinemora.kit.http.etag import IfMatch
from sinemora.recommendations import checks
from sinemora.recommendations.models import RecommendationSchedule
from sinemora.recommendations.schemas import RecommendationRequest, ScheduleRead, ScheduleWrite


def put_schedule(
    session: Session, actor: Actor, mesh_id: UUID, body: ScheduleWrite, precondition: IfMatch
) -> ScheduleRead:
    """Create or replace the schedule of a mesh. ProductErrors of `checks.check`, `version_changed`."""
    mesh = mesh_state(session, mesh_id)
    checks.check(session, mesh_id, body)
    lock_mesh(session, mesh_id)  # of two first ones at once, the second replaces the first
    row = session.get(RecommendationSchedule, mesh_id)
    precondition.check(row)
    if row is None:
        row = RecommendationSchedule(mesh_id=mesh_id)
        session.add(row)
    row.every_h = body.every_h
    row.request = body.model_dump(mode="json", exclude={"every_h"})
    session.flush()
    audit.record(session, actor, "recommendation.scheduled", mesh_id, mesh.name, every_h=body.every_h)
    return schedule_read(row)


def delete_schedule(session: Session, actor: Actor, mesh_id: UUID, precondition: IfMatch) -> None:
    """Delete the schedule of a mesh. ProductError `schedule_unknown`, `version_changed`."""
    row = get_schedule(session, mesh_id)
    precondition.check(row)
    session.delete(row)
    audit.record(session, actor, "recommendation.unscheduled", mesh_id, str(mesh_id))


def get_schedule(session: Session, mesh_id: UUID) -> RecommendationSchedule:
    """Return the schedule of a mesh. ProductError `schedule_unknown`."""
    return existing(session.get(RecommendationSchedule, mesh_id), "schedule")


def asked(session: Session, mesh_id: UUID, at: datetime) -> None:
    """Record when a schedule last ran. Its version stays: people hold it while it runs."""
    session.execute(update(RecommendationSchedule).where(RecommendationSchedule.mesh_id == mesh_id).values(asked_at=at))


def schedule_read(row: RecommendationSchedule) -> ScheduleRead:
    """Convert to the API schema."""
    return ScheduleRead.from_row(row, request=RecommendationRequest.model_validate(row.request))
