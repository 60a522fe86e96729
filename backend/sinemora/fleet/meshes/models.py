"""Tables of meshes, their members and enrolment tokens."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    FetchedValue,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    UniqueConstraint,
    Uuid,
    false,
    func,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, column_property, mapped_column
from sqlalchemy.types import TEXT

from sinemora.fleet.meshes.plan import LOSS_DEADLINE_MS, SPIKE_THRESHOLD_NS
from sinemora.fleet.meshes.strategies.strategy import FULL
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class Mesh(Identified, Versioned, TenantOwned, Base):
    """Mesh: VMs that probe one another. `key` identifies it in time series and on the wire.

    `revision` identifies a state of plan and roster. Database triggers raise it with every change of either: members,
    settings, addresses, names, zones, agents that enrol or are revoked.
    """

    __tablename__ = "meshes"
    rows_max = 500
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "name", info=taken_as("mesh_name_taken")),
        CheckConstraint("window_s BETWEEN 1 AND 60", name="window_s"),
        CheckConstraint("rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)", name="rate_hz"),
        CheckConstraint("flows BETWEEN 1 AND 16", name="flows"),
        CheckConstraint("spike_threshold_ns BETWEEN 10000 AND 1000000000", name="spike_threshold_ns"),
        CheckConstraint("loss_deadline_ms BETWEEN 100 AND 2000", name="loss_deadline_ms"),
        CheckConstraint("strategy IN ('full', 'zones', 'sparse', 'event')", name="strategy"),
        CheckConstraint("period_windows BETWEEN 2 AND 60", name="period_windows"),
        CheckConstraint("representatives BETWEEN 1 AND 16", name="representatives"),
        CheckConstraint("remove_gone_after_s BETWEEN 300 AND 2592000", name="remove_gone_after_s"),
    )

    key: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    name: Mapped[str]
    window_s: Mapped[int]
    rate_hz: Mapped[int]
    flows: Mapped[int]
    spike_threshold_ns: Mapped[int] = mapped_column(server_default=text(str(SPIKE_THRESHOLD_NS)))
    loss_deadline_ms: Mapped[int] = mapped_column(server_default=text(str(LOSS_DEADLINE_MS)))
    strategy: Mapped[str] = mapped_column(server_default=FULL.kind.value)
    period_windows: Mapped[int] = mapped_column(server_default=text(str(FULL.period_windows)))
    representatives: Mapped[int] = mapped_column(server_default=text(str(FULL.representatives)))
    remove_gone_after_s: Mapped[int | None]
    revision: Mapped[int] = mapped_column(BigInteger, server_default=text("1"), server_onupdate=FetchedValue())


class MeshFocus(TenantOwned, Base):
    """Pairs of VMs that a mesh measures in every window while they are part of an open incident.

    `pairs`: two VM keys each, 32 bits, little-endian. A change raises the revision of the mesh.
    """

    __tablename__ = "mesh_focus"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    pairs: Mapped[bytes] = mapped_column(LargeBinary)


class MeshVm(TenantOwned, Base):
    """Membership of a VM in a mesh."""

    __tablename__ = "mesh_vms"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "vm_id"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    vm_id: Mapped[UUID] = mapped_column(primary_key=True)


class OnDemandMeasurement(Identified, TenantOwned, Base):
    """Measurement of one pair on demand, for at most a minute. `key` identifies it on the wire.

    The agent of `client_vm_id`, one of both ends, sends the requests: `rate_hz` exchanges per second over all its
    `source_ports`. `ecn` and `reordering`: their packets are ECN-capable, leave in pairs.
    """

    __tablename__ = "on_demand_measurements"
    rows_max = 500
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "source_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "target_vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "key"),
        Index(None, "tenant_id", "mesh_id", "starts_at", "id"),
        Index(None, "tenant_id", "source_vm_id"),
        Index(None, "tenant_id", "target_vm_id"),
        Index("ix_on_demand_measurements_active", "ends_at", postgresql_where=text("stopped_at IS NULL")),
        CheckConstraint("source_vm_id <> target_vm_id", name="ends_differ"),
        CheckConstraint("client_vm_id IN (source_vm_id, target_vm_id)", name="client"),
        CheckConstraint("rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)", name="rate_hz"),
        CheckConstraint("source_ports IN (1, 2, 4, 8, 16, 32, 64) AND source_ports <= rate_hz", name="source_ports"),
        CheckConstraint("ends_at > starts_at AND ends_at <= starts_at + interval '60 s'", name="span"),
    )

    key: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    mesh_id: Mapped[UUID]
    source_vm_id: Mapped[UUID]
    target_vm_id: Mapped[UUID]
    client_vm_id: Mapped[UUID]
    rate_hz: Mapped[int]
    source_ports: Mapped[int]
    ecn: Mapped[bool] = mapped_column(server_default=text("false"))
    reordering: Mapped[bool] = mapped_column(server_default=text("false"))
    loss_deadline_ms: Mapped[int]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    requested_by: Mapped[str]


TRIAL = "trial"
"""Kind of every order. Rows of another kind are of a version that ran planned transfers; nothing reads them."""


class BulkOrder(Identified, TenantOwned, Base):
    """Transfers between two VMs of one mesh that their agents run by the bulk sender.

    `steps` have source, target, bytes and transport; `progress` has the newest report of each by its number. The
    secret and the certificate of TLS are of this order alone, and null once it is over.
    """

    __tablename__ = "bulk_orders"
    rows_max = 500
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "mesh_id"),
        Index(None, "tenant_id", "created_at", "id"),
        Index("ix_bulk_orders_active", "ends_at", postgresql_where=text("stopped_at IS NULL AND finished_at IS NULL")),
        CheckConstraint("kind IN ('trial', 'transfers')", name="kind"),
        CheckConstraint("ends_at > starts_at AND ends_at <= starts_at + interval '600 s'", name="span"),
    )

    mesh_id: Mapped[UUID]
    kind: Mapped[str] = mapped_column(TEXT, default=TRIAL)
    vm_ids: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    certificate: Mapped[bytes | None] = mapped_column(LargeBinary)
    certificate_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    request: Mapped[dict[str, Any]]
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    progress: Mapped[dict[str, Any]]
    error: Mapped[str | None]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    requested_by: Mapped[str]


Mesh.vm_count = column_property(
    select(func.count())
    .select_from(MeshVm)
    .where(MeshVm.mesh_id == Mesh.id)
    .correlate(Mesh.__table__)
    .scalar_subquery()
)


class EnrolmentToken(Identified, TenantOwned, Base):
    """Enrolment token of a mesh: its holder may enrol agents, `max_uses` times until it expires.

    `limited`: its author sees some meshes only, so it takes no VM over that is in others.
    """

    __tablename__ = "enrolment_tokens"
    rows_max = 500
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint("uses BETWEEN 0 AND max_uses", name="uses"),
    )

    mesh_id: Mapped[UUID]
    prefix: Mapped[str]
    secret_digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    expires_at: Mapped[datetime]
    max_uses: Mapped[int]
    uses: Mapped[int] = mapped_column(server_default=text("0"))
    limited: Mapped[bool] = mapped_column(server_default=false())
