"""SQL of receivers."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.alerts.models import AlertRouting, Receiver, ReceiverKind


def routing(session: Session) -> AlertRouting | None:
    """Return the tenant's routing tree."""
    return session.scalars(select(AlertRouting)).one_or_none()


def receivers_named(session: Session, names: Sequence[str]) -> dict[str, Receiver]:
    return {one.name: one for one in session.scalars(select(Receiver).where(Receiver.name.in_(names)))}


def for_accepted_moves(session: Session) -> list[Receiver]:
    """Return the receivers that get accepted moves."""
    return list(session.scalars(select(Receiver).where(Receiver.settings["accepted_moves"].as_boolean())))


def heartbeats(session: Session) -> int:
    """Return the number of the tenant's heartbeat receivers."""
    kind = Receiver.kind == ReceiverKind.heartbeat
    return session.scalar(select(func.count()).select_from(Receiver).where(kind)) or 0
