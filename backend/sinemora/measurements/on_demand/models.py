"""Table of the seconds of measurements on demand."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Integer
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, TenantOwned


class OnDemandWindow(TenantOwned, Base):
    """Second of a measurement on demand, with each of its exchanges. `ports`: source ports by flow."""

    __tablename__ = "on_demand_windows"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "measurement_id"],
            ["on_demand_measurements.tenant_id", "on_demand_measurements.id"],
            ondelete="CASCADE",
        ),
    )

    measurement_id: Mapped[UUID] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(primary_key=True)
    ports: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    exchanges: Mapped[dict[str, Any]] = mapped_column(JSONB)
