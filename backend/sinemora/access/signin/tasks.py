"""Sweep of sign-in: deletes expired tokens, and looks again for the records of domains."""

from datetime import UTC, datetime, timedelta

from sinemora.access.signin import domains, passwords, queries
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session

FEATURES = (passwords,)  # its import registers the task that sends links


@celery.task(name="signin.sweep")
def sweep() -> None:
    """Delete one-time tokens that expired an hour ago, which count towards the links of an hour; verify domains."""
    now = datetime.now(UTC)
    with system_session() as session:
        queries.delete_expired_tokens(session, now - timedelta(hours=1))
    domains.check_due(now)
