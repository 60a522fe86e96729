"""Sweep of members: deletes old invitations and accounts that belong to no tenant."""

from datetime import UTC, datetime, timedelta

from sinemora.access.members import queries
from sinemora.kit.celery import celery
from sinemora.kit.db import system_session

_INVITATIONS_KEPT = timedelta(days=30)
# A person who was just created may be about to become a member.
_PEOPLE_KEPT = timedelta(hours=1)


@celery.task(name="members.sweep")
def sweep() -> None:
    """Delete invitations that ended 30 days ago, and people whom no tenant has as a member any more."""
    now = datetime.now(UTC)
    with system_session() as session:
        queries.delete_old_invitations(session, now - _INVITATIONS_KEPT)
        queries.delete_people_without_tenant(session, now - _PEOPLE_KEPT)
