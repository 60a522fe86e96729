"""Tables of annotations and their scopes."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Identity, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import TEXT

from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.http.etag import Versioned


class AnnotationKind(StrEnum):
    """Kind of an annotation."""

    DEPLOY = "deploy"
    MAINTENANCE = "maintenance"
    NOTE = "note"


class Annotation(Identified, Versioned, TenantOwned, Base):
    """Annotation: an event at `starts_at`, or a span until `ends_at`; without a mesh it is about all meshes.

    `scoped`: it is about `targets` only. If all of them are deleted, it is about none, not about everything.
    """

    __tablename__ = "annotations"
    rows_max = 20_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "starts_at", "id"),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint("kind IN ('deploy', 'maintenance', 'note')", name="kind"),
        CheckConstraint("starts_at < ends_at", name="times"),
    )

    kind: Mapped[AnnotationKind] = mapped_column(TEXT)
    text: Mapped[str]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]
    mesh_id: Mapped[UUID | None]
    scoped: Mapped[bool]
    source: Mapped[str]
    url: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())

    mesh: Mapped[Mesh | None] = relationship(viewonly=True, lazy="joined")
    targets: Mapped[list["AnnotationTarget"]] = relationship(
        order_by="AnnotationTarget.id", cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )


class AnnotationTarget(TenantOwned, Base):
    """A VM, zone or application that an annotation is about."""

    __tablename__ = "annotation_targets"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "annotation_id"], ["annotations.tenant_id", "annotations.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "zone_id"], ["zones.tenant_id", "zones.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["tenant_id", "application_id"], ["applications.tenant_id", "applications.id"], ondelete="CASCADE"
        ),
        Index(None, "tenant_id", "annotation_id"),
        Index(None, "tenant_id", "vm_id"),
        Index(None, "tenant_id", "zone_id"),
        Index(None, "tenant_id", "application_id"),
        CheckConstraint("num_nonnulls(vm_id, zone_id, application_id) = 1", name="one"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    annotation_id: Mapped[UUID]
    vm_id: Mapped[UUID | None]
    zone_id: Mapped[UUID | None]
    application_id: Mapped[UUID | None]
