"""Queries of learning."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from sinemora.applications.learning.models import MetricPoint, MetricProgress, MetricSource

_ROWS_AT_ONCE = 5_000
_SOURCES_AT_ONCE = 200


def sources_by_application(session: Session, mesh_id: UUID) -> dict[UUID, list[MetricSource]]:
    """Return the metric sources of a mesh by the application they belong to, each by name."""
    statement = select(MetricSource).where(MetricSource.mesh_id == mesh_id, MetricSource.application_id.is_not(None))
    sources: dict[UUID, list[MetricSource]] = {}
    for source in session.scalars(statement.order_by(MetricSource.name)):
        if source.application_id is not None:
            sources.setdefault(source.application_id, []).append(source)
    return sources


def store(session: Session, source_id: UUID, minutes: Mapping[datetime, float]) -> None:
    """Insert values of minutes, replacing existing ones."""
    rows = [
        {"tenant_id": session.info["tenant_id"], "metric_source_id": source_id, "at": at, "value": value}
        for at, value in sorted(minutes.items())
    ]
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        added = insert(MetricPoint).values(rows[first : first + _ROWS_AT_ONCE])
        session.execute(
            added.on_conflict_do_update(index_elements=["metric_source_id", "at"], set_={"value": added.excluded.value})
        )


def points(session: Session, source_id: UUID, since: datetime) -> list[tuple[datetime, float]]:
    """Return values since `since`, oldest first."""
    statement = select(MetricPoint.at, MetricPoint.value).where(
        MetricPoint.metric_source_id == source_id, MetricPoint.at >= since
    )
    return [(at, value) for at, value in session.execute(statement.order_by(MetricPoint.at))]


def newest_at(session: Session, source_id: UUID) -> datetime | None:
    """Return the newest minute with a value."""
    return session.scalar(select(func.max(MetricPoint.at)).where(MetricPoint.metric_source_id == source_id))


def forget_points(session: Session, before: datetime) -> None:
    """Delete values older than `before`, of all tenants of the session."""
    session.execute(delete(MetricPoint).where(MetricPoint.at < before))


def to_read(session: Session, before: datetime) -> list[tuple[UUID, UUID]]:
    """Return tenant and id of Prometheus sources last read before, oldest first."""
    return _due(session, select(MetricSource).where(MetricSource.kind == "prometheus"), MetricProgress.read_at, before)


def to_judge(session: Session, before: datetime) -> list[tuple[UUID, UUID]]:
    """Return tenant and id of sources last evaluated before, oldest first."""
    return _due(session, select(MetricSource), MetricProgress.judged_at, before)


def _due(
    session: Session,
    among: Select[MetricSource],
    at: InstrumentedAttribute[datetime | None],
    before: datetime,
) -> list[tuple[UUID, UUID]]:
    statement = (
        among.join(MetricSource.progress)
        .where(~MetricSource.paused, or_(at.is_(None), at < before))
        .order_by(at.asc().nulls_first())
        .limit(_SOURCES_AT_ONCE)
        .with_only_columns(MetricSource.tenant_id, MetricSource.id)
    )
    return [(tenant_id, source_id) for tenant_id, source_id in session.execute(statement)]
