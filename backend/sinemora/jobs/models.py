"""Tables of jobs, their input and their output."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TEXT

from sinemora.kit.db import Base, Identified, TenantOwned


class JobState(StrEnum):
    """State of a job; the last three are final."""

    queued = "queued"
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    cancelled = "cancelled"


class Queue(StrEnum):
    """Queue of workers: `fast` for short jobs, `bulk` for moving data, `solve` for long computations."""

    fast = "fast"
    bulk = "bulk"
    solve = "solve"


class Side(StrEnum):
    """Kind of a job's bytes: its input or its output."""

    input = "input"
    output = "output"


FINAL = (JobState.succeeded, JobState.failed, JobState.cancelled)


class Job(Identified, TenantOwned, Base):
    """Job.

    `attempt` counts the starts. A worker may write only while the number is its own: one that was considered dead and
    comes back finds another number and stops. `digest` identifies equal requests. `size` is that of its kind.
    `mesh_ids`: the meshes that its caller is limited to, null for all; its work sees no others.
    """

    __tablename__ = "jobs"
    limited_callers_change = True
    __table_args__ = (
        UniqueConstraint("tenant_id", "id"),
        Index(None, "tenant_id", "created_at", "id"),
        Index(None, "tenant_id", "digest"),
        Index("ix_jobs_open", "state", postgresql_where=text("state IN ('queued', 'running')")),
        CheckConstraint("state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="state"),
        CheckConstraint("queue IN ('fast', 'bulk', 'solve')", name="queue"),
        CheckConstraint("progress BETWEEN 0 AND 1", name="progress"),
        CheckConstraint("size > 0", name="size"),
        CheckConstraint("(state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)", name="finished"),
    )

    kind: Mapped[str]
    title: Mapped[str]
    queue: Mapped[Queue] = mapped_column(TEXT)
    state: Mapped[JobState] = mapped_column(TEXT, server_default=text("'queued'"))
    params: Mapped[dict[str, Any]]
    mesh_ids: Mapped[list[UUID] | None] = mapped_column(ARRAY(Uuid))
    size: Mapped[float] = mapped_column(server_default=text("1"))
    requested_by: Mapped[str]
    digest: Mapped[bytes | None] = mapped_column(LargeBinary)
    attempt: Mapped[int] = mapped_column(server_default=text("0"))
    progress: Mapped[float | None]
    note: Mapped[str] = mapped_column(server_default=text("''"))
    cancel_requested: Mapped[bool] = mapped_column(server_default=text("false"))
    checkpoint: Mapped[dict[str, Any] | None]
    result: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    output_media_type: Mapped[str | None]
    output_name: Mapped[str | None]
    output_bytes: Mapped[int | None] = mapped_column(BigInteger)
    heartbeat_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class JobChunk(TenantOwned, Base):
    """Chunk of the bytes of a job; chunks fit into memory."""

    __tablename__ = "job_chunks"
    limited_callers_change = True
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "job_id"], ["jobs.tenant_id", "jobs.id"], ondelete="CASCADE"),
        CheckConstraint("side IN ('input', 'output')", name="side"),
    )

    job_id: Mapped[UUID] = mapped_column(primary_key=True)
    side: Mapped[Side] = mapped_column(TEXT, primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
