"""Queries of curves."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from sinemora.applications.curves.models import CurveVersion, StoredCurve


def curve_locked(session: Session, curve_id: UUID) -> StoredCurve | None:
    """Return the tenant's curve, locked against concurrent versions."""
    locked = select(StoredCurve).where(StoredCurve.id == curve_id).with_for_update()
    return session.scalars(locked, execution_options={"populate_existing": True}).one_or_none()


def curves_after(session: Session, name: str, limit: int) -> list[StoredCurve]:
    """Return the tenant's curves by name, after `name`."""
    after = select(StoredCurve).where(StoredCurve.name > name).order_by(StoredCurve.name).limit(limit)
    return list(session.scalars(after))


def newest_versions(session: Session, curve_ids: Collection[UUID]) -> dict[UUID, CurveVersion]:
    rows = session.scalars(
        select(CurveVersion)
        .where(CurveVersion.curve_id.in_(curve_ids))
        .ext(distinct_on(CurveVersion.curve_id))
        .order_by(CurveVersion.curve_id, CurveVersion.number.desc())
    )
    return {row.curve_id: row for row in rows}


def version_numbered(session: Session, curve_id: UUID, number: int) -> CurveVersion | None:
    """Return one version of a curve."""
    return session.scalars(
        select(CurveVersion).where(CurveVersion.curve_id == curve_id, CurveVersion.number == number)
    ).one_or_none()
