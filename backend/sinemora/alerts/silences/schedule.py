"""Times at which a silence is active. Pure: times are arguments."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def in_force(starts_at: datetime, ends_at: datetime, weekly: Mapping[str, Any] | None, at: datetime) -> bool:
    """Return whether a silence is active at a time. Weekly ones keep the local hour and may span the end of a week.

    On the day of a clock change: a begin in the hour that is skipped is when the clocks have changed; a begin in the
    hour that is repeated is its first time, an end in it the second time.
    """
    if not starts_at <= at < ends_at:
        return False
    if weekly is None:
        return True
    zone = _zone(weekly.get("time_zone", "UTC"))
    local = at.astimezone(zone).replace(tzinfo=None)
    monday = (local - timedelta(days=local.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = monday + timedelta(days=weekly["weekday"], minutes=weekly["minute"])
    lasts = timedelta(minutes=weekly["lasts_min"])
    return any(
        _instant(one, zone, 0) <= at < _instant(one + lasts, zone, 1) for one in (begins, begins - timedelta(days=7))
    )


def _zone(name: str) -> tzinfo:
    """Return a time zone; UTC if this machine no longer knows it: evaluation must not stop for it."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return UTC


def _instant(local: datetime, zone: tzinfo, fold: int) -> datetime:
    return local.replace(tzinfo=zone, fold=fold).astimezone(UTC)
