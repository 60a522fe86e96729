"""Use cases of notifications: tests, and the log of deliveries."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.models import Delivery, DeliveryState, Incident, Receiver
from sinemora.alerts.notifications import dispatch, groups
from sinemora.alerts.notifications.schemas import DeliveryRead
from sinemora.alerts.receivers.service import get_receiver
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http import rate_limit

BY_HAND_AN_HOUR = 60
"""Most tests and repeated deliveries of a tenant in an hour."""
_HOUR_S = 3600


def test_receiver(session: Session, actor: Actor, receiver_id: UUID) -> DeliveryRead:
    """Send a test notification to a receiver. ProductError `receiver_unknown`, `notifications_too_many` (429)."""
    row = get_receiver(session, receiver_id)
    _count_by_hand(session)
    delivery = dispatch.send(session, row.id, None, "test")
    session.refresh(delivery)
    audit.record(session, actor, "receiver.tested", row.id, row.name)
    return delivery_read(session, delivery, row.name)


def redeliver(session: Session, actor: Actor, delivery_id: UUID) -> DeliveryRead:
    """Send an ended delivery once more.

    ProductError `delivery_unknown`, `delivery_waits`, `delivery_outdated`, `notifications_too_many` (429).
    """
    row = existing(session.get(Delivery, delivery_id, with_for_update=True), "delivery")
    if row.state == DeliveryState.waiting:
        raise ProductError("delivery_waits", 409, "Delivery waits: it is sent without a request, at `due_at`.")
    incident = None if row.incident_id is None else session.get(Incident, row.incident_id)
    if incident is not None and row.about != "late":
        is_end = row.about == "resolved"
        if is_end is not groups.is_over(incident, datetime.now(UTC)):
            raise ProductError(
                "delivery_outdated",
                409,
                f"Delivery outdated: the incident {'continues' if is_end else 'has ended'} and the notice is no longer"
                " true. Send its newest notice once more.",
            )
    _count_by_hand(session)
    dispatch.resend(session, row)
    receiver = get_receiver(session, row.receiver_id)
    audit.record(session, actor, "delivery.repeated", row.id, receiver.name)
    return delivery_read(session, row, receiver.name)


def _count_by_hand(session: Session) -> None:
    """Count a notification that somebody asks for: without a limit, a tenant could mail strangers through it."""
    if rate_limit.count(f"notifications:{session.info['tenant_key']}", _HOUR_S) > BY_HAND_AN_HOUR:
        raise ProductError(
            "notifications_too_many",
            429,
            f"Too many notifications by hand: a tenant tests receivers and repeats deliveries {BY_HAND_AN_HOUR} times"
            " an hour. Notifications of incidents are sent as before.",
            headers={"Retry-After": "600"},
        )


def deliveries_read(session: Session, rows: Sequence[Delivery]) -> list[DeliveryRead]:
    """Return deliveries as their schemas."""
    return [delivery_read(session, row, session.get_one(Receiver, row.receiver_id).name) for row in rows]


def delivery_read(session: Session, row: Delivery, receiver: str) -> DeliveryRead:
    title = session.scalar(select(Incident.title).where(Incident.id == row.incident_id))
    if row.content is not None:
        title = row.content["title"]
    names = ("id", "incident_id", "about", "state", "attempts", "due_at", "sent_at", "answer", "created_at", "held")
    return DeliveryRead(**{name: getattr(row, name) for name in names}, title=title, receiver=receiver)
