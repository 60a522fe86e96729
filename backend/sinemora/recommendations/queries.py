"""Queries of recommendations."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.applications.models import Application, Task
from sinemora.applications.queries import lock_mesh
from sinemora.fleet.inventory.models import Vm
from sinemora.recommendations.models import OPEN, Recommendation, RecommendationSchedule, RecommendationState


def places(session: Session, task_ids: Collection[UUID]) -> dict[UUID, UUID | None]:
    """Return the current VM of each task; deleted tasks are absent."""
    rows = session.execute(select(Task.id, Task.vm_id).where(Task.id.in_(task_ids)))
    return {task_id: vm_id for task_id, vm_id in rows}


def lock_placement(
    session: Session, mesh_id: UUID, application_ids: Collection[UUID], vm_ids: Collection[UUID]
) -> None:
    """Lock what moves of these applications to these VMs rely on, until the end of the transaction.

    The row of the mesh serialises moves on it, and changes of its members, which raise its revision. VMs may be in
    several meshes: their rows, in one order, serialise moves to one VM. Rows that only refer to these do not wait.
    """
    lock_mesh(session, mesh_id)
    for table, ids in ((Vm, vm_ids), (Application, application_ids)):
        rows = select(table.id).where(table.id.in_(ids)).order_by(table.id)
        session.execute(rows.with_for_update(key_share=True, of=table))


def tasks(session: Session, task_ids: Collection[UUID]) -> list[Task]:
    """Return these tasks, locked, as they are now."""
    statement = select(Task).where(Task.id.in_(task_ids)).order_by(Task.id).with_for_update(of=Task)
    return list(session.scalars(statement, execution_options={"populate_existing": True}))


def vm_names(session: Session, vm_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the name of each VM that exists."""
    return {vm_id: name for vm_id, name in session.execute(select(Vm.id, Vm.name).where(Vm.id.in_(vm_ids)))}


def open_ones(session: Session) -> list[tuple[UUID, UUID]]:
    """Return (tenant, recommendation) of all open recommendations. Needs a system session."""
    rows = session.execute(select(Recommendation.tenant_id, Recommendation.id).where(Recommendation.state.in_(OPEN)))
    return [(tenant_id, identity) for tenant_id, identity in rows]


def applied_ones(session: Session) -> list[tuple[UUID, UUID]]:
    """Return (tenant, recommendation) of all applied and not verified. Needs a system session."""
    rows = session.execute(
        select(Recommendation.tenant_id, Recommendation.id).where(Recommendation.state == RecommendationState.applied)
    )
    return [(tenant_id, identity) for tenant_id, identity in rows]


def applied_times(session: Session, mesh_id: UUID, excluded: UUID) -> list[datetime]:
    """Return the times at which other recommendations of a mesh were applied, undone ones included."""
    return list(
        session.scalars(
            select(Recommendation.applied_at).where(
                Recommendation.mesh_id == mesh_id, Recommendation.id != excluded, Recommendation.applied_at.is_not(None)
            )
        )
    )


def undone_since(session: Session, since: datetime | None) -> int:
    """Return the number of recommendations that were undone since a time; None counts all."""
    statement = select(func.count()).where(Recommendation.state == RecommendationState.undone)
    if since is not None:
        statement = statement.where(Recommendation.decided_at >= since)
    return session.scalar(statement) or 0


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
