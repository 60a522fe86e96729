"""Dispatch notifications of incidents: select receivers by route, enqueue deliveries after the commit."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import update
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.labels import labels_of
from sinemora.alerts.models import KEEPS_ALERTS, Delivery, DeliveryState, Incident, IncidentState
from sinemora.alerts.notifications import groups, queries
from sinemora.alerts.notifications.delivery import deliver
from sinemora.alerts.notifications.grouping import first_wait_s, group_key, is_grouped
from sinemora.alerts.notifications.messages import Notification, stored
from sinemora.alerts.receivers import queries as receiver_queries
from sinemora.alerts.receivers import routing
from sinemora.fleet.meshes.plan import MeshState
from sinemora.kit.jobs import enqueue


def notify(
    session: Session,
    row: Incident,
    mesh: MeshState,
    about: str,
    at: datetime,
    *,
    at_once: bool = False,
    only_new: bool = False,
) -> None:
    """Notify the receivers of an incident. Info incidents begin with a short wait (`grouping`); of ends see `ends`.

    `about`: opened, returned (after its end was notified), repeated, or late (found after its end). Receivers that
    keep alerts get no late notifications: no one is paged for the past. Notices below critical are grouped
    (`grouping`), except those to send `at_once`. `only_new`: only to receivers that do not know that it is open.
    """
    if row.silenced_by is not None:
        return
    if about == "repeated" and row.state != IncidentState.open:
        return
    tree = receiver_queries.routing(session)
    if tree is None:
        return
    destinations = routing.destinations(tree.tree["root"], labels_of(row, mesh))
    if about == "repeated":
        since = row.notified_at
        destinations = (
            []
            if since is None
            else [destination for destination in destinations if at - since >= timedelta(seconds=destination.repeat_s)]
        )
    receivers = receiver_queries.receivers_named(session, [destination.receiver for destination in destinations])
    if about == "late":
        receivers = {
            name: destination for name, destination in receivers.items() if destination.kind not in KEEPS_ALERTS
        }
    notified = queries.notified_open(session, row.id) if only_new else {}
    key = None if about == "late" or at_once else group_of(row, mesh, about)
    begins = about in queries.BEGINNINGS
    waits_s = first_wait_s(Severity(row.severity)) if begins and not at_once else 0
    for destination in destinations:
        receiver = receivers.get(destination.receiver)
        if receiver is None or receiver.id in notified:
            continue
        if begins:
            queries.withdraw_first(session, row.id, receiver.id)
        of_group = key if destination.hold_s > 0 else None
        send(session, receiver.id, row.id, about, None, of_group, destination.hold_s, waits_s)
    if destinations:
        session.execute(update(Incident).where(Incident.id == row.id).values(notified_at=at))
        session.refresh(row)


def group_of(row: Incident, mesh: MeshState, about: str) -> str | None:
    """Return the group of a notice of an incident; None if it is sent by itself."""
    suspect, spikes = Suspect(row.suspect), bool(row.evidence.get("spikes"))
    if not is_grouped(suspect, Severity(row.severity)):
        return None
    symptoms = row.evidence.get("symptoms", ())
    return group_key(mesh.id, symptoms, suspect, spikes=spikes, ends=about == "resolved")


def release(session: Session, row: Incident) -> None:
    """Send the held notices of an incident that lasts by themselves: it is no spike."""
    for delivery in queries.held_beginnings(session, row.id):
        delivery.held, delivery.hold_s, delivery.due_at = False, 0, datetime.now(UTC)
        session.flush()
        enqueue(session, deliver, tenant_id=str(delivery.tenant_id), delivery_id=str(delivery.id))


def send(
    session: Session,
    receiver_id: UUID,
    incident_id: UUID | None,
    about: str,
    due_at: datetime | None = None,
    key: str | None = None,
    hold_max_s: int = 0,
    waits_s: int = 0,
    content: Notification | None = None,
) -> Delivery:
    """Enqueue one notice to one receiver; it leaves with the commit, when due, or with the notices of its group.

    `key`: its group; ends, and notices that first wait for `waits_s`, find their place in it when they are due.
    `content`: content of a notice without an incident.
    """
    now, identity = datetime.now(UTC), uuid4()
    row = Delivery(
        id=identity,
        receiver_id=receiver_id,
        incident_id=incident_id,
        about=about,
        state=DeliveryState.waiting,
        due_at=now if due_at is None else max(now, due_at),
        group_key=key,
        held=waits_s > 0,
        hold_s=0,
        hold_max_s=hold_max_s if key else 0,
        content=None if content is None else stored(replace(content, id=str(identity))),
    )
    if waits_s:
        row.due_at = now + timedelta(seconds=waits_s)
    elif key is not None and about != "resolved":
        groups.place(session, row, now)
    session.add(row)
    session.flush()
    if row.due_at <= now:
        enqueue(session, deliver, tenant_id=str(row.tenant_id), delivery_id=str(row.id))
    return row


def resend(session: Session, row: Delivery) -> None:
    """Enqueue an ended delivery once more, with all of its attempts; it leaves with the commit."""
    row.state, row.attempts, row.sent_at, row.answer = DeliveryState.waiting, 0, None, None
    row.held, row.group_key, row.hold_s = False, None, 0  # asked for by itself
    row.due_at = datetime.now(UTC)
    session.flush()
    enqueue(session, deliver, tenant_id=str(row.tenant_id), delivery_id=str(row.id))
