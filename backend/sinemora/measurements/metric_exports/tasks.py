"""Periodic task of metric exports: push the minutes that are due."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import structlog

from sinemora.kit.celery import FAST, ROUTES, celery
from sinemora.kit.db import system_session
from sinemora.measurements.metric_exports import push, queries

log = structlog.get_logger(__name__)

EVERY_S = 20.0
# With one more request, of ten seconds at most, a claim is over before another process may take it.
_SWEEP_S = 45.0
_THREADS = 8


@celery.task(name="metric_exports.push")
def push_due() -> None:
    """Push due minutes, of one tenant after another in each thread: a slow server delays few others."""
    until_s = time.monotonic() + _SWEEP_S
    with system_session() as session:
        found = queries.due_tenants(session, datetime.now(UTC))
    with ThreadPoolExecutor(_THREADS) as pool:
        for tenant_id in found:
            pool.submit(_push, tenant_id, until_s)


ROUTES[push_due.name] = {"queue": FAST}


def _push(tenant_id: UUID, until_s: float) -> None:
    try:
        while time.monotonic() < until_s and push.push_minute(tenant_id, until_s):
            pass
    except LookupError:  # the tenant was deleted
        return
    except Exception:
        log.exception("metrics not pushed", tenant=str(tenant_id))
