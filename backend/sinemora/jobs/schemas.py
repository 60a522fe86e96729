"""Shapes of jobs on the wire."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sinemora.jobs.models import JobState, Queue
from sinemora.kit.schemas import Read


class JobError(Read):
    """Why a job failed: a stable code as in problem details, a sentence, and what else is known of it."""

    code: str
    detail: str
    extra: dict[str, Any]


class JobOutput(Read):
    """The file a job made; fetch it from `href`."""

    href: str
    name: str
    media_type: str
    size_bytes: int


class JobRead(Read):
    """A piece of long work. `progress` is 0 … 1, null while nobody can tell; `note` says what is being done."""

    id: UUID
    kind: str
    title: str
    queue: Queue
    state: JobState
    progress: float | None
    note: str
    attempt: int
    cancel_requested: bool
    requested_by: str
    params: dict[str, Any]
    result: dict[str, Any] | None
    error: JobError | None
    output: JobOutput | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    kept_until: datetime | None
