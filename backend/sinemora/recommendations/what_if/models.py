"""Table of scenarios: saved what-if requests."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class Scenario(Identified, Versioned, TenantOwned, Base):
    """Saved changes to a mesh and its applications; every evaluation uses current measurements."""

    __tablename__ = "scenarios"
    rows_max = 1_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "mesh_id", "name", info=taken_as("scenario_name_taken")),
        Index(None, "tenant_id", "mesh_id"),
    )

    name: Mapped[str]
    mesh_id: Mapped[UUID]
    request: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)
