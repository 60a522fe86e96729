"""Tables of learning: metric sources, their values and findings."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Double, ForeignKeyConstraint, Index, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned

_OF_SOURCE = (["tenant_id", "metric_source_id"], ["metric_sources.tenant_id", "metric_sources.id"])


class MetricSource(Identified, Versioned, TenantOwned, Base):
    """A metric of an application and the paths it uses. `kind` is `push` or `prometheus` (`url`, `query`).

    `authentication`: scheme for the server; its secret is encrypted (`kit/encryption.py`). `application_id`: the
    application whose applied moves it judges. `curve_id`: the curve it refreshes; null until it has created one.
    `finding`: latest result of learning with state, reasons, number of pairs and latencies; it changes without a new
    version, because people do not edit it.
    """

    __tablename__ = "metric_sources"
    rows_max = 500
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["tenant_id", "curve_id"], ["curves.tenant_id", "curves.id"], ondelete="SET NULL (curve_id)"
        ),
        ForeignKeyConstraint(
            ["tenant_id", "application_id"],
            ["applications.tenant_id", "applications.id"],
            ondelete="SET NULL (application_id)",
        ),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "mesh_id", "name", info=taken_as("metric_source_name_taken")),
        Index(None, "tenant_id", "application_id"),
        Index(None, "tenant_id", "curve_id"),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint("metric IN ('rate', 'duration')", name="metric"),
        CheckConstraint("kind IN ('push', 'prometheus')", name="kind"),
        CheckConstraint("(kind = 'prometheus') = (url IS NOT NULL AND query IS NOT NULL)", name="prometheus"),
        CheckConstraint("refresh_hours >= 1", name="refresh_hours"),
        CheckConstraint("authentication IN ('bearer', 'basic', 'header')", name="authentication"),
        CheckConstraint("(authentication IS NULL) = (secret IS NULL)", name="secret"),
    )

    name: Mapped[str]
    mesh_id: Mapped[UUID]
    application_id: Mapped[UUID | None]
    curve_id: Mapped[UUID | None]
    metric: Mapped[str]
    unit: Mapped[str]
    kind: Mapped[str]
    url: Mapped[str | None]
    query: Mapped[str | None]
    authentication: Mapped[str | None]
    secret: Mapped[bytes | None]
    refresh_hours: Mapped[int]
    paused: Mapped[bool]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())

    paths: Mapped[list["MetricPath"]] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, lazy="selectin", order_by="MetricPath.position"
    )
    progress: Mapped["MetricProgress"] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, lazy="joined", innerjoin=True
    )


class MetricPath(TenantOwned, Base):
    """Path whose round trips the application waits for."""

    __tablename__ = "metric_paths"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_SOURCE, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "source_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "target_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint("source_vm_id <> target_vm_id", name="ends"),
    )

    metric_source_id: Mapped[UUID] = mapped_column(primary_key=True)
    source_vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    target_vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int]

    source_vm: Mapped[Vm] = relationship(
        viewonly=True, lazy="joined", innerjoin=True, foreign_keys="[MetricPath.tenant_id, MetricPath.source_vm_id]"
    )
    target_vm: Mapped[Vm] = relationship(
        viewonly=True, lazy="joined", innerjoin=True, foreign_keys="[MetricPath.tenant_id, MetricPath.target_vm_id]"
    )


class MetricProgress(TenantOwned, Base):
    """Read progress of a metric source, in its own row so that the worker never conflicts with edits."""

    __tablename__ = "metric_progress"
    __table_args__ = (ForeignKeyConstraint(*_OF_SOURCE, ondelete="CASCADE"),)

    metric_source_id: Mapped[UUID] = mapped_column(primary_key=True)
    read_at: Mapped[datetime | None]
    read_error: Mapped[str | None]
    judged_at: Mapped[datetime | None]
    learnt_at: Mapped[datetime | None]
    finding: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class MetricPoint(TenantOwned, Base):
    """Mean of the metric in the minute that begins `at`."""

    __tablename__ = "metric_points"
    __table_args__ = (ForeignKeyConstraint(*_OF_SOURCE, ondelete="CASCADE"),)

    metric_source_id: Mapped[UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    value: Mapped[float] = mapped_column(Double)
