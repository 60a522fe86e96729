"""Tables for readers with SQL: minutes as plain columns, the paths that have them, and the roles that may read."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, ForeignKey, Integer, Table, func
from sqlalchemy import ForeignKeyConstraint as ForeignKeys
from sqlalchemy.orm import Mapped, mapped_column

from sinemora.kit.db import Base, TenantOwned

VALUES = (
    *("delay_p50_ns", "delay_p90_ns", "delay_p99_ns", "clock_error_ns"),
    *("round_trip_p50_ns", "round_trip_p90_ns", "round_trip_p99_ns"),
    *("packets_sent", "packets_lost"),
)
"""Columns of minutes that are null where nothing was measured."""


def _minutes(name: str, ends: str) -> Table:
    """Return a table with a row for a minute and a path, one way, between zones or VMs. Delays are corrected.

    It has no row-level security, which TimescaleDB refuses on a columnstore; `grants` keeps the role of requests away.
    """
    return Table(
        name,
        Base.metadata,
        *(Column(key, Integer, primary_key=True, autoincrement=False) for key in ("tenant_key", "mesh_key")),
        Column("started_at", DateTime(timezone=True), primary_key=True),
        *(Column(key, Integer, primary_key=True, autoincrement=False) for key in (f"source_{ends}", f"target_{ends}")),
        Column("exchanges", BigInteger, nullable=False),
        *(Column(value, BigInteger) for value in VALUES),
        postgresql_partition_by="RANGE (started_at)",
    )


zone_minutes = _minutes("zone_minutes", "zone_key")
path_minutes = _minutes("path_minutes", "vm_key")


class SqlPath(TenantOwned, Base):
    """Path whose minutes are kept for SQL, both ways and in each mesh; `vm_id` is the smaller of the two ids."""

    __tablename__ = "sql_paths"
    __table_args__ = (
        ForeignKeys(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeys(["tenant_id", "peer_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint("vm_id < peer_id", name="order"),
    )
    rows_max: ClassVar[int | None] = 100

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    peer_id: Mapped[UUID] = mapped_column(primary_key=True, index=True)


class SqlLogin(TenantOwned, Base):
    """Database role that reads the minutes of a tenant with SQL. The operator creates the role."""

    __tablename__ = "sql_logins"
    rows_max: ClassVar[int | None] = 20

    tenant_id: Mapped[UUID] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
