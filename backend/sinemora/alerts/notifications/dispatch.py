"""Dispatch notifications of incidents: select receivers by route, enqueue deliveries after the commit."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from sinemora.alerts.labels import labels_of
from sinemora.alerts.models import Delivery, DeliveryState, Incident, IncidentState, ReceiverKind
from sinemora.alerts.notifications.delivery import deliver
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.alerts.receivers import routing
from sinemora.kit.jobs import enqueue
from sinemora.meshes.plan import MeshState


def notify(
    session: Session, row: Incident, mesh: MeshState, about: str, at: datetime, *, due_at: datetime | None = None
) -> None:
    """Notify the receivers of an incident, at once or when due.

    `about`: opened, returned (after its end was told), repeated, resolved, or late (found after its end). PagerDuty
    receivers get no late notifications: no one is paged for the past.
    """
    if row.silenced_by is not None or (about == "resolved" and row.notified_at is None):
        return
    if about == "repeated" and row.state != IncidentState.open:
        return
    tree = receiver_queries.routing(session)
    if tree is None:
        return
    destinations = routing.destinations(tree.tree["root"], labels_of(row, mesh))
    if about == "resolved":
        destinations = [destination for destination in destinations if destination.resolved]
    elif about == "repeated":
        since = row.notified_at
        destinations = (
            []
            if since is None
            else [destination for destination in destinations if at - since >= timedelta(seconds=destination.repeat_s)]
        )
    receivers = receiver_queries.receivers_named(session, [destination.receiver for destination in destinations])
    if about == "late":
        receivers = {
            name: destination for name, destination in receivers.items() if destination.kind != ReceiverKind.pagerduty
        }
    for destination in destinations:
        if destination.receiver in receivers:
            send(session, receivers[destination.receiver].id, row.id, about, due_at)
    if destinations and about != "resolved":
        session.execute(update(Incident).where(Incident.id == row.id).values(notified_at=at))
        session.refresh(row)


def withdraw_end(session: Session, row: Incident) -> None:
    """Withdraw the notifications of an incident's end that have not been sent yet."""
    session.execute(
        delete(Delivery).where(
            Delivery.incident_id == row.id,
            Delivery.about == "resolved",
            Delivery.state == DeliveryState.waiting,
            Delivery.attempts == 0,
        )
    )


def send(
    session: Session, receiver_id: UUID, incident_id: UUID | None, about: str, due_at: datetime | None = None
) -> Delivery:
    """Enqueue one notification to one receiver; it leaves with the commit, or when due."""
    now = datetime.now(UTC)
    row = Delivery(
        receiver_id=receiver_id,
        incident_id=incident_id,
        about=about,
        state=DeliveryState.waiting,
        due_at=now if due_at is None else max(now, due_at),
    )
    session.add(row)
    session.flush()
    if row.due_at <= now:
        enqueue(session, deliver, tenant_id=str(row.tenant_id), delivery_id=str(row.id))
    return row


def resend(session: Session, row: Delivery) -> None:
    """Enqueue an ended delivery once more, with all of its attempts; it leaves with the commit."""
    row.state, row.attempts, row.sent_at, row.answer = DeliveryState.waiting, 0, None, None
    row.due_at = datetime.now(UTC)
    session.flush()
    enqueue(session, deliver, tenant_id=str(row.tenant_id), delivery_id=str(row.id))
