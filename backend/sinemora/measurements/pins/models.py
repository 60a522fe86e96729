"""Table of pins."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, relationship

from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned


class Pin(Identified, TenantOwned, Base):
    """Pin: keeps a mesh's measurements in [`started_at`, `ended_at`) at every tier, until it is deleted."""

    __tablename__ = "pins"
    rows_max = 1_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "started_at", "id"),
        Index(None, "mesh_id", "started_at"),
        CheckConstraint("started_at < ended_at", name="range"),
    )

    mesh_id: Mapped[UUID]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]
    reason: Mapped[str]
    made_by: Mapped[str]

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)
