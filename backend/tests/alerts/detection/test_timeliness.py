"""Late alerts are reported in /readyz, in the metrics and to the console of the tenant concerned, and to no other."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from sinemora.alerts.detection import tasks
from sinemora.kit import checks
from sinemora.kit.observability import telemetry
from tests.alerts.conftest import Watched
from tests.api_clients import Caller, Member
from tests.kit.observability.test_metrics import scraped, value
from tests.measurements.reports import window_start
from tests.statements import execute

pytestmark = pytest.mark.whole_store


@pytest.fixture(autouse=True)
def never_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(checks, "_KEPT_S", 0.0)
    monkeypatch.setattr(checks, "_PATIENCE_S", 60.0)
    monkeypatch.setattr(telemetry, "_CACHED_S", 0.0)
    yield
    for check in checks.CHECKS.values():
        check._ended_s = float("-inf")


def detail(client: Caller, name: str) -> str:
    ready = client.get("/readyz").json()
    found: dict[str, Any] = ready["dependencies"][name]
    assert (ready["status"] == "degraded") == (found["state"] == "down")
    return str(found["detail"])


def test_a_mesh_that_is_not_evaluated_is_reported_until_it_is(watched: Watched, client: Caller, other_owner: Member):
    watched.window()
    assert watched.owner.get("/v1/about").json()["alerts"]["evaluates"] is True
    watched.make_late()
    assert "not detected" in detail(client, "evaluation")
    assert (value(scraped(client), "sinemora_alert_evaluation_lag_seconds") or 0) > 60
    alerts = watched.owner.get("/v1/about").json()["alerts"]
    assert (alerts["evaluates"], alerts["notifies"]) == (False, True)
    ago_s = (datetime.now(UTC) - datetime.fromisoformat(alerts["evaluated_at"])).total_seconds()
    assert 780 <= ago_s < 1000
    assert other_owner.get("/v1/about").json()["alerts"] == {
        "evaluates": True,
        "evaluated_at": None,
        "notifies": True,
        "waiting_since": None,
    }
    tasks.evaluate()
    assert detail(client, "evaluation") == "works"
    assert watched.owner.get("/v1/about").json()["alerts"]["evaluates"] is True


def test_a_mesh_that_was_never_evaluated_is_late_since_its_first_window(watched: Watched, client: Caller):
    watched.started_at_s = window_start(8)
    watched.report(8)  # the newest one ends now
    execute("UPDATE probe_frames SET received_at = started_at + interval '11 s'")
    assert "not detected" in detail(client, "evaluation")
    tasks.evaluate()
    assert detail(client, "evaluation") == "works"


def test_a_notification_that_waits_is_reported_and_one_that_is_tried_again_later_is_not(owner: Member, client: Caller):
    url = "http://127.0.0.1:9/"
    receiver = owner.created("/v1/receivers", {"name": "w", "kind": "webhook", "settings": {"url": url}})
    waiting = (
        "INSERT INTO deliveries (tenant_id, id, receiver_id, about, state, attempts, due_at) SELECT tenant_id,"
        " gen_random_uuid(), id, 'test', 'waiting', 3, now() + make_interval(secs => :in_s)"
        " FROM receivers WHERE id = :id"
    )
    execute(waiting, {"id": receiver["id"], "in_s": 3600})
    assert detail(client, "notifications") == "works"
    assert value(scraped(client), "sinemora_delivery_oldest_age_seconds") == 0
    execute(waiting, {"id": receiver["id"], "in_s": -100})
    assert "not notified" in detail(client, "notifications")
    assert 100 <= (value(scraped(client), "sinemora_delivery_oldest_age_seconds") or 0) < 1000
    alerts = owner.get("/v1/about").json()["alerts"]
    assert (alerts["evaluates"], alerts["notifies"]) == (True, False)
    assert alerts["waiting_since"] is not None
