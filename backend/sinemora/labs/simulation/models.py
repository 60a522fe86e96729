"""Table of reports of simulations."""

from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, Identified, TenantOwned


class Simulation(Identified, TenantOwned, Base):
    """The report of a run of `sinemora simulate`, as uploaded; immutable."""

    __tablename__ = "simulations"
    rows_max = 1_000
    __table_args__ = (UniqueConstraint("tenant_id", "id"), Index(None, "tenant_id", "created_at"))

    name: Mapped[str]
    world: Mapped[dict[str, Any]]
    policies: Mapped[list[dict[str, Any]]] = mapped_column(JSONB())
