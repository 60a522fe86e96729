"""Tables of bucket exports: settings, progress, and what each bucket has."""

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned

_OF_EXPORT = (["tenant_id", "bucket_export_id"], ["bucket_exports.tenant_id", "bucket_exports.id"])


class Schedule(StrEnum):
    """Schedule of an export, UTC: `daily` exports finished days, `hourly` also rewrites the day in progress."""

    hourly = "hourly"
    daily = "daily"


class ExportTable(StrEnum):
    """Merged measurements by ends and step: between zones or VMs, by minute, quarter of an hour, hour or day."""

    zones_1m = "zones_1m"
    vms_1m = "vms_1m"
    zones_15m = "zones_15m"
    vms_15m = "vms_15m"
    zones_1h = "zones_1h"
    vms_1h = "vms_1h"
    zones_1d = "zones_1d"
    vms_1d = "vms_1d"


class BucketExport(Identified, Versioned, TenantOwned, Base):
    """Export to a bucket. `secret` of the access key is encrypted (`kit/encryption.py`).

    `hour`: hour of the day (UTC) of a daily export. Without `endpoint` the bucket is at Amazon S3.
    """

    __tablename__ = "bucket_exports"
    rows_max = 10
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("bucket_export_name_taken")),
        UniqueConstraint("tenant_id", "endpoint", "bucket", "prefix", info=taken_as("bucket_place_taken")),
        CheckConstraint("schedule IN ('hourly', 'daily')", name="schedule"),
        CheckConstraint("hour BETWEEN 0 AND 23", name="hour"),
        CheckConstraint("cardinality(tables) > 0", name="tables"),
    )

    name: Mapped[str]
    endpoint: Mapped[str]
    region: Mapped[str]
    bucket: Mapped[str]
    prefix: Mapped[str]
    access_key: Mapped[str]
    secret: Mapped[bytes]
    schedule: Mapped[Schedule] = mapped_column(TEXT)
    hour: Mapped[int]
    tables: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    paused: Mapped[bool]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())

    progress: Mapped["BucketExportProgress"] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, lazy="joined", innerjoin=True
    )


class BucketExportProgress(TenantOwned, Base):
    """Progress of an export, in a separate row so that the worker never conflicts with edits.

    `failures`: failed runs since the last successful one; `error`: reason of the newest of them. `next_at`: next run.
    """

    __tablename__ = "bucket_export_progress"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_EXPORT, ondelete="CASCADE"),
        Index(None, "next_at"),
        CheckConstraint("(failures > 0) = (error IS NOT NULL)", name="error"),
    )

    bucket_export_id: Mapped[UUID] = mapped_column(primary_key=True)
    next_at: Mapped[datetime]
    job_id: Mapped[UUID | None]
    succeeded_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    failures: Mapped[int]
    error: Mapped[str | None]


class ExportedDay(TenantOwned, Base):
    """Day (UTC) of a table of a mesh in a bucket: `parts` objects of `revision`, from the rows that `seen_…` identify.

    `writing_parts`: objects of the next revision that a run may have written so far. Without rows there are no objects.
    """

    __tablename__ = "exported_days"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_EXPORT, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "mesh_id"),
    )

    bucket_export_id: Mapped[UUID] = mapped_column(primary_key=True)
    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    table: Mapped[str] = mapped_column("table_name", primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    revision: Mapped[int]
    parts: Mapped[int]
    writing_parts: Mapped[int]
    rows: Mapped[int] = mapped_column(BigInteger)
    bytes: Mapped[int] = mapped_column(BigInteger)
    seen_rows: Mapped[int] = mapped_column(BigInteger)
    seen_targets: Mapped[int] = mapped_column(BigInteger)
    seen_merged_ms: Mapped[int] = mapped_column(BigInteger)
    exported_at: Mapped[datetime]
