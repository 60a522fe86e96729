"""Times of runs and of attempts after failures."""

from datetime import UTC, datetime

import pytest

from sinemora.measurements.bucket_exports.models import Schedule
from sinemora.measurements.bucket_exports.schedule import next_attempt, next_run


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "hour", "now", "expected"),
    [
        (Schedule.hourly, 0, "27 08:05", "27 08:10"),
        (Schedule.hourly, 0, "27 08:10", "27 09:10"),
        (Schedule.hourly, 0, "30 23:30", "30 23:30"),
        (Schedule.daily, 1, "27 00:59", "27 01:10"),
        (Schedule.daily, 1, "27 01:10", "28 01:10"),
        (Schedule.daily, 23, "27 08:00", "27 23:10"),
    ],
)
def test_runs_follow_the_schedule(schedule: Schedule, hour: int, now: str, expected: str):
    found = next_run(schedule, hour, at(now))
    if expected == now:  # over the end of the month
        assert found == datetime(2026, 12, 1, 0, 10, tzinfo=UTC)
    else:
        assert found == at(expected)


@pytest.mark.parametrize(
    ("failures", "expected"), [(1, "27 02:01"), (2, "27 02:05"), (3, "27 02:15"), (4, "27 03:00"), (9, "27 03:00")]
)
def test_attempts_come_later_and_later(failures: int, expected: str):
    assert next_attempt(Schedule.daily, 1, at("27 02:00"), failures, retry=True) == at(expected)


def test_an_attempt_is_no_later_than_the_next_run():
    assert next_attempt(Schedule.hourly, 0, at("27 02:05"), 4, retry=True) == at("27 02:10")


def test_what_needs_a_change_waits_for_the_next_run():
    assert next_attempt(Schedule.daily, 1, at("27 02:00"), 1, retry=False) == at("28 01:10")
