"""SQL of silences."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.models import (
    Silence,
)


def silences(session: Session, at: datetime) -> list[Silence]:
    """Return silences that have begun and not ended; weekly ones may be inactive now."""
    return list(session.scalars(select(Silence).where(Silence.starts_at <= at, Silence.ends_at > at)))
