"""Tables of curves: measurements of the tenant's applications and their fits."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Double, ForeignKeyConstraint, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class StoredCurve(Identified, Versioned, TenantOwned, Base):
    """Application in one configuration. `metric` names the measure, `unit` its unit (`queries/s`)."""

    __tablename__ = "curves"
    rows_max = 2_000
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("curve_name_taken")),
        CheckConstraint("metric IN ('rate', 'duration')", name="metric"),
    )

    name: Mapped[str]
    description: Mapped[str]
    metric: Mapped[str]
    unit: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class CurveVersion(Identified, TenantOwned, Base):
    """Measurements of a curve and the fit to them. Never changed: newer measurements make another version.

    The curve and its band are straight lines through `performance`, `low` and `high` at `knots_us`, from 0 to the end
    of the fitted domain. `samples` holds normalised samples by column, enough to repeat the fit.
    A threshold is null if no family with one has weight.
    """

    __tablename__ = "curve_versions"
    rows_max = 20_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "curve_id"], ["curves.tenant_id", "curves.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "curve_id", "number"),
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("domain_us > 0 AND domain_us = knots_us[cardinality(knots_us)]", name="domain"),
        CheckConstraint(
            "cardinality(knots_us) = cardinality(performance) AND cardinality(knots_us) = cardinality(low)"
            " AND cardinality(knots_us) = cardinality(high)",
            name="knots",
        ),
        CheckConstraint("0 < ALL (low) AND 1 >= ALL (high)", name="band"),
    )

    curve_id: Mapped[UUID]
    number: Mapped[int]
    source: Mapped[str]
    made_by: Mapped[str]
    rows: Mapped[int]
    samples: Mapped[dict[str, Any]]
    baseline: Mapped[float] = mapped_column(Double)
    baseline_measured: Mapped[bool]
    baseline_factor: Mapped[float] = mapped_column(Double)
    latency_offset_us: Mapped[float] = mapped_column(Double)
    family: Mapped[str]
    reason: Mapped[str]
    candidates: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    noise: Mapped[float] = mapped_column(Double)
    threshold_us: Mapped[float | None] = mapped_column(Double)
    threshold_low_us: Mapped[float | None] = mapped_column(Double)
    threshold_high_us: Mapped[float | None] = mapped_column(Double)
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    domain_us: Mapped[float] = mapped_column(Double)
    knots_us: Mapped[list[float]] = mapped_column(ARRAY(Double))
    performance: Mapped[list[float]] = mapped_column(ARRAY(Double))
    low: Mapped[list[float]] = mapped_column(ARRAY(Double))
    high: Mapped[list[float]] = mapped_column(ARRAY(Double))
