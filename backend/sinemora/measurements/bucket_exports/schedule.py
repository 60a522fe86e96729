"""Times of an export: its next run, and the next attempt after failures. Pure."""

from datetime import datetime, timedelta

from sinemora.measurements.bucket_exports.models import Schedule

_PAST_THE_HOUR = timedelta(minutes=10)
"""Time after the hour at which runs begin: the last steps of the hour are merged by then."""
SETTLED_AFTER = timedelta(minutes=5)
"""Time after its end at which a day counts as finished."""
_BACKOFF_S = (60, 300, 900, 3600)


def next_run(schedule: Schedule, hour: int, now: datetime) -> datetime:
    """Return the first run after `now` (UTC)."""
    if schedule is Schedule.hourly:
        first, every = now.replace(minute=0, second=0, microsecond=0), timedelta(hours=1)
    else:
        first, every = now.replace(hour=hour, minute=0, second=0, microsecond=0), timedelta(days=1)
    at = first + _PAST_THE_HOUR
    return at if at > now else at + every


def next_attempt(schedule: Schedule, hour: int, now: datetime, failures: int, *, retry: bool) -> datetime:
    """Return the time of the attempt after `failures` failed ones; without `retry` the next run of the schedule."""
    planned = next_run(schedule, hour, now)
    if not retry:
        return planned
    return min(planned, now + timedelta(seconds=_BACKOFF_S[min(failures, len(_BACKOFF_S)) - 1]))
