"""Mails of the product that wait for the mail server: stored in the transaction that asks for them, sent by a worker.

The content may have a link that signs somebody in, so it is encrypted while it waits and deleted once the mail has
left or is given up.
"""

import threading
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

import structlog
from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, delete, func, select, text
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.orm import Mapped, Session, mapped_column

from sinemora.kit import encryption, mail
from sinemora.kit.celery import FAST, ROUTES, celery
from sinemora.kit.db import Base, Identified, TenantOwned, system_session
from sinemora.kit.errors import ProductError, too_many
from sinemora.kit.jobs import enqueue
from sinemora.kit.mail import Mail, MailDelayed, MailRefused

log = structlog.get_logger(__name__)

BACKOFF_S = (10, 60, 300, 1800, 7200)
_ATTEMPTS_MAX = 12
_DAY_MAX = 500
_KEPT = timedelta(days=30)
_AT_ONCE = 50
_ANSWER_MAX = 500
_PLACE_WAIT_S = 1.0
# Longer than any exchange with a mail server takes, so that an attempt without a result is known to be over.
_UNDER_WAY = timedelta(seconds=mail.LIMIT_S + 10)
# Most mails that a process sends at once: a mail server that hangs leaves threads for notifications.
_places = threading.BoundedSemaphore(4)


class MailState(StrEnum):
    """State of a mail: it waits for the server, the server took it, or it was given up."""

    waiting = "waiting"
    sent = "sent"
    failed = "failed"


