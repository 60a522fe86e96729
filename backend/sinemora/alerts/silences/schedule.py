"""Times at which a silence is active. Pure: times are arguments."""

from collections.abc import Mapping
from datetime import datetime, timedelta


def in_force(starts_at: datetime, ends_at: datetime, weekly: Mapping[str, int] | None, at: datetime) -> bool:
    """Return whether a silence is active at a time. Weekly ones are in UTC and may span the end of a week."""
    if not starts_at <= at < ends_at:
        return False
    if weekly is None:
        return True
    monday = (at - timedelta(days=at.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = monday + timedelta(days=weekly["weekday"], minutes=weekly["minute"])
    lasts = timedelta(minutes=weekly["lasts_min"])
    return any(one <= at < one + lasts for one in (begins, begins - timedelta(days=7)))
