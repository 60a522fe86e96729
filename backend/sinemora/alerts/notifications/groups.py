"""Groups of notices in the log of deliveries: hold a notice, release it, collect those that are sent together."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from sinemora.alerts.models import KEEPS_ALERTS, Delivery, DeliveryState, Incident, IncidentState, ReceiverKind
from sinemora.alerts.notifications import queries
from sinemora.alerts.notifications.grouping import Sending, next_sending
from sinemora.alerts.notifications.messages import Notification


def place(session: Session, row: Delivery, at: datetime) -> None:
    """Let a notice of a group be sent at once, or hold it until the group's next notification."""
    newest = queries.newest_of_group(session, row, at)
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


def is_over(incident: Incident, at: datetime) -> bool:
    """Return whether an incident has ended for its receivers: a person resolved it, or it has not returned in time."""
    if incident.merged_into is not None:
        return True
    ends_later = incident.end_notice_at is not None and incident.end_notice_at > at
    return incident.state == IncidentState.resolved and not ends_later


def collect(session: Session, row: Delivery, kind: ReceiverKind, at: datetime, *, waited: bool) -> list[Delivery]:
    """Return the notices that are sent with a due one, oldest first, without those that are no longer true.

    `waited`: it was held until now, for its group or as the first notice of its incident.
    """
    pages = kind in KEEPS_ALERTS
    row.held = row.held and row.group_key is not None  # without a group it is sent by itself
    rows = queries.held_with(session, row, at) if waited and row.held and not pages else [row]
    kept = []
    for one in rows:
        reason = _untrue(session, one, at, pages=pages)
        if reason is None:
            kept.append(one)
        elif one.is_tried:
            one.state, one.answer = DeliveryState.failed, f"Not sent again: {reason} Before: {one.answer}"[:500]
        else:
            session.delete(one)
    return kept


def _untrue(session: Session, row: Delivery, at: datetime, *, pages: bool) -> str | None:
    """Return why a notice is not sent, a sentence; None if it still is true.

    The beginning of an incident that is over becomes its end where its receiver does not know of it: it is the whole
    story. Nobody is paged for the past: an incident that has ended meanwhile is withdrawn where alerts are kept.
    """
    incident = None if row.incident_id is None else session.get(Incident, row.incident_id, populate_existing=True)
    if incident is None or row.about == "late":
        return None
    if row.about == "resolved":
        if incident.state != IncidentState.resolved:
            return "the incident has returned."
        return None if row.is_tried or queries.is_notified(session, row) else "its beginning was not sent."
    if incident.silenced_by is not None:
        return "the incident is silenced."
    if not is_over(incident, at):
        return "the incident has ended." if pages and incident.ended_at is not None else None
    if pages or incident.merged_into is not None or row.is_tried or queries.is_notified(session, row):
        return "the incident has ended."
    row.about = "resolved"
    return None


def announced(session: Session, row: Delivery, content: Notification) -> Notification:
    """Return the content of a notice that others of its group wait for, with their number and when they are sent."""
    if row.group_key is None or not row.hold_s:
        return content
    at = row.due_at + timedelta(seconds=row.hold_s)
    return replace(content, more=queries.waiting_behind(session, row), more_at=at.isoformat(timespec="seconds"))
