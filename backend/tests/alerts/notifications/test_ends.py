"""Receivers that were told of a beginning are told of the end, whatever happened in between."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import update

from lab.benchmarks.alerting.ends import Ends, virtual_time
from sinemora.access.tenants.models import Tenant
from sinemora.alerts.detection import tasks
from sinemora.alerts.incidents import queries
from sinemora.alerts.models import Delivery
from sinemora.operations.archives import deletion
from tests.alerts.conftest import Watched, egress, silence_of
from tests.alerts.notifications.servers import Hooks, routed
from tests.api_clients import Member, body_of, code_of
from tests.seeds import examples
from tests.statements import execute

pytestmark = pytest.mark.whole_store


def test_at_rest_the_last_message_of_each_receiver_is_the_state_of_each_incident(owner: Member):
    machine: Any = type("Machine", (Ends,), {"tenant_id": owner.tenant_id})
    quick = settings(
        max_examples=examples(100),
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    with virtual_time(machine):
        run_state_machine_as_test(machine, settings=quick)


@pytest.fixture
def told(local: None, watched: Watched, hooks: Hooks) -> Watched:
    """A mesh with an incident of which a webhook and PagerDuty were told."""
    routed(watched.owner, hooks, "webhook", "pagerduty", hold_s=0)
    watched.windows(2, egress(watched, 2))
    assert heard(hooks) == {"/hook": ["opened"], "/v2/enqueue": ["trigger"]}
    return watched


def heard(hooks: Hooks, *, later: bool = False) -> dict[str, list[str]]:
    """Send what is due, or what waits; return what each receiver has accepted so far."""
    if later:
        execute(update(Delivery).values(due_at=datetime.now(UTC)))
    tasks.deliver_due()
    said: dict[str, list[str]] = {}
    for path, _, raw in hooks.got:
        body = json.loads(raw)
        said.setdefault(path.partition("?")[0], []).append(body.get("about") or body["event_action"])
    return said


BOTH_ENDED = {"/hook": ["opened", "resolved"], "/v2/enqueue": ["trigger", "resolve"]}


def resolve(watched: Watched) -> None:
    body_of(watched.owner.post(f"/v1/incidents/{watched.incident()['id']}/resolve", json={}))


def silence(watched: Watched) -> None:
    watched.owner.created("/v1/silences", silence_of("severity", "*"))
    watched.windows(1)


def reroute(watched: Watched) -> None:
    body_of(watched.owner.put("/v1/alert-routes", json={"root": {"receivers": []}}, headers={"If-Match": "*"}))


def rename_receivers(watched: Watched) -> None:
    for one in watched.owner.get("/v1/receivers").json()["items"]:
        path = f"/v1/receivers/{one['id']}"
        assert watched.owner.patch(path, json={"name": f"new {one['name']}"}, headers={"If-Match": "*"}).is_success


@pytest.mark.parametrize("change", [silence, reroute, rename_receivers])
@pytest.mark.parametrize("by_person", [True, False])
def test_whoever_was_told_of_the_beginning_is_told_of_the_end(
    told: Watched, hooks: Hooks, change: Callable[[Watched], None], by_person: bool
):
    change(told)
    if by_person:
        resolve(told)
    else:
        told.calm()
    assert heard(hooks, later=not by_person) == BOTH_ENDED


def test_a_beginning_that_was_refused_is_not_sent_after_the_end(local: None, watched: Watched, hooks: Hooks):
    routed(watched.owner, hooks, "pagerduty")
    hooks.script = [500]
    watched.windows(2, egress(watched, 2))
    assert heard(hooks) == {"/v2/enqueue": ["trigger"]}
    resolve(watched)
    assert heard(hooks, later=True) == {"/v2/enqueue": ["trigger", "resolve"]}
    assert heard(hooks, later=True) == {"/v2/enqueue": ["trigger", "resolve"]}
    opened = watched.owner.get("/v1/deliveries").json()["items"][-1]
    assert (opened["about"], opened["state"]) == ("opened", "failed")
    assert opened["answer"] == "Not sent again: the incident has ended. Before: HTTP status 500"
    assert code_of(watched.owner.post(f"/v1/deliveries/{opened['id']}/redeliver")) == (409, "delivery_outdated")


def delete_vm(watched: Watched) -> None:
    (vm,) = [one for one in watched.owner.get("/v1/vms").json()["items"] if one["name"] == "c-1"]
    assert watched.owner.delete(f"/v1/vms/{vm['id']}", headers={"If-Match": "*"}).status_code == 204


def delete_rules(watched: Watched) -> None:
    for one in watched.rules():
        assert watched.owner.delete(f"/v1/alert-rules/{one['id']}", headers={"If-Match": "*"}).status_code == 204


@pytest.mark.parametrize(
    ("remove", "reason"), [(delete_vm, "VM c-1 was deleted."), (delete_rules, "Its alert rules were deleted.")]
)
def test_an_incident_about_what_no_longer_exists_ends(
    told: Watched, hooks: Hooks, monkeypatch: pytest.MonkeyPatch, remove: Callable[[Watched], None], reason: str
):
    remove(told)
    with monkeypatch.context() as busy:
        busy.setattr(tasks, "_END_GONE_S", 0.0)
        tasks.end_gone()
    assert told.incidents()[0]["state"] == "open"
    tasks.end_gone()  # the next sweep
    incident = told.incident()
    assert (incident["state"], incident["ended_at"]) == ("resolved", incident["seen_at"])
    assert (incident["timeline"][-1]["kind"], incident["timeline"][-1]["text"]) == ("ended", reason)
    assert heard(hooks) == BOTH_ENDED


def test_the_end_of_an_incident_outlives_its_mesh(told: Watched, hooks: Hooks, monkeypatch: pytest.MonkeyPatch):
    (incident,) = told.incidents()
    path = f"/v1/meshes/{told.world.id}"
    slices: list[int] = []
    delete_some = queries.delete_some

    def counted(*arguments: Any) -> int:
        slices.append(delete_some(*arguments))
        return slices[-1]

    monkeypatch.setattr(queries, "delete_some", counted)
    assert told.owner.delete(path, headers={"If-Match": "*"}).status_code == 204
    assert slices == [1, 0]
    assert heard(hooks) == BOTH_ENDED
    page, hook = (json.loads(raw) for _, _, raw in sorted(hooks.got[-2:], key=lambda one: "hook" in one[0]))
    assert page["dedup_key"] == f"sinemora-{incident['id']}"
    assert (hook["incident_id"], hook["title"]) == (incident["id"], incident["title"])
    ends = [one for one in told.owner.get("/v1/deliveries").json()["items"] if one["about"] == "resolved"]
    assert {(one["incident_id"], one["title"], one["state"]) for one in ends} == {(None, incident["title"], "sent")}


def test_receivers_are_told_before_their_tenant_is_deleted(told: Watched, hooks: Hooks, monkeypatch: Any):
    now = datetime.now(UTC)
    monkeypatch.setattr(deletion.archives, "delete", lambda *_, **__: [])  # other tests use the tenant's tables
    execute(update(Tenant).where(Tenant.id == told.owner.tenant_id).values(deletion_at=now))
    deletion.delete_due()
    assert heard(hooks) == BOTH_ENDED


def test_a_person_who_reopens_an_incident_is_told_to_those_who_were_told_of_its_end(told: Watched, hooks: Hooks):
    resolve(told)
    assert heard(hooks) == BOTH_ENDED
    (incident,) = told.incidents()
    assert told.owner.post(f"/v1/incidents/{incident['id']}/reopen", json={}).status_code == 200
    assert heard(hooks) == {
        "/hook": ["opened", "resolved", "returned"],
        "/v2/enqueue": ["trigger", "resolve", "trigger"],
    }


def test_a_notice_that_was_sent_again_by_hand_still_counts_as_told(told: Watched, hooks: Hooks):
    for one in told.owner.get("/v1/deliveries").json()["items"]:
        assert told.owner.post(f"/v1/deliveries/{one['id']}/redeliver").status_code == 202
    resolve(told)
    assert heard(hooks) == BOTH_ENDED
