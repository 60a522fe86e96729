"""SQL of notifications."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.alerts.models import (
    Delivery,
    Incident,
)


def found_late_with(session: Session, incident: Incident) -> int:
    """Return the number of other incidents of its mesh that were found late at the same time."""
    return (
        session.scalar(
            select(func.count())
            .select_from(Incident)
            .where(
                Incident.mesh_id == incident.mesh_id,
                Incident.found_late_at == incident.found_late_at,
                Incident.id != incident.id,
            )
        )
        or 0
    )


def due_deliveries(session: Session, at: datetime, limit: int) -> list[tuple[UUID, UUID]]:
    """Return (tenant, delivery) of due deliveries. Needs a system session."""
    rows = session.execute(
        select(Delivery.tenant_id, Delivery.id)
        .where(Delivery.state == "waiting", Delivery.due_at <= at)
        .order_by(Delivery.due_at)
        .limit(limit)
    )
    return [(tenant_id, identity) for tenant_id, identity in rows]


def locked_delivery(session: Session, delivery_id: UUID) -> Delivery | None:
    """Lock and return a delivery; None if another process sends it."""
    return session.scalars(
        select(Delivery).where(Delivery.id == delivery_id).with_for_update(skip_locked=True)
    ).one_or_none()
