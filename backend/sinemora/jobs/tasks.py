"""Periodic tasks of jobs: send abandoned jobs again, delete old ones."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import structlog
from kombu.exceptions import OperationalError
from redis import RedisError

from sinemora.jobs import queries
from sinemora.jobs.dispatch import TASKS
from sinemora.jobs.models import Job, Queue
from sinemora.kit.celery import ROUTES, WATCH, celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.redis import client

log = structlog.get_logger(__name__)

SWEEP_S = 4.0
"""Time between two sweeps, s. With `queries.SOLVE_SILENT_S` a solve whose worker died starts again within 15 s."""
_WAITING_S = 5.0


@celery.task(name="jobs.sweep")
def sweep() -> None:
    """Send jobs again that no worker holds and that have no message in the broker."""
    abandoned: dict[Queue, list[Job]] = defaultdict(list)
    with system_session() as session:
        for job in queries.abandoned_jobs(session, datetime.now(UTC), _WAITING_S):
            abandoned[job.queue].append(job)
    for queue, jobs in abandoned.items():
        try:
            # A message serves any job of its queue: jobs that wait behind a long one need no second message.
            for job in jobs[int(client().llen(queue)) :]:
                TASKS[queue].apply_async(kwargs={"tenant_id": str(job.tenant_id), "job_id": str(job.id)}, retry=False)
        except (OperationalError, RedisError) as error:
            log.warning("jobs not sent", queue=queue, error=str(error))


@celery.task(name="jobs.delete_old")
def delete_old() -> None:
    """Delete jobs that ended before the retention."""
    with system_session() as session:
        queries.delete_finished(session, datetime.now(UTC) - timedelta(days=settings().retention_jobs_days))


ROUTES[sweep.name] = {"queue": WATCH}
