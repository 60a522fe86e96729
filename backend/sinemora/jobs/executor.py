"""Executor of jobs in a worker: claims a job, runs it and records its outcome."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy import exc
from sqlalchemy.orm import Session

from sinemora.jobs import queries
from sinemora.jobs.context import JobContext
from sinemora.jobs.heartbeat import Heartbeat, JobCancelled, JobLost
from sinemora.jobs.isolation import ChildDied, run_isolated
from sinemora.jobs.metrics import JOB_SECONDS
from sinemora.jobs.models import Job, JobState, Queue
from sinemora.jobs.registry import JobFunction, JobKind, expected_s, kind_named
from sinemora.kit.celery import LIMIT_S, celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError, database_error
from sinemora.kit.jobs import enqueue

log = structlog.get_logger(__name__)


def run_next(queue: Queue) -> None:
    """Run the job of a queue whose turn it is, and record its outcome."""
    now = datetime.now(UTC)
    with system_session() as session:
        job_id = queries.next_in_order(session, queue, now, expected_s)
        job = None if job_id is None else queries.claim(session, job_id, now)
    if job is None:
        return
    _run(job)
    if queue is Queue.bulk:
        _send_next(job.tenant_id)


def _send_next(tenant_id: UUID) -> None:
    """Send the next job of a tenant that waited for the end of this one: its own message may have found no job."""
    with system_session() as session:
        if job := queries.waits(session, Queue.bulk, tenant_id):
            _send(session, job)


def run(tenant_id: UUID, job_id: UUID) -> None:
    """Run this job, unless a worker holds it, and record its outcome."""
    try:
        with tenant_session(tenant_id) as session:
            job = queries.claim(session, job_id, datetime.now(UTC))
    except LookupError:  # the tenant was deleted, and its jobs too
        return
    if job is not None:
        _run(job)


def _run(job: Job) -> None:
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
        _work(job, kind)


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """Outcome of one attempt; without `state` another worker holds the job. `again`: a new attempt may succeed."""

    state: JobState | None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    again: bool = False


def _work(job: Job, kind: JobKind) -> None:
    try:
        with Heartbeat(job) as heartbeat:
            if kind.isolated:
                kind.import_libraries()
                outcome = run_isolated(lambda reporter: _attempt(JobContext(job, reporter), kind.work), heartbeat)
            else:
                outcome = _attempt(JobContext(job, heartbeat), kind.work)
    except JobCancelled:
        outcome = JobOutcome(JobState.cancelled)
    except JobLost:
        outcome = JobOutcome(None)
    except SoftTimeLimitExceeded:
        log.warning("job interrupted", job=str(job.id), attempt=job.attempt)
        outcome = JobOutcome(JobState.failed, error=_stored(_took_too_long()))
    except ChildDied as death:
        log.warning("process of a job died", job=str(job.id), attempt=job.attempt, reason=death.reason)
        outcome = JobOutcome(JobState.failed, error=_stored(_process_died(job, death)), again=True)
    if outcome.state is None:
        log.warning("job lost", job=str(job.id), attempt=job.attempt)
    elif outcome.again and job.attempt < kind.attempts_max:
        _try_again(job)
    elif outcome.error is not None:
        _end(job, outcome.state, error=outcome.error)
    else:
        _end(job, outcome.state, result=outcome.result)


def _attempt(context: JobContext, work: JobFunction) -> JobOutcome:
    try:
        return JobOutcome(JobState.succeeded, result=work(context))
    except JobCancelled:
        return JobOutcome(JobState.cancelled)
    except JobLost:
        return JobOutcome(None)
    except SoftTimeLimitExceeded:
        raise
    except ProductError as error:
        return JobOutcome(JobState.failed, error=_stored(error))
    except exc.SQLAlchemyError as error:
        log.exception("job failed", job=str(context.job_id))
        mapped = database_error(error)
        return JobOutcome(JobState.failed, error=_stored(mapped or _internal(context.job_id)), again=_is_busy(mapped))
    except MemoryError:
        log.exception("job out of memory", job=str(context.job_id))
        return JobOutcome(
            JobState.failed,
            error=_stored(ProductError("memory_exhausted", 503, "Out of memory. Request less at once.")),
        )
    except Exception:
        log.exception("job failed", job=str(context.job_id))
        return JobOutcome(JobState.failed, error=_stored(_internal(context.job_id)))


def _is_busy(error: ProductError | None) -> bool:
    return error is not None and error.status == 503


def _internal(job_id: UUID) -> ProductError:
    return ProductError("internal_error", 500, f"Internal error: the log contains job {job_id}.")


def _took_too_long() -> ProductError:
    return ProductError(
        "job_too_long",
        500,
        f"Time limit: the job was interrupted after {LIMIT_S // 60} min without a result. Request less at once.",
    )


def _process_died(job: Job, death: ChildDied) -> ProductError:
    return ProductError(
        "job_process_died",
        500,
        f"Process killed: the process of this job ended by {death.reason} in each of {job.attempt} attempts, perhaps"
        " for lack of memory. Request less at once, or give the solver more memory.",
        reason=death.reason,
    )


def _fail(job: Job, error: ProductError) -> None:
    _end(job, JobState.failed, error=_stored(error))


def _stored(error: ProductError) -> dict[str, Any]:
    return {"code": error.code, "status": error.status, "detail": error.detail, "extra": error.extra}


def _try_again(job: Job) -> None:
    """Put a job back into its queue and send it."""
    with tenant_session(job.tenant_id) as session:
        waiting = {"state": JobState.queued, "progress": None, "note": "waiting for another attempt"}
        if queries.write(session, job.id, job.attempt, waiting):
            _send(session, job)


def _send(session: Session, job: Job) -> None:
    # By name: the tasks of the queues run this module.
    enqueue(session, celery.tasks[f"jobs.run_{job.queue}"], tenant_id=str(job.tenant_id), job_id=str(job.id))


def _end(job: Job, state: JobState, **values: Any) -> None:
    now = datetime.now(UTC)
    if job.heartbeat_at is not None:  # time of the claim
        JOB_SECONDS.labels(job.kind, state).observe(max(0.0, (now - job.heartbeat_at).total_seconds()))
    try:
        _write_end(job, state, {"finished_at": now, **values})
    except (exc.StatementError, TypeError, ValueError) as error:
        if isinstance(error, exc.StatementError) and _is_busy(database_error(error)):
            raise  # another worker tries again
        # A job whose outcome cannot be stored would otherwise be taken for one whose worker died, and run again.
        log.exception("outcome of a job cannot be stored", job=str(job.id))
        _write_end(job, JobState.failed, {"finished_at": now, "error": _stored(_internal(job.id))})


def _write_end(job: Job, state: JobState, values: dict[str, Any]) -> None:
    with tenant_session(job.tenant_id) as session:
        if state is not JobState.succeeded:
            queries.delete_output(session, job.id)
        queries.write(session, job.id, job.attempt, {"state": state, **values})
