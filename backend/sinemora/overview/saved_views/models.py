"""Table of saved views."""

from uuid import UUID

from sqlalchemy import ARRAY, UniqueConstraint, Uuid
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as


class SavedView(Identified, TenantOwned, Base):
    """A page of the console: `address` is its path with its parameters, which hold the state of the page.

    `mesh_ids`: the meshes that its author is limited to, null for all. Others see it who see no less.
    """

    __tablename__ = "saved_views"
    rows_max = 500
    limited_callers_change = True
    __table_args__ = (
        UniqueConstraint(
            "tenant_id", "name", "mesh_ids", postgresql_nulls_not_distinct=True, info=taken_as("saved_view_exists")
        ),
    )

    name: Mapped[str]
    address: Mapped[str]
    created_by: Mapped[str]
    mesh_ids: Mapped[list[UUID] | None] = mapped_column(ARRAY(Uuid))
