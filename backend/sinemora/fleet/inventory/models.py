"""Tables of zones, VMs, agents and their events."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.fleet.inventory.status import stopped_since
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned

EVENT_PORT = 319
GENERAL_PORT = 320


class Responder(StrEnum):
    """Program that responds to probes on a VM: our agent, or without one a standard IEEE 1588 master that negotiates
    unicast, or a server of SPTP (Meta's Simple PTP).
    """

    AGENT = "agent"
    IEEE1588 = "ieee1588"
    SPTP = "sptp"


class Zone(Identified, Versioned, TenantOwned, Base):
    """Availability zone of a provider. `physical_id` is the provider's name for it, equal for every customer.

    `key` identifies it in time series.
    """

    __tablename__ = "zones"
    rows_max = 1_000
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "provider", "region", "name", info=taken_as("zone_name_taken")),
    )

    key: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    provider: Mapped[str]
    region: Mapped[str]
    name: Mapped[str]
    physical_id: Mapped[str | None]


class Vm(Identified, Versioned, TenantOwned, Base):
    """Virtual machine. `key` identifies it in time series and on the wire; ports are those of PTP (IEEE 1588)."""

    __tablename__ = "vms"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "zone_id"], ["zones.tenant_id", "zones.id"]),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("vm_name_taken")),
        Index(None, "tenant_id", "zone_id"),
        CheckConstraint("event_port BETWEEN 1 AND 65535", name="event_port"),
        CheckConstraint("general_port BETWEEN 1 AND 65535", name="general_port"),
        CheckConstraint("general_port <> event_port", name="ports_differ"),
        CheckConstraint("responder IN ('agent', 'ieee1588', 'sptp')", name="responder"),
        CheckConstraint("ptp_domain BETWEEN 0 AND 127", name="ptp_domain"),
    )

    key: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    zone_id: Mapped[UUID]
    name: Mapped[str]
    labels: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    probe_address: Mapped[str | None]
    event_port: Mapped[int]
    general_port: Mapped[int]
    responder: Mapped[str] = mapped_column(server_default=Responder.AGENT.value)
    ptp_domain: Mapped[int] = mapped_column(server_default=text("0"))

    zone: Mapped[Zone] = relationship(lazy="joined", innerjoin=True)
    agent: Mapped["Agent | None"] = relationship(
        primaryjoin="and_(Vm.tenant_id == Agent.tenant_id, Vm.id == Agent.vm_id, Agent.revoked_at.is_(None))",
        foreign_keys="[Agent.tenant_id, Agent.vm_id]",
        viewonly=True,
        uselist=False,
        lazy="selectin",
    )


class Agent(Identified, TenantOwned, Base):
    """Agent on a VM, identified by its credential. A VM has at most one that is not revoked.

    `stopped_at`: when it reported its last orderly stop; `started_at`: when it last described itself after a start.
    """

    __tablename__ = "agents"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index("uq_agents_living", "tenant_id", "vm_id", unique=True, postgresql_where=text("revoked_at IS NULL")),
        Index(None, "tenant_id", "created_at", "id"),
        # Room on each page for new row versions: every window updates the last report, without index updates.
        {"postgresql_with": {"fillfactor": 70}},
    )

    vm_id: Mapped[UUID]
    enrolled_with: Mapped[UUID | None]
    credential_prefix: Mapped[str]
    credential_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    revoked_at: Mapped[datetime | None]
    agent_version: Mapped[str]
    description: Mapped[dict[str, Any]]
    last_report_at: Mapped[datetime | None]
    report_every_s: Mapped[int] = mapped_column(server_default=text("10"))
    stopped_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    health: Mapped[dict[str, Any] | None]

    vm: Mapped[Vm] = relationship(viewonly=True, lazy="joined", innerjoin=True)

    @property
    def stopped_since(self) -> datetime | None:
        """Time of its orderly stop, unless it has started since."""
        return stopped_since(self.stopped_at, self.started_at)


class AgentEvent(TenantOwned, Base):
    """Event of an agent: a clock step, a reduced rate, dropped reports, an error."""

    __tablename__ = "agent_events"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "agent_id"], ["agents.tenant_id", "agents.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "agent_id", "at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    agent_id: Mapped[UUID]
    kind: Mapped[str]
    at: Mapped[datetime]
    detail: Mapped[dict[str, Any]]
    received_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
