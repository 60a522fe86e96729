"""Queries of recommendations."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.applications.models import Application, Task
from sinemora.recommendations.models import OPEN, Recommendation, RecommendationSchedule, RecommendationState


def locked(session: Session, recommendation_id: UUID) -> Recommendation | None:
    """Return the tenant's recommendation, locked against concurrent decisions."""
    statement = select(Recommendation).where(Recommendation.id == recommendation_id).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()


def places(session: Session, task_ids: Collection[UUID]) -> dict[UUID, UUID | None]:
    """Return the current VM of each task; deleted tasks are absent."""
    rows = session.execute(select(Task.id, Task.vm_id).where(Task.id.in_(task_ids)))
    return {task_id: vm_id for task_id, vm_id in rows}


def tasks(session: Session, task_ids: Collection[UUID]) -> list[Task]:
    """Return these tasks, locked."""
    return list(session.scalars(select(Task).where(Task.id.in_(task_ids)).with_for_update(of=Task)))


def open_ones(session: Session) -> list[tuple[UUID, UUID]]:
    """Return (tenant, recommendation) of all open recommendations. Needs a system session."""
    rows = session.execute(select(Recommendation.tenant_id, Recommendation.id).where(Recommendation.state.in_(OPEN)))
    return [(tenant_id, identity) for tenant_id, identity in rows]


def applied_before(session: Session, at: datetime) -> list[tuple[UUID, UUID]]:
    """Return (tenant, recommendation) of all applied before `at` and not verified. Needs a system session."""
    rows = session.execute(
        select(Recommendation.tenant_id, Recommendation.id).where(
            Recommendation.state == RecommendationState.applied, Recommendation.applied_at < at
        )
    )
    return [(tenant_id, identity) for tenant_id, identity in rows]


def newest_of_mesh(session: Session, mesh_id: UUID) -> Recommendation | None:
    """Return the newest recommendation of a mesh."""
    return session.scalars(
        select(Recommendation)
        .where(Recommendation.mesh_id == mesh_id)
        .order_by(Recommendation.created_at.desc())
        .limit(1)
    ).one_or_none()


def verified(session: Session, limit: int) -> list[Recommendation]:
    """Return verified recommendations, newest first."""
    return list(
        session.scalars(
            select(Recommendation)
            .where(Recommendation.state == RecommendationState.verified)
            .order_by(Recommendation.verified_at.desc())
            .limit(limit)
        )
    )


def schedules(session: Session) -> list[RecommendationSchedule]:
    """Return the schedules of the tenant, or of all tenants in a system session."""
    return list(session.scalars(select(RecommendationSchedule)))


def with_objective(session: Session) -> list[tuple[UUID, UUID, UUID]]:
    """Return (tenant, mesh, application) of all applications with an objective. Needs a system session."""
    rows = session.execute(
        select(Application.tenant_id, Application.mesh_id, Application.id).where(Application.objective.is_not(None))
    )
    return [(tenant_id, mesh_id, identity) for tenant_id, mesh_id, identity in rows]
