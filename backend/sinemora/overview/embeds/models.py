"""Table of embed links."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import TEXT

from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned


class EmbeddedView(StrEnum):
    """View that a link shows."""

    HEATMAP = "heatmap"
    PATH = "path"
    OVERVIEW = "overview"


class EmbedLink(Identified, TenantOwned, Base):
    """Link to one view of a mesh; a path has its VMs. Only a digest of its token is stored."""

    __tablename__ = "embed_links"
    rows_max = 500
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "source_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "target_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint("view IN ('heatmap', 'path', 'overview')", name="view"),
        CheckConstraint("(view = 'path') = (source_vm_id IS NOT NULL AND target_vm_id IS NOT NULL)", name="path"),
        Index(None, "tenant_id", "mesh_id"),
    )

    name: Mapped[str]
    view: Mapped[EmbeddedView] = mapped_column(TEXT)
    mesh_id: Mapped[UUID]
    source_vm_id: Mapped[UUID | None]
    target_vm_id: Mapped[UUID | None]
    prefix: Mapped[str]
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_by: Mapped[str]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)
