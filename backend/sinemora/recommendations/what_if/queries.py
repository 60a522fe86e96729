"""Queries of scenarios."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.recommendations.what_if.models import Scenario


def scenario_named(session: Session, name: str) -> Scenario | None:
    """Return the tenant's scenario of this name."""
    return session.scalars(select(Scenario).where(Scenario.name == name)).one_or_none()


def locked(session: Session, scenario_id: UUID) -> Scenario | None:
    """Return the tenant's scenario, locked against concurrent changes."""
    statement = select(Scenario).where(Scenario.id == scenario_id).with_for_update()
    return session.scalars(statement, execution_options={"populate_existing": True}).one_or_none()
