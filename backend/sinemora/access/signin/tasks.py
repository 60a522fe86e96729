"""Sweep of sign-in: deletes expired tokens."""

from datetime import UTC, datetime, timedelta

from sinemora.access.signin import passwords, queries
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session

FEATURES = (passwords,)  # its import registers the task that sends links


@celery.task(name="signin.sweep")
def sweep() -> None:
    """Delete one-time tokens that expired an hour ago; until then they count towards the links of an hour."""
    with system_session() as session:
        queries.delete_expired_tokens(session, datetime.now(UTC) - timedelta(hours=1))
