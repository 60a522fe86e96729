"""Use cases of jobs: submit, read, cancel, delete, fetch the output."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.quotas import AT_ONCE, Concurrency
from sinemora.jobs import queries
from sinemora.jobs.context import CHUNK_BYTES
from sinemora.jobs.dispatch import send
from sinemora.jobs.models import FINAL, Job, JobChunk, JobState, Side
from sinemora.jobs.registry import JobKind, kind_named
from sinemora.jobs.schemas import JobOutput, JobProblem, JobRead
from sinemora.kit import mesh_limit
from sinemora.kit.config import settings
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError, existing, problem_of

OPEN_MAX = AT_ONCE[Concurrency.OPEN_JOBS]
"""Most jobs of one tenant that may be queued or running."""
SIZE_MIN = 1e-9


def submit(
    session: Session,
    actor: Actor | None,
    kind: JobKind,
    title: str,
    params: dict[str, Any],
    *,
    input: Iterable[bytes] = (),
    digest: bytes | None = None,
    fresh_for: timedelta = timedelta(0),
) -> Job:
    """Submit a job; it is sent when `session` commits. Without `actor` the product itself submits it.

    With a `digest` of the request, an equal job submitted within `fresh_for` is returned instead of a new one.
    ProductError `jobs_too_many`.
    """
    mesh_ids = mesh_limit.listed(session.info["mesh_limit"])
    if digest is not None:
        same = queries.same_job(session, kind.name, digest, datetime.now(UTC) - fresh_for, mesh_ids)
        if same is not None:
            return same
    waiting = queries.count_open(session)
    if waiting >= OPEN_MAX:
        raise ProductError(
            "jobs_too_many",
            429,
            f"Too many jobs: {waiting} are queued or running. Wait until some end, or cancel them.",
            headers={"Retry-After": "30"},
        )
    job = Job(
        kind=kind.name,
        title=title,
        queue=kind.queue,
        params=params,
        mesh_ids=mesh_ids,
        size=max(kind.size(params), SIZE_MIN),
        requested_by=actor.name if actor else "Sinemora",
        digest=digest,
    )
    session.add(job)
    session.flush()
    for number, data in enumerate(_pieces(input)):
        chunk = JobChunk(job_id=job.id, side=Side.input, number=number, data=data)
        session.add(chunk)
        session.flush()
        session.expunge(chunk)  # one at a time in memory
    session.refresh(job)
    audit.record(session, actor, "job.requested", job.id, title, kind=kind.name)
    send(session, job)
    return job


def get_job(session: Session, job_id: UUID) -> Job:
    """Return the tenant's job. ProductError `job_unknown`."""
    return existing(session.get(Job, job_id), "job")


def cancel(session: Session, actor: Actor, job_id: UUID) -> Job:
    """Cancel a job: at once while it is queued, else at its worker's next check. A finished job stays as it is.

    ProductError `job_unknown`.
    """
    job = existing(queries.job_locked(session, job_id), "job")
    if job.state in FINAL:
        return job
    job.cancel_requested = True
    if job.state == JobState.queued:
        job.state, job.finished_at = JobState.cancelled, datetime.now(UTC)
    session.flush()
    audit.record(session, actor, "job.cancelled", job.id, job.title)
    return job


def delete_job(session: Session, actor: Actor, job_id: UUID) -> None:
    """Delete a finished job and its output. ProductError `job_unknown`, `job_running`."""
    job = existing(queries.job_locked(session, job_id), "job")
    if job.state not in FINAL:
        raise ProductError("job_running", 409, "Job not finished. Cancel it first.")
    audit.record(session, actor, "job.deleted", job.id, job.title)
    session.delete(job)


def output(session: Session, actor: Actor, job_id: UUID) -> tuple[Job, Iterator[bytes]]:
    """Return a job and the bytes of its output.

    ProductError `job_unknown`, `job_not_done`, `job_output_none`, `not_allowed` (403).
    """
    job = get_job(session, job_id)
    kind = kind_named(job.kind)
    if kind is not None and actor.role.rank < kind.output_role.rank:
        raise ProductError(
            "not_allowed", 403, f"Not allowed: this needs the role {kind.output_role}, yours is {actor.role}."
        )
    if job.state != JobState.succeeded:
        raise ProductError("job_not_done", 409, f"Job not done: it is {job.state} and has no output.")
    if job.output_name is None:
        raise ProductError("job_output_none", 409, "No output file: the outcome of this job is its `result`.")
    return job, _bytes(job.tenant_id, job.id)


def result(session: Session, job_id: UUID) -> JobRead:
    """Return a job that has succeeded.

    ProductError `job_unknown`, `job_not_done`, `job_cancelled`, and the error that a failed job ended with.
    """
    job = get_job(session, job_id)
    if job.error is not None:
        raise _error(job.error)
    if job.state == JobState.cancelled:
        raise ProductError("job_cancelled", 409, "Job cancelled: it has no result.")
    if job.state != JobState.succeeded:
        raise ProductError(
            "job_not_done", 409, f"Job not done: it is {job.state} and has no result.", headers={"Retry-After": "1"}
        )
    return read(job)


def read(job: Job) -> JobRead:
    """Convert a job to its JSON form."""
    file = None
    if job.state == JobState.succeeded and job.output_name is not None:
        file = JobOutput(
            href=f"/v1/jobs/{job.id}/output",
            name=job.output_name,
            media_type=job.output_media_type or "application/octet-stream",
            size_bytes=job.output_bytes or 0,
        )
    return JobRead.from_row(
        job,
        progress=1.0 if job.state == JobState.succeeded else job.progress,
        result_href=_result_href(job),
        problem=None if job.error is None else JobProblem(**problem_of(_error(job.error), f"/v1/jobs/{job.id}")),
        output=file,
        kept_until=None
        if job.finished_at is None
        else job.finished_at + timedelta(days=settings().retention_jobs_days),
    )


def _result_href(job: Job) -> str | None:
    if job.state != JobState.succeeded:
        return None
    kind = kind_named(job.kind)
    if kind is not None and kind.href is not None and job.result is not None:
        return kind.href.format(**job.result)
    return f"/v1/jobs/{job.id}/{'result' if job.output_name is None else 'output'}"


def _error(stored: dict[str, Any]) -> ProductError:
    """Return the error that a job ended with; earlier versions stored no status."""
    return ProductError(stored["code"], stored.get("status", 500), stored["detail"], **stored["extra"])


def _bytes(tenant_id: UUID, job_id: UUID) -> Iterator[bytes]:
    with tenant_session(tenant_id) as session:
        yield from queries.chunks(session, job_id, Side.output)


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes in chunks of at most `CHUNK_BYTES`."""
    for part in parts:
        for start in range(0, len(part), CHUNK_BYTES):
            yield part[start : start + CHUNK_BYTES]
