"""Sweep of the inventory."""

from datetime import UTC, datetime, timedelta

from sinemora.fleet.inventory import queries
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session

_EVENTS_KEPT = timedelta(days=30)


@celery.task(name="inventory.sweep")
def sweep() -> None:
    """Delete old events of agents."""
    with system_session() as session:
        queries.delete_events_before(session, datetime.now(UTC) - _EVENTS_KEPT)
