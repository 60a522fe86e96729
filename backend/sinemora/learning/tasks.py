"""Sweeps of learning: values are read, and what they tell is looked at again."""

from datetime import UTC, datetime, timedelta

import structlog

from sinemora.kit.celery import celery
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.learning import queries, service

log = structlog.get_logger(__name__)

_READ_EVERY = timedelta(seconds=55)
_JUDGE_EVERY = timedelta(minutes=10)


@celery.task(name="learning.read")
def read() -> None:
    """Read what is new of every Prometheus source; one that cannot be read does not keep the others waiting long."""
    with system_session() as session:
        due = queries.to_read(session, datetime.now(UTC) - _READ_EVERY)
    for tenant_id, source_id in due:
        with tenant_session(tenant_id) as session:
            service.scrape(session, source_id, datetime.now(UTC))


@celery.task(name="learning.judge")
def judge() -> None:
    """Look again at every source; forget values that are too old to be paired."""
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
