"""Sweep of tenants: deletes expired sessions, idempotency keys and old mails."""

from datetime import UTC, datetime

from sinemora.access.tenants import queries
from sinemora.kit import outbox
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session
from sinemora.kit.http.idempotency import delete_old_keys


@celery.task(name="tenants.sweep")
def sweep() -> None:
    """Delete ended browser sessions, old idempotency keys and old mails."""
    now = datetime.now(UTC)
    with system_session() as session:
        queries.delete_expired_sessions(session, now)
        delete_old_keys(session, now)
        outbox.delete_old(session, now)
