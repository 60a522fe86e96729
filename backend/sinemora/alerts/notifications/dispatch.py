"""Notifications of incidents: which receivers, when; rows that are sent after the commit."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from sinemora.alerts.labels import labels_of
from sinemora.alerts.models import Delivery, DeliveryState, Incident, IncidentState, ReceiverKind
from sinemora.alerts.notifications.delivery import deliver
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.alerts.receivers import routing
from sinemora.kit.jobs import enqueue
from sinemora.meshes.plan import MeshState


def tell(session: Session, row: Incident, mesh: MeshState, about: str, at: datetime) -> None:
    """Notify the receivers of an incident that it opened, continues (repeated), ended, or was found late and is over.

    Never page for the past.
    """
    if row.silenced_by is not None or (about == "resolved" and row.notified_at is None):
        return
    if about == "repeated" and row.state != IncidentState.open:
        return
    tree = receiver_queries.routing(session)
    if tree is None:
        return
    wanted = routing.destinations(tree.tree["root"], labels_of(row, mesh))
    if about == "resolved":
        wanted = [one for one in wanted if one.resolved]
    elif about == "repeated":
        since = row.notified_at
        wanted = [] if since is None else [one for one in wanted if at - since >= timedelta(seconds=one.repeat_s)]
    receivers = receiver_queries.receivers_named(session, [one.receiver for one in wanted])
    if about == "late":
        receivers = {name: one for name, one in receivers.items() if one.kind != ReceiverKind.pagerduty}
    for one in wanted:
        if one.receiver in receivers:
            send(session, receivers[one.receiver].id, row.id, about)
    if wanted and about != "resolved":
        session.execute(update(Incident).where(Incident.id == row.id).values(notified_at=at))
        session.refresh(row)


def send(session: Session, receiver_id: UUID, incident_id: UUID | None, about: str) -> Delivery:
    """Enqueue one notification to one receiver; it leaves with the commit."""
    made = Delivery(
        receiver_id=receiver_id,
        incident_id=incident_id,
        about=about,
        state=DeliveryState.waiting,
        due_at=datetime.now(UTC),
    )
    session.add(made)
    session.flush()
    enqueue(session, deliver, tenant_id=str(made.tenant_id), delivery_id=str(made.id))
    return made
