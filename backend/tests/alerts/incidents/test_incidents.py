"""From reports to incidents, through the database and the API."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from sinemora.alerts.detection import evaluator, tasks
from sinemora.alerts.detection.queries import Reported
from sinemora.jobs.executor import run
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import Tier
from tests.alerts.conftest import Watched
from tests.callers import Member

SLOW_NS = 5_000_000


def egress(watched: Watched, vm: int) -> dict[tuple[int, int], int]:
    return {(vm, other): SLOW_NS for other in range(len(watched.world.agents)) if other != vm}


def test_new_meshes_are_watched_by_default(owner: Member, make_mesh: Any):
    world = make_mesh(owner, 2)
    rules = owner.get("/v1/alert-rules", params={"mesh_id": str(world.id)}).json()["items"]
    assert {"Delay above its baseline", "Agent silent", "Loss on a path"} <= {rule["name"] for rule in rules}
    again = owner.get("/v1/alert-rules", params={"mesh_id": str(world.id)}).json()["items"]
    assert [rule["id"] for rule in again] == [rule["id"] for rule in rules]


def test_a_slow_way_out_is_one_incident_with_its_suspect_until_it_ends(watched: Watched):
    watched.window()
    assert watched.incidents() == []
    watched.slow = egress(watched, 2)
    watched.window()
    assert watched.incidents() == []  # one window is not two of three
    watched.window()
    (incident,) = watched.incidents()
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("egress", "c-1")
    assert (incident["state"], incident["severity"], incident["paths"]) == ("open", "warning", 5)
    whole = watched.owner.get(f"/v1/incidents/{incident['id']}").json()
    best = whole["evidence"]["hypotheses"][0]
    assert (best["suspect"], best["bad"], best["known"]) == ("egress", 5, 5)
    assert len(whole["evidence"]["heatmap"]["values"]) == 6
    assert whole["timeline"][0]["kind"] == "opened"
    watched.slow = {}
    for _ in range(30):
        watched.window()
    (ended,) = watched.incidents()
    assert (ended["id"], ended["state"]) == (incident["id"], "resolved")
    assert ended["seen_at"] < ended["ended_at"] or ended["seen_at"] == ended["ended_at"]


def test_state_survives_a_restart_of_the_worker(watched: Watched):
    watched.slow = egress(watched, 0)
    watched.window()
    evaluator.forget()
    watched.window()
    assert len(watched.incidents()) == 1


def test_agents_have_time_to_report_to_a_backend_that_was_away(watched: Watched):
    watched.owner.created(
        "/v1/alert-rules",
        {
            "mesh_id": str(watched.world.id),
            "name": "Silent",
            "condition": {"kind": "silent"},
            "windows_x": 1,
            "windows_y": 1,
        },
    )
    watched.window()
    back = datetime.now(UTC) + timedelta(hours=1)
    for later_s in (0, 10):
        watched.evaluate(watched.report(), back + timedelta(seconds=later_s))
        assert watched.incidents() == []
    for later_s in range(20, 120, 10):
        watched.evaluate(watched.report(), back + timedelta(seconds=later_s))
    (incident,) = watched.incidents()
    assert incident["culprit"]["suspect"] == "mesh"
    assert incident["title"] == "every agent of the mesh is silent"


def test_an_incident_of_all_of_the_mesh_says_what_is_wrong(watched: Watched):
    watched.slow = {(a, b): 5_000_000 for a in range(6) for b in range(6) if a != b}
    watched.window()
    watched.window()
    (incident,) = watched.incidents()
    assert (incident["culprit"]["words"], incident["title"]) == ("the whole mesh", "the whole mesh is slower")


def test_windows_that_were_missed_are_evaluated_and_late_ones_count(watched: Watched):
    watched.window()
    watched.slow = egress(watched, 1)
    watched.report()
    watched.window()  # two windows at once
    assert len(watched.incidents()) == 1


@pytest.mark.whole_store
def test_only_what_is_due_is_evaluated_and_all_of_it_is_found(watched: Watched):
    one = Reported(uuid4(), watched.world.id, 10, 80, [(100, 2), (90, 4)])
    assert evaluator.due_end_s(one, 100.5) == 90  # two have not reported yet
    assert evaluator.due_end_s(one, 103.5) == 100  # they had their time
    assert evaluator.due_end_s(Reported(one.tenant_id, one.mesh_id, 10, 90, [(100, 6)]), 100.5) == 100
    assert evaluator.due_end_s(Reported(one.tenant_id, one.mesh_id, 10, 100, [(100, 6)]), 100.5) is None
    (rule,) = watched.rules()
    watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"windows_x": 1, "windows_y": 1})
    watched.slow = egress(watched, 4)
    watched.report()
    tasks.evaluate()
    assert [one["culprit"]["suspect"] for one in watched.incidents()] == ["egress"]


def test_people_acknowledge_assign_note_resolve_and_reopen(watched: Watched, other_owner: Member):
    watched.slow = egress(watched, 2)
    watched.window()
    watched.window()
    (incident,) = watched.incidents()
    path, owner, any_version = f"/v1/incidents/{incident['id']}", watched.owner, {"If-Match": "*"}
    seen = owner.get(path)
    watched.window()  # what evaluation writes spoils nobody's version
    done = owner.post(f"{path}/acknowledge", json={"text": "mine"}, headers={"If-Match": seen.headers["ETag"]})
    assert (done.status_code, done.json()["state"]) == (200, "acknowledged")
    assert owner.post(f"{path}/acknowledge", json={}, headers={"If-Match": seen.headers["ETag"]}).status_code == 412
    assert owner.put(f"{path}/assignees", json={"assignee": "kim"}, headers=any_version).json()["assignee"] == "kim"
    assert owner.post(f"{path}/notes", json={"text": "switch replaced"}).status_code == 201
    assert owner.post(f"{path}/resolve", json={}).json()["state"] == "resolved"
    refused = owner.post(f"{path}/acknowledge", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "incident_state_conflict")
    whole = owner.post(f"{path}/reopen", json={"text": "again"}).json()
    assert [one["kind"] for one in whole["timeline"]] == [
        "opened",
        "acknowledged",
        "assigned",
        "note",
        "resolved",
        "reopened",
    ]
    assert other_owner.get(path).status_code == 404
    assert other_owner.post(f"{path}/notes", json={"text": "x"}).status_code == 404


def test_a_silence_mutes_and_says_why(watched: Watched):
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


def test_a_rule_is_tried_on_what_was_stored(watched: Watched):
    watched.started_at_s = int(time.time()) // 10 * 10 - 200
    watched.slow = egress(watched, 3)
    for _ in range(3):
        watched.report()
    body = {
        "mesh_id": str(watched.world.id),
        "name": "tried",
        "hours": 1,
        "condition": {"kind": "threshold", "above": 1_000_000},
    }
    job = watched.owner.post("/v1/alert-back-tests", json=body).json()
    run(watched.owner.tenant_id, job["id"])
    result = watched.owner.get(f"/v1/jobs/{job['id']}").json()["result"]
    assert (result["incidents"], result["found"][0]["culprit"]["suspect"]) == (1, "egress")
    assert (result["by"], watched.incidents()) == ("windows", [])


def test_rules_are_checked(watched: Watched):
    body = {"mesh_id": str(watched.world.id), "name": "Above a millisecond", "condition": {"kind": "threshold"}}
    assert watched.owner.post("/v1/alert-rules", json=body).json()["code"] == "alert_rule_name_taken"
    wrong = {**body, "name": "n", "windows_x": 4, "windows_y": 3}
    assert watched.owner.post("/v1/alert-rules", json=wrong).status_code == 422
    spike = {**body, "name": "s", "condition": {"kind": "spike"}}
    assert watched.owner.post("/v1/alert-rules", json=spike).status_code == 422


def test_a_scope_leaves_other_paths_alone(watched: Watched):
    (rule,) = watched.rules()
    changed = watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"scope": {"path": ["a-1", "b-1"]}})
    assert changed.status_code == 200, changed.text
    watched.slow = egress(watched, 0)
    watched.window()
    watched.window()
    (incident,) = watched.incidents()
    assert (incident["paths"], incident["culprit"]["words"]) == (1, "path a-1 to b-1")


def test_further_back_than_windows_are_kept_a_rule_is_tried_on_minutes(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(settings(), "retention_raw_days", 1)
    minute = int(time.time()) // 60 * 60 - 300
    watched.slow = egress(watched, 3)
    for at in (minute, minute + 60):
        watched.started_at_s = at
        watched.report()
        watched.report()
    with system_session() as session:
        tenant_key = session.scalar(text("SELECT key FROM tenants WHERE id = :id"), {"id": watched.owner.tenant_id})
    assert roll_up_mesh(tenant_key, watched.world.key, Tier.MINUTE, datetime.now(UTC)) > 0
    body = {
        "mesh_id": str(watched.world.id),
        "name": "tried",
        "hours": 25,
        "condition": {"kind": "threshold", "above": 1_000_000},
        "windows_x": 9,
        "windows_y": 12,  # two minutes of two
    }
    job = watched.owner.post("/v1/alert-back-tests", json=body).json()
    run(watched.owner.tenant_id, job["id"])
    result = watched.owner.get(f"/v1/jobs/{job['id']}").json()["result"]
    assert (result["by"], result["incidents"]) == ("minutes", 1)
    (found,) = result["found"]
    assert found["culprit"]["suspect"] == "egress"
    assert datetime.fromisoformat(found["opened_at"]).timestamp() == minute + 120


def test_a_rule_is_looked_at_on_one_path(watched: Watched):
    start = watched.started_at_s = int(time.time()) // 10 * 10 - 200
    for slow in ({}, egress(watched, 3), egress(watched, 3), egress(watched, 3), {}):
        watched.slow = slow
        watched.report()
    a, b = (watched.world.agents[at].vm_id for at in (3, 0))
    body = {
        "mesh_id": str(watched.world.id),
        "name": "tried",
        "source_id": str(a),
        "target_id": str(b),
        "condition": {"kind": "threshold", "above": 1_000_000},
        "keep_firing_s": 0,
    }
    found = watched.owner.post("/v1/alert-rule-previews", json=body).json()
    at = {datetime.fromisoformat(one).timestamp(): number for number, one in enumerate(found["points_at"])}
    first = at[start]
    assert found["firing"][first : first + 5] == [False, False, True, True, True]
    assert [round(one / 1e6) for one in found["values"][first : first + 5]] == [0, 5, 5, 5, 0]
    assert found["values"][first - 1] is None
    assert set(found["limits"]) == {1_000_000}
    assert found["notes"] == []
    body["condition"] = {"kind": "silent"}
    assert watched.owner.post("/v1/alert-rule-previews", json=body).json()["code"] == "preview_unsupported"
    body |= {"condition": {"kind": "spike", "rise_ns": 1}, "target_id": str(uuid4())}
    assert watched.owner.post("/v1/alert-rule-previews", json=body).json()["code"] == "path_unknown"


def test_an_application_below_its_objective_is_an_incident_and_others_say_whom_they_affect(watched: Watched):
    owner = watched.owner
    tasks_of = [{"vm": "a-1", "root": True}, {"vm": "b-1"}]
    cache = {"name": "cache", "mesh": "demo", "curve": "memcached-server", "tasks": tasks_of, "objective": 0.9}
    owner.created("/v1/applications", cache)
    elsewhere = {"name": "elsewhere", "tasks": [{"vm": "c-1", "root": True}, {"vm": "b-2"}], "objective": 0.3}
    owner.created("/v1/applications", cache | elsewhere)
    said = {"mesh_id": str(watched.world.id), "name": "Objective", "condition": {"kind": "performance"}}
    owner.created("/v1/alert-rules", {**said, "windows_x": 1, "windows_y": 1})
    (plain,) = [one for one in watched.rules() if one["name"] != "Objective"]
    owner.patch(f"/v1/alert-rules/{plain['id']}", json={"scope": {"application": "cache"}})
    watched.slow = {(0, 1): SLOW_NS, (1, 0): SLOW_NS}
    watched.window()
    watched.window()
    assert sorted(one["culprit"]["suspect"] for one in watched.incidents()) == ["application", "pair"]
    found = {one["culprit"]["suspect"]: one for one in watched.incidents()}
    assert (found["application"]["title"], found["application"]["rules"]) == ("application cache", ["Objective"])
    for one in found.values():
        (affected,) = owner.get(f"/v1/incidents/{one['id']}").json()["applications"]
        assert (affected["name"], affected["objective"]) == ("cache", 0.9)
        assert affected["performance"] < 0.9
    muting = {
        "comment": "known",
        "matchers": [{"label": "application", "value": "cache"}],
        "ends_at": "2099-01-01T00:00:00Z",
    }
    assert len(owner.post("/v1/silence-previews", json=muting).json()["incidents"]) == 2


def test_each_application_below_its_objective_is_one_incident(watched: Watched):
    owner = watched.owner
    told = {"mesh": "demo", "curve": "memcached-server", "objective": 0.9}
    for name, vms in (("cache", ("a-1", "b-1")), ("elsewhere", ("c-1", "b-2"))):
        tasks_of = [{"vm": vms[0], "root": True}, {"vm": vms[1]}]
        owner.created("/v1/applications", {**told, "name": name, "tasks": tasks_of})
    rule = {"mesh_id": str(watched.world.id), "name": "Objective", "condition": {"kind": "performance"}}
    owner.created("/v1/alert-rules", {**rule, "windows_x": 1, "windows_y": 1})
    watched.slow = {(0, 1): 900_000, (1, 0): 900_000}
    for _ in range(3):
        watched.window()
    titles = sorted(one["title"] for one in watched.incidents())
    assert titles == ["application cache", "application elsewhere"]


def test_what_agents_said_of_clocks_stands_in_the_timeline(watched: Watched):
    now = datetime.now(UTC).isoformat()
    for number, kind in ((2, "clock_step"), (2, "rate_shed"), (3, "clock_step")):
        event = {"kind": kind, "at": now, "detail": {"message": f"{kind} of {number}"}}
        told = watched.world.agents[number].post("/v1/agents/self/events", json={"events": [event]})
        assert told.status_code == 204, told.text
    watched.slow = egress(watched, 2)
    watched.window()
    watched.window()
    (incident,) = watched.incidents()
    timeline = watched.owner.get(f"/v1/incidents/{incident['id']}").json()["timeline"]
    said = [(one["actor"], one["text"]) for one in timeline if one["kind"] == "told"]
    assert said == [("agent of c-1", "clock_step of 2")]


def test_rules_travel_as_yaml(watched: Watched, other_owner: Member):
    where = {"mesh_id": str(watched.world.id)}
    text = watched.owner.get("/v1/alert-rules/manifest", params=where).text

    def bring(document: str) -> Any:
        headers = {"Content-Type": "application/yaml"}
        return watched.owner.post("/v1/alert-rules/manifest", params=where, content=document, headers=headers)

    same = bring(text).json()
    assert (same["created"], same["changed"], len(same["unchanged"])) == ([], [], 11)
    changed = text.replace("above: 1000000.0", "above: 2000000.0") + "- {name: New, condition: {kind: silent}}\n"
    done = bring(changed).json()
    assert (done["created"], done["changed"]) == (["New"], ["Above a millisecond"])
    assert bring("rules: [{name: x, condition: {kind: odd}}]").json()["code"] == "manifest_invalid"
    assert bring("rules: [").json()["code"] == "manifest_invalid"
    twice = bring("rules: [{name: x, condition: {kind: silent}}, {name: x, condition: {kind: silent}}]").json()
    assert [one["pointer"] for one in twice["errors"]] == ["#/rules/1/name"]
    assert "#/rules/0" in twice["detail"]
    assert other_owner.get("/v1/alert-rules/manifest", params=where).status_code == 404
