"""SQL of incidents."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, or_, select, text, true
from sqlalchemy.orm import Session

from sinemora.alerts.models import Incident, IncidentEvent


def agent_events(
    session: Session, vm_ids: Sequence[UUID], since: datetime, until: datetime | None, limit: int
) -> list[tuple[datetime, str, str]]:
    """Return clock steps and route changes that agents reported: time, VM and text; newest first."""
    rows = session.execute(
        text(
            "SELECT e.at, v.name, e.detail->>'message' FROM agent_events e"
            " JOIN agents a ON a.tenant_id = e.tenant_id AND a.id = e.agent_id"
            " JOIN vms v ON v.tenant_id = a.tenant_id AND v.id = a.vm_id"
            " WHERE e.tenant_id = :tenant_id AND a.vm_id = ANY(:vm_ids) AND e.at >= :since"
            " AND e.at <= coalesce(:until, 'infinity'::timestamptz)"
            " AND e.kind IN ('clock_step', 'route_change') ORDER BY e.at DESC, e.id DESC LIMIT :limit"
        ),
        {
            "tenant_id": session.info["tenant_id"],
            "vm_ids": list(vm_ids),
            "since": since,
            "until": until,
            "limit": limit,
        },
    )
    return [(at, name, message or "") for at, name, message in rows]


def delete_some(session: Session, mesh_id: UUID, limit: int) -> int:
    """Delete some incidents of a mesh with their timelines and deliveries; return how many."""
    some = select(Incident.id).where(Incident.mesh_id == mesh_id).limit(limit)
    statement = delete(Incident).where(Incident.id.in_(some)).returning(Incident.id)
    return len(session.scalars(statement, execution_options={"synchronize_session": False}).all())


def ongoing(
    session: Session, mesh_id: UUID, ended_after: datetime, onset_until: datetime | None = None
) -> list[Incident]:
    """Return incidents of a mesh that are open or ended after a time, oldest first, without merged ones.

    `onset_until`: only those that began by then.
    """
    return list(
        session.scalars(
            select(Incident)
            .where(
                Incident.mesh_id == mesh_id,
                Incident.merged_into.is_(None),
                or_(Incident.ended_at.is_(None), Incident.ended_at >= ended_after),
                true() if onset_until is None else Incident.onset_at <= onset_until,
            )
            .order_by(Incident.opened_at, Incident.id)
        )
    )


def has_event(session: Session, incident_id: UUID, kind: str) -> bool:
    """Return whether the timeline of an incident has an event of this kind."""
    event = select(IncidentEvent.id).where(IncidentEvent.incident_id == incident_id, IncidentEvent.kind == kind)
    return session.scalar(event.limit(1)) is not None


def earlier(session: Session, incident: Incident, since: datetime, limit: int) -> list[Incident]:
    """Return incidents of its mesh that opened since a time and before it, newest first.

    They have the same culprit, or about as many paths: at least half as many, at most twice.
    """
    size = len(incident.paths)
    count = func.octet_length(Incident.paths)
    return list(
        session.scalars(
            select(Incident)
            .where(
                Incident.mesh_id == incident.mesh_id,
                Incident.id != incident.id,
                Incident.merged_into.is_(None),
                Incident.opened_at.between(since, incident.opened_at),
                or_(Incident.culprit == incident.culprit, count.between(max(size // 2, 1), 2 * size)),
            )
            .order_by(Incident.opened_at.desc())
            .limit(limit)
        )
    )
