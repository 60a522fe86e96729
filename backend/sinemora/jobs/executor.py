"""Executor of jobs in a worker: claims a job, runs it and records its outcome."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import exc

from sinemora.jobs import queries
from sinemora.jobs.context import BEAT_S, JobCancelled, JobContext, JobLost
from sinemora.jobs.metrics import JOB_SECONDS
from sinemora.jobs.models import Job, JobState
from sinemora.jobs.registry import JobFunction, kind_named
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError, database_error, internal_error

log = structlog.get_logger(__name__)

SILENT_S = 6 * BEAT_S
"""Time without a heartbeat after which a worker counts as dead, s."""


def run(tenant_id: UUID, job_id: UUID) -> None:
    """Run a job that no other worker holds, and record its outcome."""
    try:
        with tenant_session(tenant_id) as session:
            job = queries.claim(session, job_id, datetime.now(UTC), SILENT_S)
    except LookupError:  # the tenant was deleted, and its jobs too
        return
    if job is None:
        return
    kind = kind_named(job.kind)
    if job.cancel_requested:
        _end(job, JobState.cancelled)
    elif kind is None:
        _fail(
            job,
            ProductError(
                "job_kind_unknown",
                409,
                f"Unknown job kind: {job.kind}. Another version of Sinemora submitted this job; submit it again.",
            ),
        )
    elif job.attempt > kind.attempts_max:
        _fail(
            job,
            ProductError(
                "job_worker_lost", 500, f"Worker lost: it died {kind.attempts_max} times. The job is not tried again."
            ),
        )
    else:
        _work(job, kind.work, kind.attempts_max)


def _work(job: Job, work: JobFunction, attempts_max: int) -> None:
    try:
        with JobContext(job) as context:
            result = work(context)
        _end(job, JobState.succeeded, result=result)
    except JobCancelled:
        _end(job, JobState.cancelled)
    except JobLost:
        log.warning("job lost", job=str(job.id), attempt=job.attempt)
    except ProductError as error:
        _fail(job, error)
    except exc.SQLAlchemyError as error:
        mapped = database_error(error)
        if mapped is not None and mapped.status == 503 and job.attempt < attempts_max:
            raise  # the sweep sends it again
        log.exception("job failed", job=str(job.id), kind=job.kind)
        _fail(job, mapped or internal_error())
    except Exception:
        log.exception("job failed", job=str(job.id), kind=job.kind)
        _fail(job, ProductError("internal_error", 500, f"Internal error: the log contains job {job.id}."))


def _fail(job: Job, error: ProductError) -> None:
    _end(job, JobState.failed, error={"code": error.code, "detail": error.detail, "extra": error.extra})


def _end(job: Job, state: JobState, **values: Any) -> None:
    now = datetime.now(UTC)
    if job.heartbeat_at is not None:  # time of the claim
        JOB_SECONDS.labels(job.kind, state).observe(max(0.0, (now - job.heartbeat_at).total_seconds()))
    with tenant_session(job.tenant_id) as session:
        if state is not JobState.succeeded:
            queries.delete_output(session, job.id)
        queries.write(session, job.id, job.attempt, {"state": state, "finished_at": now, **values})
