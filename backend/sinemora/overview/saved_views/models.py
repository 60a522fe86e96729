"""Table of saved views."""

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as


class SavedView(Identified, TenantOwned, Base):
    """A page of the console: `address` is its path with its parameters, which hold the state of the page."""

    __tablename__ = "saved_views"
    rows_max = 500
    limited_callers_change = True
    __table_args__ = (UniqueConstraint("tenant_id", "name", info=taken_as("saved_view_exists")),)

    name: Mapped[str]
    address: Mapped[str]
    created_by: Mapped[str]
