"""Job of a bucket export: writes the days that the bucket lacks, and records how the run ended."""

import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.fleet.meshes.models import Mesh
from sinemora.jobs import queries as job_queries
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.heartbeat import JobCancelled, JobLost
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.db import locked
from sinemora.kit.errors import ProductError
from sinemora.kit.tenant_bucket import BucketError
from sinemora.measurements.bucket_exports import days, layout, queries, schedule, service, writing
from sinemora.measurements.bucket_exports.days import DueDay, TableOfMesh
from sinemora.measurements.bucket_exports.models import BucketExport, Schedule

log = structlog.get_logger(__name__)

# A job ends before the time limit of its task; the next one continues.
_LIMIT_S = 1800.0


def submit(session: Session, actor: Actor | None, row: BucketExport) -> Job:
    """Submit a run of an export, or return the one that is open. ProductError `jobs_too_many`."""
    locked(session, BucketExport, row.id)
    session.refresh(row.progress)
    job_id = row.progress.job_id
    if job_id is not None and job_queries.open_of(session, [job_id]):
        return jobs.get_job(session, job_id)
    job = jobs.submit(session, actor, EXPORT, f"Export to bucket {row.name}", {"bucket_export_id": str(row.id)})
    row.progress.job_id = job.id
    row.progress.next_at = schedule.next_run(Schedule(row.schedule), row.hour, datetime.now(UTC))
    session.flush()
    return job


def run(running: JobContext) -> dict[str, Any]:
    """Run an export as a job."""
    export_id = UUID(running.params["bucket_export_id"])
    with running.session() as session:
        export = service.get_export(session, export_id)
        session.expunge_all()
    try:
        result = _export(running, export)
    except (JobCancelled, JobLost):
        raise
    except BucketError as error:
        _failed(running, export, str(error), retry=error.retry)
        raise ProductError("bucket_failed", 409, str(error)) from None
    except ProductError as error:
        if error.code == "bucket_export_changed":
            _start_again(running, export)
            raise
        _failed(running, export, error.detail, retry=error.status >= 500)
        raise
    except Exception:
        _failed(running, export, f"Internal error: the log contains job {running.job_id}.", retry=True)
        raise
    _succeeded(running, export, is_done=result["days_left"] == 0)
    return result


def _export(running: JobContext, export: BucketExport) -> dict[str, Any]:
    until = time.monotonic() + _LIMIT_S
    bucket = service.bucket_of(export)
    running.progress(0, "looking for days")
    found = _due(running, export)
    totals = {"days": 0, "rows": 0, "bytes": 0}
    for number, due in enumerate(found):
        if time.monotonic() > until:
            break
        running.progress(number / len(found), f"{due.of.mesh.name}, {due.of.name}, {due.day}")
        rows, size = writing.write_day(running.session, export, bucket, due, running.check)
        totals["days"] += rows > 0
        totals["rows"] += rows
        totals["bytes"] += size
    else:
        # Also without a day: a bucket that has become wrong is noticed before the next day is due.
        bucket.put(layout.under(export.prefix, layout.LAST_RUN), layout.last_run(datetime.now(UTC), totals))
        return {**totals, "days_left": 0}
    return {**totals, "days_left": len(found) - number}


def _due(running: JobContext, export: BucketExport) -> list[DueDay]:
    """Return all days to be written, oldest first."""
    now = datetime.now(UTC)
    found: list[DueDay] = []
    with running.session() as session:
        meshes = session.scalars(select(Mesh).order_by(Mesh.key)).all()
        for mesh in meshes:
            for name in export.tables:
                running.check()
                found += days.due(session, export, TableOfMesh(mesh, name), now)
        session.expunge_all()
    return sorted(found, key=lambda due: due.day)


def _succeeded(running: JobContext, export: BucketExport, *, is_done: bool) -> None:
    now = datetime.now(UTC)
    with running.session() as session:
        row = locked(session, BucketExport, export.id)
        if row is None:
            return
        if row.progress.failures:
            audit.record(session, None, "bucket_export.recovered", row.id, row.name, failures=row.progress.failures)
        values = {} if is_done else {"next_at": now}
        queries.set_progress(session, row.id, succeeded_at=now, failures=0, error=None, **values)


def _start_again(running: JobContext, export: BucketExport) -> None:
    with running.session() as session:
        queries.set_progress(session, export.id, next_at=datetime.now(UTC))


def _failed(running: JobContext, export: BucketExport, reason: str, *, retry: bool) -> None:
    """Record a failed run and the time of the next attempt. The first failure in a row is an event of the audit log."""
    now = datetime.now(UTC)
    with running.session() as session:
        row = locked(session, BucketExport, export.id)
        if row is None:
            return
        failures = row.progress.failures + 1
        if failures == 1:
            audit.record(session, None, "bucket_export.failed", row.id, row.name, error=reason)
        next_at = schedule.next_attempt(Schedule(row.schedule), row.hour, now, failures, retry=retry)
        queries.set_progress(session, row.id, failed_at=now, failures=failures, error=reason, next_at=next_at)
    log.warning("bucket export failed", bucket_export=str(export.id), failures=failures, error=reason)


EXPORT = register(JobKind("bucket_export.run", Queue.bulk, run))
