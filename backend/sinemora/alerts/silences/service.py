"""Use cases of silences."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.models import Silence
from sinemora.alerts.silences.schedule import in_force
from sinemora.alerts.silences.schemas import SilenceCreate, SilenceRead
from sinemora.kit.errors import ProductError, existing


def get_silence(session: Session, silence_id: UUID) -> Silence:
    """Return the tenant's silence. ProductError `silence_unknown`."""
    return existing(session.get(Silence, silence_id), "silence")


def create_silence(session: Session, actor: Actor, body: SilenceCreate) -> Silence:
    """Create a silence. ProductError `range_invalid`."""
    row = silence_of(body)
    row.created_by = actor.name
    session.add(row)
    session.flush()
    audit.record(session, actor, "silence.created", row.id, row.comment)
    return row


def end_silence(session: Session, actor: Actor, silence_id: UUID) -> None:
    """End a silence now; one that has not begun is deleted. ProductError `silence_unknown`."""
    row = get_silence(session, silence_id)
    now = datetime.now(UTC)
    if row.starts_at >= now:
        session.delete(row)
    elif row.ends_at > now:
        row.ends_at = now
    audit.record(session, actor, "silence.ended", row.id, row.comment)


def silence_read(row: Silence) -> SilenceRead:
    now = datetime.now(UTC)
    names = ("id", "comment", "matchers", "starts_at", "ends_at", "weekly", "created_by", "version")
    active = in_force(row.starts_at, row.ends_at, row.weekly, now)
    return SilenceRead.model_validate({**{name: getattr(row, name) for name in names}, "active": active})


def silence_of(body: SilenceCreate) -> Silence:
    """Return a silence as a row that is not in the database. ProductError `range_invalid`."""
    starts_at = body.starts_at or datetime.now(UTC)
    for at in (starts_at, body.ends_at):
        if at.tzinfo is None:
            raise ProductError("range_invalid", 422, "Invalid time: it needs a time zone, as in 2026-11-20T10:00:00Z.")
    if starts_at >= body.ends_at:
        raise ProductError("range_invalid", 422, "Invalid range: `starts_at` must be before `ends_at`.")
    fields = body.model_dump(mode="json", include={"matchers", "weekly"})
    return Silence(comment=body.comment, starts_at=starts_at, ends_at=body.ends_at, created_by="", **fields)
