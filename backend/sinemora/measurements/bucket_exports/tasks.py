"""Periodic task of bucket exports: start the runs that are due."""

from datetime import UTC, datetime

import structlog

from sinemora.kit.celery import celery
from sinemora.kit.db import locked, system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.measurements.bucket_exports import job, queries
from sinemora.measurements.bucket_exports.models import BucketExport

log = structlog.get_logger(__name__)


@celery.task(name="bucket_exports.start_due")
def start_due() -> None:
    """Submit a job for every export whose time has come; a run that is still open is left to end."""
    now = datetime.now(UTC)
    with system_session() as session:
        found = queries.due(session, now)
    for tenant_id, export_id in found:
        try:
            with tenant_session(tenant_id) as session:
                row = locked(session, BucketExport, export_id)
                if row is not None and row.progress.next_at <= now:
                    job.submit(session, None, row)
        except ProductError as error:  # too many jobs wait: the next run of this task tries again
            log.warning("bucket export not started", bucket_export=str(export_id), code=error.code)
