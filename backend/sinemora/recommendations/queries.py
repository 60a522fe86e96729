"""Queries of recommendations."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import AuditEntry
from sinemora.alerts.models import Delivery, Incident
from sinemora.applications.models import Application, Task
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.queries import lock_mesh
from sinemora.jobs.models import Job
from sinemora.recommendations.models import OPEN, Recommendation, RecommendationSchedule, RecommendationState


def places(session: Session, task_ids: Collection[UUID]) -> dict[UUID, tuple[UUID | None, datetime | None]]:
    """Return the current VM of each task and since when it is there; deleted tasks are absent."""
    rows = session.execute(select(Task.id, Task.vm_id, Task.placed_at).where(Task.id.in_(task_ids)))
    return {task_id: (vm_id, placed_at) for task_id, vm_id, placed_at in rows}


def source(session: Session, application_ids: Collection[UUID], at: datetime) -> str:
    """Return by whom or what one of these applications was changed in the transaction of a time, as half a sentence."""
    of_applications = AuditEntry.subject_id.in_(application_ids), AuditEntry.created_at == at
    entry = session.scalars(select(AuditEntry).where(*of_applications).limit(1)).one_or_none()
    if entry is None:
        return ""
    is_traffic = entry.action == "application.followed"
    return ": the last was seen in traffic" if is_traffic else f": {entry.actor_name} recorded the last of them"


def announced(session: Session, recommendation_id: UUID) -> set[UUID]:
    """Return the receivers to which accepted moves were sent, or are being sent."""
    of_moves = Delivery.content["recommendation"]["id"].astext == str(recommendation_id)
    return set(session.scalars(select(Delivery.receiver_id).where(Delivery.about == "accepted", of_moves)))


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


def tasks(session: Session, task_ids: Collection[UUID], *, lock: bool) -> list[Task]:
    """Return these tasks as they are now."""
    statement = select(Task).where(Task.id.in_(task_ids)).order_by(Task.id)
    statement = statement.with_for_update(of=Task) if lock else statement
    return list(session.scalars(statement, execution_options={"populate_existing": True}))


def vms(session: Session, vm_ids: Collection[UUID]) -> dict[UUID, Vm]:
    """Return those of these VMs that exist, with their zones, by id."""
    return {vm.id: vm for vm in session.scalars(select(Vm).where(Vm.id.in_(vm_ids)))}


def open_ones(session: Session) -> list[tuple[UUID, UUID]]:
    """Return (tenant, recommendation) of all open recommendations. Needs a system session."""
    rows = session.execute(select(Recommendation.tenant_id, Recommendation.id).where(Recommendation.state.in_(OPEN)))
    return [(tenant_id, identity) for tenant_id, identity in rows]


def cause(session: Session, incident_id: UUID) -> Incident | None:
    """Return an incident as it is now, or the one that it was found to be part of; None where it was deleted."""
    row = session.get(Incident, incident_id, populate_existing=True)
    while row is not None and row.merged_into is not None:
        row = session.get(Incident, row.merged_into, populate_existing=True)
    return row


def proposed_of(session: Session, mesh_id: UUID) -> list[Recommendation]:
    """Return the proposals of a mesh that nobody accepted, locked."""
    statement = (
        select(Recommendation)
        .where(Recommendation.mesh_id == mesh_id, Recommendation.state == RecommendationState.proposed)
        .order_by(Recommendation.id)
        .with_for_update(of=Recommendation)
    )
    return list(session.scalars(statement, execution_options={"populate_existing": True}))


def carried_out_for(session: Session, recommendation: Recommendation) -> UUID | None:
    """Return an accepted or applied recommendation of the mesh with a task that this proposal moves to the same VM."""
    targets = {(move["task"]["id"], move["target"]["id"]) for move in recommendation.moves}
    done = Recommendation.state.in_((RecommendationState.applied, RecommendationState.verified))
    others = session.scalars(
        select(Recommendation).where(
            Recommendation.mesh_id == recommendation.mesh_id,
            (Recommendation.state == RecommendationState.accepted)
            | (done & (Recommendation.decided_at >= recommendation.created_at)),
        )
    )
    shared = (one.id for one in others if targets & {(move["task"]["id"], move["target"]["id"]) for move in one.moves})
    return next(shared, None)


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


def moves_since(session: Session, mesh_ids: Collection[UUID], since: datetime) -> Counter[UUID]:
    """Return how many moves of each application of meshes were applied since a time; through a third VM is two."""
    rows = session.scalars(
        select(Recommendation.moves).where(Recommendation.mesh_id.in_(mesh_ids), Recommendation.applied_at >= since)
    )
    made: Counter[UUID] = Counter()
    for move in (one for moves in rows for one in moves if one["source"] is not None):
        made[UUID(move["application"]["id"])] += 1 if move["via"] is None else 2
    return made


def breaching(session: Session) -> list[Incident]:
    """Return the open incidents that keep an application below its objective. Needs a system session."""
    rows = session.scalars(select(Incident).where(Incident.ended_at.is_(None), Incident.merged_into.is_(None)))
    return [row for row in rows if below_objective(row)]


def below_objective(incident: Incident) -> list[str]:
    """Return the ids of the applications that an incident keeps below their objective."""
    return [
        one["id"]
        for one in incident.applications
        if None not in (one.get("objective"), one.get("performance")) and one["performance"] < one["objective"]
    ]


def is_searched(session: Session, incident: Incident) -> bool:
    """Return whether moves were searched for an incident since its newest onset."""
    of_incident = Job.params["request"]["incident_id"].astext == str(incident.id)
    return bool(session.scalar(select(exists().where(Job.created_at > incident.onset_at, of_incident))))


def undone_since(session: Session, since: datetime | None) -> int:
    """Return the number of recommendations that were undone since a time; None counts all."""
    statement = select(func.count()).where(Recommendation.state == RecommendationState.undone)
    if since is not None:
        statement = statement.where(Recommendation.decided_at >= since)
    return session.scalar(statement) or 0


def newest_of_mesh(session: Session, mesh_id: UUID) -> Recommendation | None:
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
