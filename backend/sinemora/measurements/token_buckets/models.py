"""Table of token buckets."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.http.etag import Versioned


class Direction(StrEnum):
    """Traffic that takes tokens: what the VM sends, or what it receives."""

    SENT = "sent"
    RECEIVED = "received"


class Source(StrEnum):
    """Origin of rate and depth: stated by a person, as from a provider's documents, or detected from bursts."""

    STATED = "stated"
    DETECTED = "detected"


class TokenBucket(Identified, Versioned, TenantOwned, Base):
    """Token bucket that shapes the traffic of a VM, in one direction."""

    __tablename__ = "token_buckets"
    rows_max = 1_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "vm_id"),
        CheckConstraint("direction IN ('sent', 'received')", name="direction"),
        CheckConstraint("source IN ('stated', 'detected')", name="source"),
        CheckConstraint("rate_bytes_per_s > 0", name="rate_bytes_per_s"),
        CheckConstraint("depth_bytes > 0", name="depth_bytes"),
    )

    vm_id: Mapped[UUID]
    version: Mapped[int] = mapped_column(server_default=text("1"))
    direction: Mapped[str]
    rate_bytes_per_s: Mapped[float]
    depth_bytes: Mapped[float]
    source: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())

    vm: Mapped[Vm] = relationship(viewonly=True, lazy="joined", innerjoin=True)