class OutgoingMail(Identified, TenantOwned, Base):
    """Mail of the product. `kind` is its reason, such as `invitation`; `tenant_id` is null for mails about an account.

    `encrypted_content` has subject and paragraphs; it is null once the mail has left or is given up.
    """

    __tablename__ = "outgoing_mails"
    limited_callers_change = True
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'sent', 'failed')", name="state"),
        CheckConstraint("(state = 'waiting') = (encrypted_content IS NOT NULL)", name="content"),
        Index(None, "tenant_id", "created_at"),
        Index("ix_outgoing_mails_due_at", "due_at", postgresql_where=text("state = 'waiting'")),
    )

    tenant_id: Mapped[UUID | None] = mapped_column(  # type: ignore[assignment]
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    kind: Mapped[str]
    recipient: Mapped[str]
    encrypted_content: Mapped[bytes | None] = mapped_column(LargeBinary)
    state: Mapped[MailState] = mapped_column(TEXT)
    attempts: Mapped[int]
    due_at: Mapped[datetime]
    gives_up_at: Mapped[datetime]
    answer: Mapped[str]
    sent_at: Mapped[datetime | None]


def post(session: Session, kind: str, content: Mail, valid_for: timedelta) -> UUID:
    """Store a mail in the transaction of `session` and have it sent after the commit. Return its id.

    It is tried for at most `valid_for`, the life of the link in it. ProductError `mail_unavailable` (409) without a
    mail server, `secret_key_missing` (409), `too_many_mails` (429) for a tenant that sent too many in a day.
    """
    if not mail.is_configured():
        raise ProductError(
            "mail_unavailable", 409, "No mail server: the operator of this installation must set SINEMORA_SMTP_URL."
        )
    now = datetime.now(UTC)
    if session.info["tenant_id"] is not None:
        _check_day(session, now)
    row = OutgoingMail(
        id=uuid4(),
        kind=kind,
        recipient=content.to,
        encrypted_content=encryption.encrypt({"subject": content.subject, "paragraphs": list(content.paragraphs)}),
        state=MailState.waiting,
        attempts=0,
        due_at=now,
        gives_up_at=now + valid_for,
        answer="",
    )
    session.add(row)
    session.flush()
    enqueue(session, deliver, mail_id=str(row.id))
    return row.id


def recipients(session: Session, kind: str, since: datetime) -> set[str]:
    """Return the addresses to which the tenant posted mails of a kind since a time."""
    posted = select(OutgoingMail.recipient).where(OutgoingMail.kind == kind, OutgoingMail.created_at >= since)
    return set(session.scalars(posted))


def _check_day(session: Session, now: datetime) -> None:
    """Refuse more than a day's mails, so that no tenant makes this installation a sender of spam."""
    recent = select(func.count()).select_from(OutgoingMail).where(OutgoingMail.created_at > now - timedelta(days=1))
    if (session.scalar(recent) or 0) >= _DAY_MAX:
        detail = f"Too many e-mails: a tenant sends at most {_DAY_MAX} a day. Try again tomorrow, or copy the link."
        raise too_many("too_many_mails", detail, 3600)


@celery.task(name="mail.deliver")
def deliver(mail_id: str) -> None:
    """Send one mail; a periodic task retries failed ones, and those for which too many others were being sent."""
    _deliver(UUID(mail_id))


def _deliver(mail_id: UUID) -> bool:
    """Send one mail if it is due. Return False when too many others are being sent."""
    if not _places.acquire(timeout=_PLACE_WAIT_S):
        return False
    try:
        _attempt_due(mail_id, datetime.now(UTC))
    finally:
        _places.release()
    return True


def _attempt_due(mail_id: UUID, now: datetime) -> None:
    """Try a mail if it is due: claim it, send it outside of any transaction, record the answer.

    The attempt counts from the claim on. If its process ends in the middle, the next one begins half a minute later.
    """
    with system_session() as session:
        claimed = _claim(session, mail_id, now)
    if claimed is None:
        return
    attempt, recipient, encrypted = claimed
    state, answer = _sent(mail_id, recipient, encrypted)
    with system_session() as session:
        row = session.get(OutgoingMail, mail_id, with_for_update=True)
        if row is not None and row.state == MailState.waiting and row.attempts == attempt:
            _record(row, state, answer, datetime.now(UTC))


def _claim(session: Session, mail_id: UUID, now: datetime) -> tuple[int, str, bytes | None] | None:
    """Return a due mail for this process alone: number of the attempt, recipient and encrypted content."""
    due = select(OutgoingMail).where(
        OutgoingMail.id == mail_id, OutgoingMail.state == MailState.waiting, OutgoingMail.due_at <= now
    )
    row = session.scalars(due.with_for_update(skip_locked=True)).one_or_none()
    if row is None:
        return None
    if row.attempts >= _ATTEMPTS_MAX or now >= row.gives_up_at:
        row.answer = f"Given up. {row.answer}".strip()
        _end(row, MailState.failed)
        return None
    row.attempts += 1
    row.answer, row.due_at = f"Attempt {row.attempts}: no answer recorded.", now + _UNDER_WAY
    return row.attempts, row.recipient, row.encrypted_content


@celery.task(name="mail.deliver_due")
def deliver_due() -> None:
    """Send mails whose next attempt is due: those that failed, and those whose task was lost."""
    due = select(OutgoingMail.id).where(
        OutgoingMail.state == MailState.waiting, OutgoingMail.due_at <= datetime.now(UTC)
    )
    with system_session() as session:
        ids = session.scalars(due.order_by(OutgoingMail.due_at).limit(_AT_ONCE)).all()
    for mail_id in ids:
        if not _deliver(mail_id):
            return  # the runs that have the places, or the next one, send the others


ROUTES[deliver.name] = {"queue": FAST}
ROUTES[deliver_due.name] = {"queue": FAST}


def _sent(mail_id: UUID, recipient: str, encrypted_content: bytes | None) -> tuple[MailState, str]:
    """Hand a mail to the server. Return its state, which is waiting if a later attempt may help, and the answer."""
    try:
        content = encryption.decrypt(encrypted_content)
        letter = Mail(recipient, content["subject"], content["paragraphs"])
        return MailState.sent, mail.send(mail.message_of(letter, str(mail_id)))
    except MailDelayed as error:
        return MailState.waiting, str(error)
    except (MailRefused, ProductError, ValueError) as error:
        return MailState.failed, str(error)


def _record(row: OutgoingMail, state: MailState, answer: str, now: datetime) -> None:
    """Store the result of an attempt."""
    row.answer = answer[:_ANSWER_MAX]
    row.due_at = now + timedelta(seconds=BACKOFF_S[min(row.attempts, len(BACKOFF_S)) - 1])
    if state is not MailState.waiting:
        _end(row, state)
    elif row.due_at >= row.gives_up_at or row.attempts >= _ATTEMPTS_MAX:
        _end(row, MailState.failed)


def _end(row: OutgoingMail, state: MailState) -> None:
    row.state, row.encrypted_content = state, None
    if state is MailState.sent:
        row.sent_at = datetime.now(UTC)
    else:
        log.warning("mail given up", kind=row.kind, mail_id=str(row.id), answer=row.answer)


def delete_old(session: Session, now: datetime) -> None:
    """Delete mails of before 30 days."""
    session.execute(delete(OutgoingMail).where(OutgoingMail.created_at < now - _KEPT))
