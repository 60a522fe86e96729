"""Dispatch of jobs to workers: one Celery task a queue, sent after the commit.

A message means that a job waits; the worker that takes it runs the one that `order` chooses. A tenant with a hundred
jobs therefore delays another by one.
"""

from sqlalchemy.orm import Session

from sinemora.jobs.executor import run_next
from sinemora.jobs.models import Job, Queue
from sinemora.kit.celery import ROUTES, celery
from sinemora.kit.jobs import enqueue


@celery.task(name="jobs.run_fast")
def run_fast(tenant_id: str, job_id: str) -> None:
    """Run the next job of the queue `fast`."""
    run_next(Queue.fast)


@celery.task(name="jobs.run_bulk")
def run_bulk(tenant_id: str, job_id: str) -> None:
    """Run the next job of the queue `bulk`."""
    run_next(Queue.bulk)


@celery.task(name="jobs.run_solve")
def run_solve(tenant_id: str, job_id: str) -> None:
    """Run the next job of the queue `solve`."""
    run_next(Queue.solve)


TASKS = {"fast": run_fast, "bulk": run_bulk, "solve": run_solve}
ROUTES.update({task.name: {"queue": queue} for queue, task in TASKS.items()})


def send(session: Session, job: Job) -> None:
    """Send the job to a worker after `session` has committed."""
    enqueue(session, TASKS[job.queue], tenant_id=str(job.tenant_id), job_id=str(job.id))
