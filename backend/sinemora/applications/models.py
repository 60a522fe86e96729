"""Tables of applications: tasks, edges, placement constraints, and the capacity of VMs."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Double,
    FetchedValue,
    ForeignKeyConstraint,
    Index,
    Numeric,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned

_OF_APPLICATION = (["tenant_id", "application_id"], ["applications.tenant_id", "applications.id"])


class Application(Identified, Versioned, TenantOwned, Base):
    """Tasks that cooperate on the VMs of one mesh, with the curve of their latency sensitivity.

    A star has a root task that all others talk to; a graph has edges instead. The curve is pinned: a published one by
    its key, or one version of the tenant's own. `per_vm_max`, `per_host_max`, `per_zone_max` spread its tasks. Its
    contract: `kept_share` of thirty days at or above the objective, with at most `moves_per_day` moves in 24 hours.
    """

    __tablename__ = "applications"
    rows_max = 1_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"]),
        ForeignKeyConstraint(["tenant_id", "curve_version_id"], ["curve_versions.tenant_id", "curve_versions.id"]),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "mesh_id", "name", info=taken_as("application_name_taken")),
        Index(None, "tenant_id", "mesh_id"),
        Index(None, "tenant_id", "curve_version_id"),
        CheckConstraint("num_nonnulls(curve_key, curve_version_id) = 1", name="curve"),
        CheckConstraint("objective > 0 AND objective <= 1", name="objective"),
        CheckConstraint(
            "kept_share IS NULL OR (kept_share > 0 AND kept_share < 1 AND objective IS NOT NULL)", name="kept_share"
        ),
        CheckConstraint("moves_max >= 0", name="moves_max"),
        CheckConstraint("moves_per_day >= 0", name="moves_per_day"),
        CheckConstraint("move_cost >= 0", name="move_cost"),
        CheckConstraint("reference_us >= 0", name="reference_us"),
        CheckConstraint("least(per_vm_max, per_host_max, per_zone_max) >= 1", name="spread"),
    )

    name: Mapped[str]
    description: Mapped[str]
    mesh_id: Mapped[UUID]
    curve_key: Mapped[str | None]
    curve_version_id: Mapped[UUID | None]
    reference_us: Mapped[float | None] = mapped_column(Double)
    objective: Mapped[float | None] = mapped_column(Double)
    kept_share: Mapped[float | None] = mapped_column(Double)
    moves_max: Mapped[int | None]
    moves_per_day: Mapped[int | None]
    move_cost: Mapped[float] = mapped_column(Double)
    leaves_region: Mapped[bool] = mapped_column(server_default=text("false"))
    moves_for_others: Mapped[bool] = mapped_column(server_default=text("false"))
    per_vm_max: Mapped[int | None]
    per_host_max: Mapped[int | None]
    per_zone_max: Mapped[int | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())

    mesh: Mapped[Mesh] = relationship(viewonly=True, lazy="joined", innerjoin=True)
    tasks: Mapped[list["Task"]] = relationship(
        order_by="Task.position", cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )
    edges: Mapped[list["Edge"]] = relationship(cascade="all, delete-orphan", passive_deletes=True, lazy="selectin")
    traffic: Mapped[list["TrafficDecision"]] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )
    zones: Mapped[list["ApplicationZone"]] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, lazy="selectin"
    )
    apart_from: Mapped[list["Separation"]] = relationship(
        cascade="all, delete-orphan",
        passive_deletes=True,
        lazy="selectin",
        foreign_keys="[Separation.tenant_id, Separation.application_id]",
    )


class Task(Identified, TenantOwned, Base):
    """Process of an application on a VM; without a VM it waits. A pinned task never moves."""

    __tablename__ = "tasks"
    rows_max = 100_000
    __table_args__ = (
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        # Deleting a VM does not delete its tasks: they wait for another VM.
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="SET NULL (vm_id)"),
        UniqueConstraint("tenant_id", "application_id", "id"),
        UniqueConstraint("tenant_id", "application_id", "name", deferrable=True, initially="DEFERRED"),
        Index("uq_tasks_root", "tenant_id", "application_id", unique=True, postgresql_where=text("root")),
        Index(None, "tenant_id", "vm_id"),
        CheckConstraint("slots >= 1", name="slots"),
        CheckConstraint("cpu_millicores >= 0 AND memory_mib >= 0", name="size"),
    )

    application_id: Mapped[UUID]
    position: Mapped[int]
    name: Mapped[str]
    vm_id: Mapped[UUID | None]
    root: Mapped[bool]
    pinned: Mapped[bool]
    slots: Mapped[int]
    cpu_millicores: Mapped[int]
    memory_mib: Mapped[int]
    # Written by a trigger; null where unknown.
    placed_at: Mapped[datetime | None] = mapped_column(server_default=FetchedValue(), server_onupdate=FetchedValue())
    waiting_since: Mapped[datetime | None] = mapped_column(
        server_default=FetchedValue(), server_onupdate=FetchedValue()
    )

    vm: Mapped[Vm | None] = relationship(viewonly=True, lazy="joined")


class Edge(TenantOwned, Base):
    """Communication between two tasks of a graph, with its weight."""

    __tablename__ = "task_edges"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["tenant_id", "application_id", "source_task_id"],
            ["tasks.tenant_id", "tasks.application_id", "tasks.id"],
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["tenant_id", "application_id", "target_task_id"],
            ["tasks.tenant_id", "tasks.application_id", "tasks.id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("weight > 0", name="weight"),
        CheckConstraint("source_task_id <> target_task_id", name="loop"),
    )

    application_id: Mapped[UUID] = mapped_column(primary_key=True)
    source_task_id: Mapped[UUID] = mapped_column(primary_key=True)
    target_task_id: Mapped[UUID] = mapped_column(primary_key=True)
    weight: Mapped[float] = mapped_column(Double)


class ApplicationZone(TenantOwned, Base):
    """Zone that tasks of an application may use; without any row they may use all."""

    __tablename__ = "application_zones"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "zone_id"], ["zones.tenant_id", "zones.id"], ondelete="CASCADE"),
    )

    application_id: Mapped[UUID] = mapped_column(primary_key=True)
    zone_id: Mapped[UUID] = mapped_column(primary_key=True)

    zone: Mapped[Zone] = relationship(viewonly=True, lazy="joined", innerjoin=True)


class Separation(TenantOwned, Base):
    """Anti-affinity: two applications whose tasks must not share a VM."""

    __tablename__ = "separations"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["tenant_id", "other_id"], ["applications.tenant_id", "applications.id"], ondelete="CASCADE"
        ),
        CheckConstraint("application_id <> other_id", name="other"),
    )

    application_id: Mapped[UUID] = mapped_column(primary_key=True)
    other_id: Mapped[UUID] = mapped_column(primary_key=True)

    other: Mapped[Application] = relationship(
        viewonly=True, lazy="selectin", foreign_keys="[Separation.tenant_id, Separation.other_id]"
    )


class TrafficDecision(TenantOwned, Base):
    """Proposal from traffic that was accepted as part of an application, or dismissed: without an application.

    `key` names it in the API, port and servers recognise it. `stopped` has the reason why tasks no longer follow.
    """

    __tablename__ = "traffic_decisions"
    rows_max = 10_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        Index(None, "tenant_id", "application_id"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    port: Mapped[int]
    server_vm_ids: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid))
    application_id: Mapped[UUID | None]
    since: Mapped[datetime] = mapped_column(server_default=func.now())
    stopped: Mapped[str | None]


class ApplicationQuarter(TenantOwned, Base):
    """Quarter of an hour of an application with a contract: seconds measured, and seconds at or above its objective."""

    __tablename__ = "application_quarters"
    __table_args__ = (
        ForeignKeyConstraint(*_OF_APPLICATION, ondelete="CASCADE"),
        CheckConstraint("kept_s BETWEEN 0 AND measured_s", name="kept_s"),
    )

    application_id: Mapped[UUID] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(primary_key=True)
    measured_s: Mapped[int]
    kept_s: Mapped[int]


class VmCapacity(Versioned, TenantOwned, Base):
    """Capacity and price of a VM; without a row it has one slot, at version 0. `host` groups VMs on shared hardware."""

    __tablename__ = "vm_capacities"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        CheckConstraint("slots >= 0", name="slots"),
        CheckConstraint("cpu_millicores >= 0 AND memory_mib >= 0", name="size"),
        CheckConstraint("price_per_hour >= 0", name="price"),
    )

    vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(server_default=text("1"))
    slots: Mapped[int]
    cpu_millicores: Mapped[int | None]
    memory_mib: Mapped[int | None]
    price_per_hour: Mapped[Decimal | None] = mapped_column(Numeric(14, 6))
    host: Mapped[str | None]
