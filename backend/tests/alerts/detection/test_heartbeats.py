"""A heartbeat is sent while alerts are in time, and stops when they are not: silence can be noticed from outside."""

import time
from typing import Any

import pytest

from sinemora.alerts.detection import heartbeats, tasks
from tests.alerts.conftest import Watched
from tests.alerts.notifications.servers import Hooks, receiver, tried
from tests.api_clients import Member, SetTo, code_of
from tests.http_server import drips
from tests.statements import execute

pytestmark = pytest.mark.whole_store


def shown(owner: Member, one: dict[str, Any]) -> dict[str, Any]:
    return owner.get(f"/v1/receivers/{one['id']}").json()


def test_it_stops_while_rules_are_evaluated_late_and_for_that_tenant_alone(
    local: None, watched: Watched, other_owner: Member, hooks: Hooks
) -> None:
    mine, other = receiver(watched.owner, "heartbeat", hooks), receiver(other_owner, "heartbeat", hooks)
    watched.window()
    heartbeats.send_heartbeats()
    assert [path for path, _, _ in hooks.got] == ["/ping/secret"] * 2
    first = shown(watched.owner, mine)
    assert (first["heartbeat_answer"], first["version"]) == ("HTTP status 200", mine["version"])
    assert first["settings"] == {}  # the URL is a secret
    watched.make_late()
    heartbeats.send_heartbeats()
    assert shown(watched.owner, mine)["heartbeat_at"] == first["heartbeat_at"]
    assert shown(other_owner, other)["heartbeat_at"] > first["heartbeat_at"]
    tasks.evaluate()
    heartbeats.send_heartbeats()
    assert shown(watched.owner, mine)["heartbeat_at"] > first["heartbeat_at"]


def test_it_stops_while_notifications_wait(local: None, owner: Member, hooks: Hooks) -> None:
    receiver(owner, "heartbeat", hooks)
    target = receiver(owner, "webhook", hooks)
    owner.created(f"/v1/receivers/{target['id']}/tests", {})
    execute("UPDATE deliveries SET due_at = now() - interval '2 minutes'")
    heartbeats.send_heartbeats()
    assert hooks.got == []
    tasks.deliver_due()
    heartbeats.send_heartbeats()
    assert [path for path, _, _ in hooks.got] == ["/hook?a=1", "/ping/secret"]


def test_a_failing_or_dripping_service_costs_its_own_calls(
    local: None, owner: Member, other_owner: Member, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, good = receiver(owner, "heartbeat", hooks), receiver(other_owner, "heartbeat", hooks)
    monkeypatch.setattr(heartbeats, "_THREADS", 1)  # one after the other
    hooks.script = [drips, 503]
    began = time.monotonic()
    heartbeats.send_heartbeats()
    assert time.monotonic() - began < 40
    words = {shown(owner, slow)["heartbeat_answer"], shown(other_owner, good)["heartbeat_answer"]}
    assert "HTTP status 503" in words
    assert len(words) == 2
    heartbeats.send_heartbeats()
    assert shown(owner, slow)["heartbeat_answer"] == shown(other_owner, good)["heartbeat_answer"] == "HTTP status 200"


def test_it_reaches_only_allowed_networks(local: None, owner: Member, hooks: Hooks, set_to: SetTo) -> None:
    one = receiver(owner, "heartbeat", hooks)
    set_to(receiver_networks="")
    heartbeats.send_heartbeats()
    assert hooks.got == []
    assert "127.0.0.1" in shown(owner, one)["heartbeat_answer"]


def test_it_gets_no_incidents_and_a_tenant_has_few(local: None, owner: Member, hooks: Hooks) -> None:
    one = receiver(owner, "heartbeat", hooks)
    root = {"receivers": [one["name"]]}
    assert code_of(owner.put("/v1/alert-routes", json={"root": root})) == (422, "receiver_invalid")
    tried(owner, one)
    assert b'"about": "test"' in hooks.got[0][2]
    for name in ("second", "third"):
        receiver(owner, "heartbeat", hooks, name)
    fourth = {"name": "fourth", "kind": "heartbeat", "secret": {"url": f"{hooks.url}/ping"}}
    assert code_of(owner.post("/v1/receivers", json=fourth)) == (409, "too_many_objects")
