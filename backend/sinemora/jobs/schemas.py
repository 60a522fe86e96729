"""JSON schemas of jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sinemora.jobs.models import JobState, Queue
from sinemora.kit.schemas import Read


class JobError(Read):
    """Error of a failed job: a stable code as in problem details, a sentence, and further details."""

    code: str
    status: int = 500
    detail: str
    extra: dict[str, Any]


class JobOutput(Read):
    """Output file of a job; download it from `href`."""

    href: str
    name: str
    media_type: str
    size_bytes: int


class JobRead(Read):
    """Job. `progress` is 0 … 1, null while unknown; `note` names the current step."""

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
