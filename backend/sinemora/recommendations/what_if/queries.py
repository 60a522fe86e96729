"""Queries of scenarios."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.recommendations.what_if.models import Scenario


def scenario_named(session: Session, name: str) -> Scenario | None:
    """Return the tenant's scenario of this name."""
    return session.scalars(select(Scenario).where(Scenario.name == name)).one_or_none()
