"""SQL of metric exports."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from sinemora.measurements.metric_exports.models import MetricExport

LONGEST_WAIT = timedelta(minutes=15)
"""Largest pause between attempts; a later time is from a clock that was stepped back."""
BUSY = timedelta(minutes=2)
"""Time after which a worker that has recorded no end of a minute counts as ended."""


def due_tenants(session: Session, now: datetime) -> list[UUID]:
    """Return the tenants with exports whose time has come, longest due first. In a system session."""
    at = MetricExport.next_at
    busy = MetricExport.busy_until.between(now, now + BUSY)
    return list(
        session.scalars(
            select(MetricExport.tenant_id)
            .where(or_(at <= now, at > now + LONGEST_WAIT), MetricExport.paused.is_(False))
            .group_by(MetricExport.tenant_id)
            .having(~func.coalesce(func.bool_or(busy), False))
            .order_by(func.min(at))
        )
    )


def locked_exports(session: Session) -> Sequence[MetricExport]:
    """Return the tenant's exports, locked: one process at a time decides what to send next."""
    query = select(MetricExport).order_by(MetricExport.id).with_for_update()
    return session.scalars(query, execution_options={"populate_existing": True}).all()


def series_of(session: Session, export_id: UUID) -> bytes | None:
    """Return the series that the last minute had, packed."""
    return session.scalar(select(MetricExport.series).where(MetricExport.id == export_id))


def set_progress(session: Session, export_id: UUID, claimed: datetime | None = None, **values: Any) -> bool:
    """Write progress of an export. Return False when it was deleted, or is no longer `claimed` until this time."""
    conditions: list[ColumnElement[bool]] = [MetricExport.id == export_id]
    if claimed is not None:
        conditions.append(MetricExport.busy_until == claimed)
    statement = update(MetricExport).where(*conditions).values(**values).returning(MetricExport.id)
    return session.scalar(statement) is not None
