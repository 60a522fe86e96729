"""Expiries of what tests create: relative to today, since a date in a test is one day in the past."""

from datetime import UTC, datetime, timedelta


def in_a_month() -> str:
    """Return a time in 30 days, as requests write it."""
    return (datetime.now(UTC) + timedelta(days=30)).isoformat()
