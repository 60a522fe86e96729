"""Tables for readers with SQL: minutes between zones as plain columns, and the database roles that may read them."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Integer, Table, func
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, TenantOwned

VALUES = (
    *("delay_p50_ns", "delay_p90_ns", "delay_p99_ns", "clock_error_ns"),
    *("round_trip_p50_ns", "round_trip_p90_ns", "round_trip_p99_ns"),
    *("packets_sent", "packets_lost"),
)
"""Columns of `zone_minutes` that are null where nothing was measured."""

# One minute of one path between zones, from the same merged frames as `zone_frames_1m`: delays are corrected. The table
# has no row-level security, which TimescaleDB refuses on a columnstore; `grants` keeps the role of requests away.
zone_minutes = Table(
    "zone_minutes",
    Base.metadata,
    Column("tenant_key", Integer, primary_key=True, autoincrement=False),
    Column("mesh_key", Integer, primary_key=True, autoincrement=False),
    Column("started_at", DateTime(timezone=True), primary_key=True),
    Column("source_zone_key", Integer, primary_key=True, autoincrement=False),
    Column("target_zone_key", Integer, primary_key=True, autoincrement=False),
    Column("exchanges", BigInteger, nullable=False),
    *(Column(name, BigInteger) for name in VALUES),
    postgresql_partition_by="RANGE (started_at)",
)


class SqlLogin(TenantOwned, Base):
    """Database role that reads the minutes of a tenant with SQL. The operator creates the role."""

    __tablename__ = "sql_logins"
    rows_max: ClassVar[int | None] = 20

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
