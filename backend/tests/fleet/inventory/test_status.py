from datetime import UTC, datetime, timedelta

import pytest

from sinemora.fleet.inventory.status import AgentStatus, status_of

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("revoked", "silent_for_s", "every_s", "status"),
    [
        (False, None, 10, "enrolled"),
        (True, None, 10, "revoked"),
        (True, 1, 10, "revoked"),
        (False, 0, 10, "reporting"),
        (False, 40, 10, "reporting"),
        (False, 41, 10, "silent"),
        (False, 41, 60, "reporting"),
        (False, 191, 60, "silent"),
        (False, -5, 10, "reporting"),  # a clock a little ahead of ours
    ],
)
def test_status(revoked: bool, silent_for_s: int | None, every_s: int, status: str):
    last = None if silent_for_s is None else NOW - timedelta(seconds=silent_for_s)
    assert status_of(NOW if revoked else None, last, every_s, NOW, stale_windows=3) is AgentStatus(status)


@pytest.mark.parametrize(
    ("stopped_for_min", "reported", "status"),
    [(0, True, "stopped"), (30, True, "stopped"), (31, True, "silent"), (5, False, "stopped"), (31, False, "enrolled")],
)
def test_a_stopped_agent_is_not_silent_for_half_an_hour(stopped_for_min: int, reported: bool, status: str):
    stopped_at = NOW - timedelta(minutes=stopped_for_min)
    last = stopped_at if reported else None
    assert status_of(None, last, 10, NOW, 3, stopped_at) is AgentStatus(status)
