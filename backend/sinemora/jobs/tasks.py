"""Sweep that sends abandoned jobs again and deletes old ones."""

from datetime import UTC, datetime, timedelta

import structlog
from kombu.exceptions import OperationalError

from sinemora.jobs import queries
from sinemora.jobs.dispatch import TASKS
from sinemora.jobs.executor import SILENT_S
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session

log = structlog.get_logger(__name__)

_WAITING_S = 15.0


@celery.task(name="jobs.sweep")
def sweep() -> None:
    """Send jobs again that no worker holds; delete those older than the retention."""
    now = datetime.now(UTC)
    with system_session() as session:
        for job in queries.abandoned_jobs(session, now, _WAITING_S, SILENT_S):
            try:
                TASKS[job.queue].apply_async(
                    kwargs={"tenant_id": str(job.tenant_id), "job_id": str(job.id)}, retry=False
                )
            except OperationalError as error:
                log.warning("job not sent", job=str(job.id), error=str(error))
                return
        queries.delete_finished(session, now - timedelta(days=settings().retention_jobs_days))
