"""Dispatch of jobs to workers: one Celery task a queue, sent after the commit."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.jobs.executor import run
from sinemora.jobs.models import Job
from sinemora.kit.celery import ROUTES, celery
from sinemora.kit.jobs import enqueue


@celery.task(name="jobs.run_fast")
def run_fast(tenant_id: str, job_id: str) -> None:
    """Run a job of the queue `fast`."""
    run(UUID(tenant_id), UUID(job_id))


@celery.task(name="jobs.run_bulk")
def run_bulk(tenant_id: str, job_id: str) -> None:
    """Run a job of the queue `bulk`."""
    run(UUID(tenant_id), UUID(job_id))


@celery.task(name="jobs.run_solve")
def run_solve(tenant_id: str, job_id: str) -> None:
    """Run a job of the queue `solve`."""
    run(UUID(tenant_id), UUID(job_id))


TASKS = {"fast": run_fast, "bulk": run_bulk, "solve": run_solve}
ROUTES.update({task.name: {"queue": queue} for queue, task in TASKS.items()})


def send(session: Session, job: Job) -> None:
    """Send the job to a worker after `session` has committed."""
    enqueue(session, TASKS[job.queue], tenant_id=str(job.tenant_id), job_id=str(job.id))
