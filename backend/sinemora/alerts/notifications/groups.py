"""Groups of notices in the log of deliveries: hold a notice, release it, collect those that are sent together."""

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from sinemora.alerts.models import Delivery, DeliveryState, Incident, ReceiverKind
from sinemora.alerts.notifications import queries
from sinemora.alerts.notifications.grouping import Sending, next_sending


def place(session: Session, row: Delivery, at: datetime) -> None:
    """Let a notice of a group be sent at once, or hold it until the group's next notification."""
    newest = queries.newest_of_group(session, row)
    if newest is not None and newest.held and newest.state == DeliveryState.waiting:
        row.held, row.hold_s, row.due_at = True, newest.hold_s, newest.due_at
        return
    last = None if newest is None else Sending(int(newest.due_at.timestamp()), newest.hold_s)
    at_s = int(at.timestamp())
    sending = next_sending(last, at_s, row.hold_max_s)
    row.held, row.hold_s = sending.at_s > at_s, sending.hold_s
    row.due_at = datetime.fromtimestamp(sending.at_s, UTC) if row.held else at


def is_to_be_placed(row: Delivery) -> bool:
    """Return whether a due notice still has to find its place in its group: an end, or one that waited as the first."""
    has_none = row.held is not (row.about == "resolved")
    return row.group_key is not None and has_none and not row.hold_s and not row.attempts


def collect(session: Session, row: Delivery, kind: ReceiverKind, at: datetime, *, waited: bool) -> list[Delivery]:
    """Return the notices that are sent with a due one, oldest first, those without news deleted.

    `waited`: it was held until now, for its group or as the first notice of its incident. Nobody is paged for the past:
    an incident that has ended meanwhile is withdrawn from PagerDuty.
    """
    pages = kind is ReceiverKind.pagerduty
    if pages and row.about == "resolved" and not queries.has_begun(session, row):
        session.delete(row)
        return []
    if not waited:
        return [row]
    row.held = row.held and row.group_key is not None  # without a group it is sent by itself
    rows = queries.held_with(session, row, at) if row.held and not pages else [row]
    kept = []
    for one in rows:
        incident = session.get_one(Incident, one.incident_id)
        ended = pages and incident.ended_at is not None
        silenced = incident.silenced_by is not None and one.about != "resolved"
        if ended or silenced or incident.merged_into is not None:
            session.delete(one)
        else:
            kept.append(one)
    return kept
