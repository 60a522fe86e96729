from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from sinemora.alerts.silences.schedule import in_force
from sinemora.alerts.silences.schemas import Weekly
from tests.alerts.conftest import Watched, egress, silence_of


@pytest.mark.parametrize(
    ("at", "holds"),
    [
        ("2026-11-21T23:30", True),  # a Saturday
        ("2026-11-22T00:30", True),
        ("2026-11-22T01:30", False),
        ("2026-11-23T00:30", False),
    ],
)
def test_a_weekly_silence_recurs(at: str, holds: bool):
    weekly = {"weekday": 5, "minute": 23 * 60, "lasts_min": 120}
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    assert in_force(start, end, weekly, datetime.fromisoformat(at).replace(tzinfo=UTC)) is holds


def test_a_silence_applies_and_is_named_by_the_incident(watched: Watched):
    owner = watched.owner
    body = silence_of("vm", "c-*", "switch replaced tonight")
    watched.windows(2, egress(watched, 2))
    assert len(owner.post("/v1/silence-previews", json=body).json()["incidents"]) == 1
    silence = owner.created("/v1/silences", body)
    assert silence["active"] is True
    watched.window()
    assert watched.incidents()[0]["silenced_by"] == "silence: switch replaced tonight"
    assert owner.delete(f"/v1/silences/{silence['id']}").status_code == 204
    watched.window()
    assert watched.incidents()[0]["silenced_by"] is None
    assert owner.get(f"/v1/silences/{silence['id']}").json()["active"] is False


@pytest.mark.parametrize(
    ("local", "lasts_min", "begins", "ends"),
    [
        ("2026-10-18 02:00", 120, "2026-10-18T00:00", "2026-10-18T02:00"),  # summer
        ("2026-11-01 02:00", 120, "2026-11-01T01:00", "2026-11-01T03:00"),  # winter
        ("2026-10-25 02:00", 120, "2026-10-25T00:00", "2026-10-25T03:00"),  # 02:00 to 03:00 occurs twice
        ("2026-10-25 01:30", 60, "2026-10-24T23:30", "2026-10-25T01:30"),  # until the second 02:30
        ("2026-03-29 02:30", 90, "2026-03-29T01:30", "2026-03-29T02:00"),  # 02:30 is skipped: from 03:30
    ],
)
def test_a_weekly_silence_keeps_the_local_hour_over_a_change_of_clocks(local, lasts_min, begins, ends):
    at = datetime.fromisoformat(local)
    weekly = {"weekday": at.weekday(), "minute": 60 * at.hour + at.minute, "lasts_min": lasts_min}
    weekly |= {"time_zone": "Europe/Berlin"}
    first, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (begins, ends))
    year = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    second = timedelta(seconds=1)
    expected = [(first - second, False), (first, True), (end - second, True), (end, False)]
    assert [(moment, in_force(*year, weekly, moment)) for moment, _ in expected] == expected


@pytest.mark.parametrize("name", ["Berlin", "Europe", "../etc", "", "CEST+1"])
def test_an_unknown_time_zone_is_refused(name: str):
    with pytest.raises(ValidationError, match="IANA"):
        Weekly(weekday=0, minute=0, lasts_min=1, time_zone=name)
    assert Weekly(weekday=0, minute=0, lasts_min=1, time_zone="Europe/Berlin").time_zone == "Europe/Berlin"
