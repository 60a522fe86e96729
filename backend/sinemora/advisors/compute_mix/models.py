"""Tables of price lists and of the price bases of applications."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.http.etag import Versioned


class PriceList(Identified, TenantOwned, Base):
    """Prices of VM types and serverless offers at a date; an import under the same name replaces its entries."""

    __tablename__ = "price_lists"
    rows_max = 200
    __table_args__ = (UniqueConstraint("tenant_id", "id"), UniqueConstraint("tenant_id", "name"))

    name: Mapped[str]
    currency: Mapped[str]
    as_of: Mapped[date]
    source: Mapped[str | None]
    entries: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class PriceBasis(Versioned, TenantOwned, Base):
    """Load, response target and offers of an application (`ServiceWrite`): moves of its tasks are priced by it."""

    __tablename__ = "price_bases"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "application_id"], ["applications.tenant_id", "applications.id"], ondelete="CASCADE"
        ),
    )

    application_id: Mapped[UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(server_default=text("1"))
    service: Mapped[dict[str, Any]] = mapped_column(JSONB)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
