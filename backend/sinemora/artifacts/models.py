"""Tables of artifacts, their blocks, the copies on VMs and the setting of a mesh."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship
from sqlalchemy.types import TEXT

from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import Base, Identified, TenantOwned
from sinemora.kit.errors import taken_as
from sinemora.kit.http.etag import Versioned


class Chunking(StrEnum):
    """How a file is cut into blocks: at fixed offsets, or where its content says (FastCDC)."""

    FIXED = "fixed"
    CONTENT = "content"


class CopyState(StrEnum):
    """State of a copy on a VM."""

    WAITING = "waiting"
    FETCHING = "fetching"
    COMPLETE = "complete"
    REFUSED = "refused"


class WaitsFor(StrEnum):
    """Reason that a copy is incomplete, other than its turn in the queue."""

    DISTRIBUTION = "distribution"
    """Artifacts are off in the mesh."""
    AGENT = "agent"
    """The VM has no agent."""
    REQUEST = "request"
    """`sinemora-transfer` of the VM has not asked for artifacts lately: it is stopped, or not installed."""


class ArtifactSettings(Versioned, TenantOwned, Base):
    """Distribution of artifacts in a mesh. A mesh without a row distributes none."""

    __tablename__ = "artifact_settings"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        CheckConstraint("rate_mbit BETWEEN 1 AND 100000", name="rate_mbit"),
        CheckConstraint("budget_mib BETWEEN 16 AND 1048576", name="budget_mib"),
    )

    mesh_id: Mapped[UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(server_default=text("1"))
    enabled: Mapped[bool]
    rate_mbit: Mapped[int]
    budget_mib: Mapped[int]


class Artifact(Identified, TenantOwned, Base):
    """Published file. `manifest`: see `core.manifest`; `root` is the Merkle root over its blocks."""

    __tablename__ = "artifacts"
    rows_max = 1_000
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "mesh_id"], ["meshes.tenant_id", "meshes.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "id"),
        UniqueConstraint("tenant_id", "mesh_id", "name", "release", info=taken_as("artifact_exists")),
        Index(None, "tenant_id", "mesh_id"),
        CheckConstraint("size_bytes >= 0", name="size_bytes"),
        CheckConstraint("chunking IN ('fixed', 'content')", name="chunking"),
    )

    mesh_id: Mapped[UUID]
    name: Mapped[str]
    release: Mapped[str]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    chunking: Mapped[Chunking] = mapped_column(TEXT)
    block_count: Mapped[int]
    root: Mapped[bytes] = mapped_column(LargeBinary)
    manifest: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    everywhere: Mapped[bool]
    published_by: Mapped[str]


class ArtifactBlock(TenantOwned, Base):
    """Block of published files of one tenant, named by its SHA-256. Tenants never share a block."""

    __tablename__ = "artifact_blocks"
    limited_callers_change = True

    tenant_id: Mapped[UUID] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    size: Mapped[int]
    stored_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.id"], ondelete="CASCADE"),
        CheckConstraint("octet_length(digest) = 32", name="digest"),
        CheckConstraint("size BETWEEN 1 AND 1048576", name="size"),
    )


class ArtifactCopy(TenantOwned, Base):
    """Copy of an artifact on a VM, as its agent reports it. `sources`: bytes by VM key, and by `backend`.

    `corrupt`: blocks that did not match their hash, by VM key.
    """

    __tablename__ = "artifact_copies"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "artifact_id"], ["artifacts.tenant_id", "artifacts.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "vm_id"),
        CheckConstraint("state IN ('waiting', 'fetching', 'complete', 'refused')", name="state"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    state: Mapped[CopyState] = mapped_column(TEXT, server_default=text("'waiting'"))
    note: Mapped[str] = mapped_column(server_default=text("''"))
    blocks_held: Mapped[int] = mapped_column(server_default=text("0"))
    sources: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    corrupt: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    requested_at: Mapped[datetime] = mapped_column(server_default=text("now()"))
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]

    vm: Mapped[Vm] = relationship(viewonly=True, lazy="joined", innerjoin=True)


class ArtifactPeer(TenantOwned, Base):
    """Agent that serves blocks: its TCP port and when it was last seen."""

    __tablename__ = "artifact_peers"
    __table_args__ = (ForeignKeyConstraint(["tenant_id", "vm_id"], ["vms.tenant_id", "vms.id"], ondelete="CASCADE"),)

    vm_id: Mapped[UUID] = mapped_column(primary_key=True)
    agent_id: Mapped[UUID]
    port: Mapped[int]
    seen_at: Mapped[datetime]
