"""Silences: times, matching incidents, the reason kept with an incident."""

from datetime import UTC, datetime

import pytest

from sinemora.alerts.silences.schedule import in_force
from tests.alerts.conftest import Watched, egress


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
    body = {
        "comment": "switch replaced tonight",
        "matchers": [{"label": "vm", "value": "c-*"}],
        "ends_at": "2099-01-01T00:00:00Z",
    }
    watched.slow = egress(watched, 2)
    watched.window()
    watched.window()
    preview = owner.post("/v1/silence-previews", json=body).json()
    assert len(preview["incidents"]) == 1
    silence = owner.created("/v1/silences", body)
    assert silence["active"] is True
    watched.window()
    assert watched.incidents()[0]["silenced_by"] == "silence: switch replaced tonight"
    assert owner.delete(f"/v1/silences/{silence['id']}").status_code == 204
    watched.window()
    assert watched.incidents()[0]["silenced_by"] is None
    assert owner.get(f"/v1/silences/{silence['id']}").json()["active"] is False
