"""SQL of receivers."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.models import (
    AlertRouting,
    Receiver,
)


def routing(session: Session) -> AlertRouting | None:
    """Return the tenant's routing tree."""
    return session.scalars(select(AlertRouting)).one_or_none()


def receivers_named(session: Session, names: Sequence[str]) -> dict[str, Receiver]:
    """Return the tenant's receivers of these names."""
    return {one.name: one for one in session.scalars(select(Receiver).where(Receiver.name.in_(names)))}


def receiver_named(session: Session, name: str) -> Receiver | None:
    """Return the tenant's receiver of this name."""
    return session.scalars(select(Receiver).where(Receiver.name == name)).one_or_none()
