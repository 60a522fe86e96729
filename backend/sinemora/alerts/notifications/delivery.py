"""Deliver notifications: one task each, retried with growing back-off; the log records every attempt."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.evidence_lines import evidence_lines
from sinemora.alerts.models import AlertRule, Delivery, DeliveryState, Incident, Receiver, ReceiverKind
from sinemora.alerts.notifications import groups, messages, queries
from sinemora.alerts.notifications.messages import Notification, digest
from sinemora.alerts.recurrence import recurrence_of
from sinemora.kit import egress_policy, encryption, mail
from sinemora.kit.celery import ROUTES, celery
from sinemora.kit.config import settings
from sinemora.kit.db import tenant_session
from sinemora.kit.egress_policy import EgressError, EgressRefused
from sinemora.kit.errors import ProductError
from sinemora.kit.mail import MailDelayed, MailRefused

log = structlog.get_logger(__name__)

BACKOFF_S = (2, 10, 30, 120, 600, 1800, 3600)
_PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"


class PermanentError(Exception):
    """A delivery that fails for good; it is not retried."""


class RetryableError(Exception):
    """A delivery that failed for now; `after_s`: from the receiver's Retry-After."""

    def __init__(self, reason: str, after_s: int | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


@celery.task(name="alerts.deliver")
def deliver(tenant_id: str, delivery_id: str) -> None:
    """Send one notification; a periodic task retries failed ones."""
    attempt(UUID(tenant_id), UUID(delivery_id))


ROUTES[deliver.name] = {"queue": "fast"}


def attempt(tenant_id: UUID, delivery_id: UUID) -> None:
    """Try a due delivery and store the result."""
    try:
        with tenant_session(tenant_id) as session:
            queries.lock_group(session, delivery_id)
            row = queries.locked_delivery(session, delivery_id)
            now = datetime.now(UTC)
            if row is None or row.state != DeliveryState.waiting or row.due_at > now:
                return
            waited = row.held
            if groups.is_to_be_placed(row):
                groups.place(session, row, now)
                if row.due_at > now:
                    return
            receiver = session.get_one(Receiver, row.receiver_id)
            rows = groups.collect(session, row, ReceiverKind(receiver.kind), now, waited=waited or row.held)
            if rows:
                _store_result(session, receiver, rows, now)
    except LookupError:  # the tenant was deleted
        return


def _store_result(session: Session, receiver: Receiver, rows: Sequence[Delivery], now: datetime) -> None:
    """Send notices together and store the result with each."""
    for row in rows:
        row.attempts += 1
    answer, state, due_at, sent_at = "", DeliveryState.waiting, None, None
    try:
        answer, state = transmit(session, receiver, rows), DeliveryState.sent
        sent_at = datetime.now(UTC)
    except RetryableError as error:
        answer = str(error)
        attempts = max(row.attempts for row in rows)
        if attempts > len(BACKOFF_S):
            state = DeliveryState.failed
        else:
            due_at = now + timedelta(seconds=max(BACKOFF_S[attempts - 1], min(error.after_s or 0, 3600)))
    except (PermanentError, ProductError) as error:
        answer, state = str(error), DeliveryState.failed
    for row in rows:
        row.answer, row.state, row.sent_at, row.due_at = answer[:500], state, sent_at, due_at or row.due_at


def transmit(session: Session, receiver: Receiver, rows: Sequence[Delivery]) -> str:
    """Send notices as one message; return the answer.

    Raises `RetryableError`, `PermanentError`, ProductError of secrets.
    """
    content = notification(session, rows[-1])
    if len({row.incident_id for row in rows}) > 1:
        content = digest([notification(session, row) for row in rows])
    secret = encryption.decrypt(receiver.secret)
    match ReceiverKind(receiver.kind):
        case ReceiverKind.email:
            return _mail(content, receiver.settings)
        case ReceiverKind.webhook:
            body, headers = messages.webhook(content, secret.get("key"), int(time.time()))
            return _post(str(receiver.settings["url"]), body, headers)
        case ReceiverKind.slack:
            return _post(secret["url"], messages.slack(content))
        case ReceiverKind.teams:
            return _post(secret["url"], messages.teams(content))
        case ReceiverKind.pagerduty:
            url = str(receiver.settings.get("url") or _PAGERDUTY)
            return _post(url, messages.pagerduty(content, secret["routing_key"]))


def notification(session: Session, row: Delivery) -> Notification:
    """Return the content of a delivery."""
    public = settings().public_url
    incident = None if row.incident_id is None else session.get(Incident, row.incident_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if incident is None:
        return Notification(
            str(row.id),
            None,
            "test",
            "Test notification",
            "info",
            "Sinemora",
            "path",
            (),
            0,
            now,
            now,
            None,
            (),
            (),
            public,
        )
    ids = [UUID(one["id"]) for one in incident.rules]
    runbooks = [rule.runbook_url for id in ids if (rule := session.get(AlertRule, id)) and rule.runbook_url]
    return Notification(
        id=str(row.id),
        incident_id=str(incident.id),
        about=row.about,
        title=incident.title,
        severity=str(incident.severity),
        mesh=incident.mesh.name,
        suspect=incident.suspect,
        rules=tuple(one["name"] for one in incident.rules),
        paths=int(incident.evidence.get("paths", 0)),
        onset_at=incident.onset_at.isoformat(timespec="seconds"),
        opened_at=incident.opened_at.isoformat(timespec="seconds"),
        ended_at=None if incident.ended_at is None else incident.ended_at.isoformat(timespec="seconds"),
        applications=tuple(_affected(one) for one in incident.applications),
        runbooks=tuple(dict.fromkeys(runbooks)),
        url=f"{public}/incidents/{incident.id}",
        heatmap=tuple(tuple(line) for line in incident.evidence.get("heatmap", {}).get("values", ())),
        recurrence=None if (recurrence := recurrence_of(incident)) is None else recurrence.words(),
        evidence=evidence_lines(incident.evidence),
        others=queries.found_late_with(session, incident) if row.about == "late" else 0,
    )


def _affected(one: dict[str, Any]) -> str:
    cost = one.get("cost")
    return str(one["name"]) if cost is None else f"{one['name']}: predicted loss {100 * cost:.1f} % on these paths"


def _post(url: str, body: bytes, headers: dict[str, str] | None = None) -> str:
    try:
        answer = egress_policy.post(
            url, body, headers or {"Content-Type": "application/json"}, settings().allowed_receivers
        )
    except EgressRefused as error:
        raise PermanentError(str(error)) from None
    except EgressError as error:
        raise RetryableError(str(error)) from None
    # The status alone: a body may be the page of a server that only the operator should read.
    summary = f"HTTP status {answer.status}"
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise RetryableError(summary, answer.retry_after_s)
    if not 200 <= answer.status < 300:
        raise PermanentError(summary)
    return summary


def _mail(content: Notification, receiver_settings: dict[str, Any]) -> str:
    try:
        return mail.send(messages.email(content, settings().smtp_from, receiver_settings["to"]))
    except MailRefused as error:
        raise PermanentError(str(error)) from None
    except MailDelayed as error:
        raise RetryableError(str(error)) from None
