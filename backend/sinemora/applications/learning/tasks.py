"""Periodic tasks of learning: read values and evaluate sources."""

import time
from datetime import UTC, datetime, timedelta

import structlog

from sinemora.applications.learning import queries, service
from sinemora.kit.celery import FAST, ROUTES, celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError

log = structlog.get_logger(__name__)

_READ_EVERY = timedelta(seconds=55)
# Less than a minute: slow servers of a tenant never hold more than one thread of the worker.
_READ_LIMIT_S = 45.0
_JUDGE_EVERY = timedelta(minutes=10)


@celery.task(name="learning.read")
def read() -> None:
    """Read new values of every Prometheus source, oldest first; the next run continues where the time ended."""
    ends_at = time.monotonic() + _READ_LIMIT_S
    with system_session() as session:
        due = queries.to_read(session, datetime.now(UTC) - _READ_EVERY)
    for tenant_id, source_id in due:
        if time.monotonic() > ends_at:
            return
        try:
            with tenant_session(tenant_id) as session:
                service.scrape(session, source_id, datetime.now(UTC))
        except (ProductError, LookupError) as error:  # deleted meanwhile
            log.info("metric source not read", metric_source=str(source_id), reason=str(error))


@celery.task(name="learning.judge")
def judge() -> None:
    """Evaluate every source and delete values that are too old to be paired."""
    now = datetime.now(UTC)
    with system_session() as session:
        due = queries.to_judge(session, now - _JUDGE_EVERY)
        queries.forget_points(session, now - service.HISTORY)
    for tenant_id, source_id in due:
        try:
            with tenant_session(tenant_id) as session:
                service.judge(session, source_id, now)
        except ProductError as error:
            log.warning("learning failed", metric_source=str(source_id), code=error.code, detail=error.detail)


ROUTES[read.name] = {"queue": FAST}
