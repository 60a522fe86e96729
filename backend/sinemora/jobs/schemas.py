"""JSON schemas of jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ConfigDict

from sinemora.jobs.models import JobState, Queue
from sinemora.kit.schemas import Read


class JobProblem(Read):
    """Failure of a job as problem details (RFC 9457), with further members for programs."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str


class JobOutput(Read):
    """Output file of a job; download it from `href`."""

    href: str
    name: str
    media_type: str
    size_bytes: int


class JobRead(Read):
    """Job."""

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
    result_href: str | None
    problem: JobProblem | None
    output: JobOutput | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    kept_until: datetime | None
