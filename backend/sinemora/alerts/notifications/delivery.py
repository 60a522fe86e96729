"""Deliver notifications: claim, commit, send, record; retried with growing back-off. The log has every attempt."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.orm import Session

from sinemora.alerts.models import KEEPS_ALERTS, AlertRule, Delivery, DeliveryState, Incident, Receiver, ReceiverKind
from sinemora.alerts.notifications import answers, groups, messages, queries
from sinemora.alerts.notifications.answers import PermanentError, RetryableError
from sinemora.alerts.notifications.messages import Notification, digest
from sinemora.alerts.receivers import hidden_url
from sinemora.alerts.summary import figures_of, recurrence_of
from sinemora.kit import egress_policy, encryption, mail
from sinemora.kit.celery import NOTICES, ROUTES, celery
from sinemora.kit.config import settings
from sinemora.kit.db import tenant_session
from sinemora.kit.egress_policy import EgressError, EgressRefused, HttpResponse
from sinemora.kit.errors import ProductError
from sinemora.kit.jobs import enqueue
from sinemora.kit.mail import MailDelayed, MailRefused

log = structlog.get_logger(__name__)

BACKOFF_S = (2, 10, 30, 120, *(10 * [600]))
"""Pauses between attempts: a receiver that works again gets its notices within ten minutes."""
UNDER_WAY_MAX = 3
"""Most deliveries of a tenant that are under way at a time."""
# Longer than any exchange with a receiver takes, so that a claim without a result is known to be over.
_UNDER_WAY_S = max(egress_policy.POST_S, mail.LIMIT_S) + 10
_PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"
_OPSGENIE = "https://api.opsgenie.com"


@dataclass(frozen=True, slots=True)
class Claim:
    """Notices that this process alone sends, as one message. `attempts`: number of the attempt, by delivery.

    `secret` is encrypted.
    """

    tenant_id: UUID
    attempts: dict[UUID, int]
    kind: ReceiverKind
    settings: dict[str, Any]
    secret: bytes | None
    content: Notification


@dataclass(frozen=True, slots=True)
class Result:
    """Result of an attempt. `after_s`: earliest time of the next one, if the receiver named it."""

    state: DeliveryState
    answer: str
    after_s: int = 0


@celery.task(name="alerts.deliver")
def deliver(tenant_id: str, delivery_id: str) -> None:
    """Send one notification; a periodic task retries failed ones."""
    attempt(UUID(tenant_id), UUID(delivery_id))


ROUTES[deliver.name] = {"queue": NOTICES}


def attempt(tenant_id: UUID, delivery_id: UUID) -> None:
    """Try a due delivery: claim it, send it outside of any transaction, record the answer; then the next of the tenant.

    The attempt counts from the claim on: a process that ends in the middle, or an answer that cannot be recorded,
    costs an attempt, and the next one begins half a minute later.
    """
    try:
        with tenant_session(tenant_id) as session:
            claimed = claim(session, delivery_id, datetime.now(UTC))
        if claimed is not None:
            result = send(claimed)
            with tenant_session(tenant_id) as session:
                record(session, claimed, result, now := datetime.now(UTC))
                following = queries.next_due(session, delivery_id, now)
                if following is not None and result.state is DeliveryState.sent:
                    enqueue(session, deliver, tenant_id=str(tenant_id), delivery_id=str(following))
    except LookupError:  # the tenant was deleted
        return


def claim(session: Session, delivery_id: UUID, now: datetime) -> Claim | None:
    """Return a due delivery and those that are sent with it. None if it waits, or is left to a later run.

    Each receiver gets one notification at a time, so that an end never overtakes its beginning, and a tenant has
    `UNDER_WAY_MAX`, so that its slow servers leave workers to others.
    """
    queries.lock_claims(session)
    row = queries.locked_delivery(session, delivery_id)
    if row is None or row.state != DeliveryState.waiting or row.due_at > now:
        return None
    tried_until = now + timedelta(seconds=_UNDER_WAY_S)
    # The process that held the tenant's lock before may have read a later time than this one.
    busy = queries.receivers_under_way(session, now, tried_until + timedelta(seconds=_UNDER_WAY_S))
    if row.receiver_id in busy or len(busy) >= UNDER_WAY_MAX:
        return None
    waited = row.held
    if groups.is_to_be_placed(row):
        groups.place(session, row, now)
        if row.due_at > now:
            return None
    receiver = session.get_one(Receiver, row.receiver_id)
    rows = groups.collect(session, row, ReceiverKind(receiver.kind), now, waited=waited or row.held)
    rows = [one for one in rows if not _is_given_up(one)]
    if not rows:
        return None
    for one in rows:
        one.attempts += 1
        one.answer = f"Attempt {one.attempts}: no answer recorded."
        one.tried_until = tried_until
    content = notification(session, rows[-1])
    if len({one.incident_id for one in rows}) > 1:
        content = digest([notification(session, one) for one in rows])
    if receiver.kind not in KEEPS_ALERTS:
        content = groups.announced(session, row, content)
    attempts = {one.id: one.attempts for one in rows}
    return Claim(
        row.tenant_id, attempts, ReceiverKind(receiver.kind), dict(receiver.settings), receiver.secret, content
    )


def _is_given_up(row: Delivery) -> bool:
    """Mark a delivery as failed whose attempts are all made, though no result of the last one was recorded."""
    if row.attempts <= len(BACKOFF_S):
        return False
    row.state = DeliveryState.failed
    return True


def send(claimed: Claim) -> Result:
    """Send claimed notices and return the result. The exchange has a time limit; no transaction is open."""
    try:
        return Result(DeliveryState.sent, transmit(claimed))
    except RetryableError as error:
        return Result(DeliveryState.waiting, str(error), min(error.after_s or 0, 3600))
    except (PermanentError, ProductError) as error:
        return Result(DeliveryState.failed, str(error))


def record(session: Session, claimed: Claim, result: Result, now: datetime) -> None:
    """Store the result of an attempt with its deliveries, except those that a later attempt has claimed."""
    for row in queries.locked_deliveries(session, list(claimed.attempts)):
        if row.state != DeliveryState.waiting or row.attempts != claimed.attempts[row.id]:
            continue
        row.answer, row.state, row.tried_until = result.answer[:500], result.state, now
        if result.state is DeliveryState.sent:
            row.sent_at = now
        elif row.attempts > len(BACKOFF_S):
            row.state = DeliveryState.failed
        else:
            row.due_at = now + timedelta(seconds=max(BACKOFF_S[row.attempts - 1], result.after_s))


def transmit(claimed: Claim) -> str:
    """Send notices as one message; return the answer.

    Raises `RetryableError`, `PermanentError`, ProductError of secrets.
    """
    content, secret = claimed.content, encryption.decrypt(claimed.secret)
    match claimed.kind:
        case ReceiverKind.email:
            return _mail(content, claimed.settings)
        case ReceiverKind.webhook:
            body, headers = messages.webhook(content, secret.get("key"), int(time.time()))
            answer = post(hidden_url.opened(claimed.settings), body, headers)
        case ReceiverKind.slack:
            answer = post(secret["url"], messages.slack(content))
        case ReceiverKind.teams:
            answer = post(secret["url"], messages.teams(content))
        case ReceiverKind.pagerduty:
            url = str(claimed.settings.get("url") or _PAGERDUTY)
            answer = post(url, messages.pagerduty(content, secret["routing_key"]))
        case ReceiverKind.opsgenie:
            path, body, headers = messages.opsgenie(content, secret["api_key"])
            answer = post(f"{str(claimed.settings.get('url') or _OPSGENIE).rstrip('/')}{path}", body, headers)
        case ReceiverKind.alertmanager:
            answer = post(secret["url"], messages.alertmanager(content, settings().public_url))
        case ReceiverKind.heartbeat:
            answer = post(secret["url"], messages.heartbeat("test", content.url))
    return answers.summary(claimed.kind, answer)


def notification(session: Session, row: Delivery) -> Notification:
    """Return the content of a delivery."""
    if row.content is not None:
        return messages.restored(row.content)
    public = settings().public_url
    incident = None if row.incident_id is None else session.get(Incident, row.incident_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if incident is None:
        return Notification(
            id=str(row.id),
            incident_id=None,
            about="test",
            title="Test notification",
            severity="info",
            mesh="Sinemora",
            suspect="path",
            rules=(),
            onset_at=now,
            opened_at=now,
            ended_at=None,
            runbooks=(),
            url=public,
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
        mesh_id=str(incident.mesh_id),
        suspect=incident.suspect,
        rules=tuple(one["name"] for one in incident.rules),
        onset_at=incident.onset_at.isoformat(timespec="seconds"),
        opened_at=incident.opened_at.isoformat(timespec="seconds"),
        ended_at=None if incident.ended_at is None else incident.ended_at.isoformat(timespec="seconds"),
        runbooks=tuple(dict.fromkeys(runbooks)),
        url=f"{public}/incidents/{incident.id}",
        recurrence=None if (recurrence := recurrence_of(incident)) is None else recurrence.words(),
        figures=figures_of(session, incident),
        others=queries.found_late_with(session, incident) if row.about == "late" else 0,
    )


def post(url: str, body: bytes, headers: dict[str, str] | None = None) -> HttpResponse:
    """Send a body to a receiver and return the answer. Raises `PermanentError`, `RetryableError`."""
    try:
        return egress_policy.post(
            url, body, headers or {"Content-Type": "application/json"}, settings().allowed_receivers
        )
    except EgressRefused as error:
        raise PermanentError(str(error)) from None
    except EgressError as error:
        raise RetryableError(str(error)) from None


def _mail(content: Notification, receiver_settings: dict[str, Any]) -> str:
    try:
        return mail.send(messages.email(content, settings().smtp_from, receiver_settings["to"]))
    except MailRefused as error:
        raise PermanentError(str(error)) from None
    except MailDelayed as error:
        raise RetryableError(str(error)) from None
