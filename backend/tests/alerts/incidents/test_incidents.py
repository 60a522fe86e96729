"""From reports to incidents, through the database and the API."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import update

from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.alerts.incidents import presentation
from sinemora.alerts.models import Incident
from sinemora.kit.db import tenant_session
from tests.alerts.conftest import SLOW_NS, Watched, egress, later
from tests.api_clients import Member, code_of


def test_slow_egress_is_one_incident_until_it_ends(watched: Watched):
    watched.window()
    assert watched.incidents() == []
    watched.slow = egress(watched, 2)
    watched.window()
    assert watched.incidents() == []  # one window is not two of three
    watched.window()
    (incident,) = watched.incidents()
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("egress", "c-1")
    assert incident["title"] == "paths from c-1: delay increased"
    assert (incident["state"], incident["severity"], incident["paths"]) == ("open", "warning", 5)
    whole = watched.owner.get(f"/v1/incidents/{incident['id']}").json()
    worst = whole["evidence"]["impact"]["worst"][0]
    assert incident["worst_path"] == {name: worst[name] for name in ("source", "target", "usual")} | {
        "metric": "one_way_delay",
        "statistic": "p50",
    }
    best = whole["evidence"]["hypotheses"][0]
    assert (best["suspect"], best["bad"], best["known"]) == ("egress", 5, 5)
    assert best["explained"] == 5
    heatmap = whole["evidence"]["heatmap"]
    assert len(heatmap["values"]) == len(heatmap["ids"]) == 6
    # Without a baseline it shows the delay that the rule is about.
    slow = heatmap["values"][heatmap["names"].index("c-1")][heatmap["names"].index("a-1")]
    assert (heatmap["unit"], slow, heatmap["changes_ns"]) == ("delay", pytest.approx(SLOW_NS, rel=0.02), None)
    impact = whole["evidence"]["impact"]
    assert (impact["rule"], impact["metric"], impact["usual"]) == ("Above a millisecond", "one_way_delay", None)
    assert [path["source"]["name"] for path in impact["worst"]] == ["c-1"] * 5
    assert impact["worst"][0]["limit"] == 1_000_000 < impact["worst"][0]["value"]
    # The only rule has a threshold, so no path has a baseline.
    assert [reason["code"] for reason in whole["verdict"]["reasons"]] == ["no_usual", "no_applications"]
    assert whole["runbooks"] == [{"rule": "Above a millisecond", "url": "https://runbooks.example/slow"}]
    assert whole["timeline"][0]["kind"] == "opened"
    watched.slow = {}
    watched.windows(30)
    (ended,) = watched.incidents()
    assert (ended["id"], ended["state"]) == (incident["id"], "resolved")
    assert ended["seen_at"] < ended["ended_at"] or ended["seen_at"] == ended["ended_at"]


def test_an_incident_keeps_the_figures_of_its_worst_minutes(watched: Watched, secret_key: None):
    def figures() -> dict[str, Any]:
        (incident,) = watched.incidents()
        whole = watched.owner.get(f"/v1/incidents/{incident['id']}").json()
        assert whole["evidence"]["impact"]["value"] == whole["figures"]["value"]
        return whole["figures"]

    watched.slow = dict.fromkeys(egress(watched, 2), 2_000_000)
    watched.windows(2)
    opened = figures()
    assert (opened["unit"], opened["usual"], opened["limit"], opened["change"]) == ("ns", None, 1_000_000, None)
    assert (opened["paths"], opened["of_paths"], opened["source"]["name"], opened["target"]) == (5, 5, "c-1", None)
    assert opened["value"] == pytest.approx(2_000_000, rel=0.02)
    assert opened["picture"]["by"] == "zone"
    a, c = (opened["picture"]["names"].index(zone) for zone in ("a", "c"))
    assert opened["picture"]["values"][c][a] == pytest.approx(2_000_000, rel=0.02)
    assert opened["picture"]["values"][a][c] == pytest.approx(200_000, rel=0.02)
    watched.slow = egress(watched, 2)
    watched.windows(7)
    worst = figures()
    assert worst["value"] == pytest.approx(SLOW_NS, rel=0.02)
    watched.slow = dict.fromkeys(egress(watched, 2), 1_500_000)
    watched.windows(7)
    eased = figures()
    assert (eased["value"], eased["at"]) == (worst["value"], worst["at"])
    assert eased["value_now"] == pytest.approx(1_500_000, rel=0.02)
    assert " Now 1.5" in eased["sentences"][0]
    watched.calm()
    ended = figures()
    assert (ended["value"], ended["value_now"], ended["paths"]) == (worst["value"], None, 5)
    (incident,) = watched.incidents()
    signed = watched.owner.get(f"/v1/incidents/{incident['id']}/evidence").json()["report"]["incident"]["worst"]
    assert (signed["value"], signed["limit"], signed["unit"], signed["paths"]) == (worst["value"], 1_000_000, "ns", 5)


def test_similar_incidents_have_the_same_suspect_or_most_of_the_same_paths(watched: Watched):
    def incident(slow: dict[tuple[int, int], int]) -> str:
        watched.slow = slow
        before = {one["id"] for one in watched.incidents()}
        watched.windows(3)
        (found,) = [one for one in watched.incidents() if one["id"] not in before]
        watched.calm()
        assert watched.owner.post(f"/v1/incidents/{found['id']}/resolve", json={}).status_code in (200, 409)
        return str(found["id"])

    def similar(id: str) -> list[str]:
        return [one["id"] for one in watched.owner.get(f"/v1/incidents/{id}").json()["similar"]]

    first = incident(egress(watched, 2))
    other = incident({(0, 1): SLOW_NS})
    with tenant_session(watched.owner.tenant_id) as session:
        session.execute(update(Incident).values(ended_at=Incident.ended_at - timedelta(days=2)))
    most = incident({path: ns for path, ns in egress(watched, 2).items() if path != (2, 0)})
    assert similar(first) == []
    assert similar(other) == []
    assert similar(most) == [first]
    with tenant_session(watched.owner.tenant_id) as session:
        at = Incident.opened_at - timedelta(days=31)
        session.execute(update(Incident).where(Incident.id == UUID(first)).values(opened_at=at))
    assert similar(most) == []


@pytest.mark.parametrize(
    ("impact", "loss"),
    [
        ({"metric": "loss", "value": 0.13}, 0.13),  # the figure of the headline, whatever the newest window has
        ({"metric": "one_way_delay", "value": 84_000}, 0.25),
        (None, 0.25),
    ],
)
def test_an_incident_has_one_figure_of_its_loss(impact: dict[str, Any] | None, loss: float):
    losses = np.array([[np.nan, 0.1], [0.4, np.nan]], np.float32)
    pair = np.arange(2)
    window = EvaluationWindow(10, 10, pair, pair, ~np.eye(2, dtype=bool), lambda *_: losses, np.zeros(2, bool))
    assert presentation._loss(np.array([1, 2]), window, impact) == pytest.approx(loss)


def test_loss_begins_with_its_first_window_after_a_change_of_delays(watched: Watched):
    rule = {"name": "Loss", "condition": {"kind": "threshold", "metric": "loss", "statistic": "mean", "above": 0.1}}
    watched.owner.created("/v1/alert-rules", {**rule, "mesh_id": str(watched.world.id)})
    watched.windows(4)
    watched.slow = {(0, 1): 300_000, (1, 0): 300_000}  # far below the limit of the rule about delays
    watched.windows(5)
    watched.lossy = {frozenset((0, 1))}
    began_s = watched.started_at_s
    watched.windows(2)
    (incident,) = watched.incidents()
    assert incident["rules"] == ["Loss"]
    assert incident["title"] == "path b-1 to a-1: packet loss"
    assert datetime.fromisoformat(incident["onset_at"]).timestamp() == began_s


def test_people_acknowledge_assign_note_resolve_and_reopen(watched: Watched, other_owner: Member):
    watched.slow = egress(watched, 2)
    watched.windows(2)
    (incident,) = watched.incidents()
    path, owner, any_version = f"/v1/incidents/{incident['id']}", watched.owner, {"If-Match": "*"}
    seen = owner.get(path)
    watched.window()  # updates by evaluation keep versions valid
    done = owner.post(f"{path}/acknowledge", json={"text": "mine"}, headers={"If-Match": seen.headers["ETag"]})
    assert (done.status_code, done.json()["state"]) == (200, "acknowledged")
    assert owner.post(f"{path}/acknowledge", json={}, headers={"If-Match": seen.headers["ETag"]}).status_code == 412
    assert owner.put(f"{path}/assignees", json={"assignee": "kim"}, headers=any_version).json()["assignee"] == "kim"
    assert owner.post(f"{path}/notes", json={"text": "switch replaced"}).status_code == 201
    assert owner.post(f"{path}/resolve", json={}).json()["state"] == "resolved"
    assert code_of(owner.post(f"{path}/acknowledge", json={})) == (409, "incident_state_conflict")
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


def test_an_application_below_its_objective_is_an_incident(watched: Watched, secret_key: None):
    owner = watched.owner
    tasks_of = [{"vm": "a-1", "root": True}, {"vm": "b-1"}]
    cache = {"name": "cache", "mesh": "demo", "curve": "memcached-server", "tasks": tasks_of, "objective": 0.9}
    owner.created("/v1/applications", cache)
    elsewhere = {"name": "elsewhere", "tasks": [{"vm": "c-1", "root": True}, {"vm": "b-2"}], "objective": 0.3}
    owner.created("/v1/applications", cache | elsewhere)
    rule = {"mesh_id": str(watched.world.id), "name": "Objective", "condition": {"kind": "performance"}}
    owner.created("/v1/alert-rules", {**rule, "windows_x": 1, "windows_y": 1})
    (plain,) = [one for one in watched.rules() if one["name"] != "Objective"]
    owner.patch(f"/v1/alert-rules/{plain['id']}", json={"scope": {"application": "cache"}})
    watched.slow = {(0, 1): SLOW_NS, (1, 0): SLOW_NS}
    watched.windows(2)
    assert sorted(one["culprit"]["suspect"] for one in watched.incidents()) == ["application", "pair"]
    by_suspect = {one["culprit"]["suspect"]: one for one in watched.incidents()}
    below = by_suspect["application"]
    assert (below["title"], below["rules"]) == (
        "application cache: below its objective",
        ["Objective"],
    )
    for one in by_suspect.values():
        (affected,) = owner.get(f"/v1/incidents/{one['id']}").json()["applications"]
        assert (affected["name"], affected["objective"]) == ("cache", 0.9)
        assert affected["performance"] < 0.9
    verdict = owner.get(f"/v1/incidents/{below['id']}").json()["verdict"]
    assert (verdict["kind"], verdict["reasons"][0]["code"]) == ("network", "other_incident")
    (other,) = verdict["others"]
    slow = owner.get(f"/v1/incidents/{by_suspect['pair']['id']}").json()
    assert (other["id"], other["application"]) == (slow["id"], "cache")
    assert other["cost"] == slow["applications"][0]["cost"] > 0
    assert slow["verdict"]["others"] == []
    signed = owner.get(f"/v1/incidents/{below['id']}/evidence").json()["report"]["incident"]["verdict"]
    assert (signed["kind"], signed["reasons"][0]) == ("network", "other_incident")
    silence = {
        "comment": "known",
        "matchers": [{"label": "application", "value": "cache"}],
        "ends_at": "2099-01-01T00:00:00Z",
    }
    assert len(owner.post("/v1/silence-previews", json=silence).json()["incidents"]) == 2


def test_an_incident_costs_an_application_what_its_own_paths_cause(watched: Watched):
    owner = watched.owner
    # Links of the star lead from a-1 to the others; no link uses the path between b-1 and c-1.
    tasks_of = [{"vm": "a-1", "root": True}, {"vm": "b-1"}, {"vm": "c-1"}]
    body = {"name": "cache", "mesh": "demo", "curve": "memcached-server", "tasks": tasks_of}
    application = owner.created("/v1/applications", body)
    watched.slow = {(0, 1): SLOW_NS, (1, 0): SLOW_NS}
    watched.windows(2)
    watched.slow |= {(1, 2): SLOW_NS, (2, 1): SLOW_NS}
    watched.windows(2)
    costs = {
        one["title"]: owner.get(f"/v1/incidents/{one['id']}").json()["applications"] for one in watched.incidents()
    }
    (cache,) = costs["paths between a-1 and b-1: delay increased"]
    links = owner.get(f"/v1/applications/{application['id']}/performance").json()["detail"]
    (slow,) = [link for link in links if link["target"] == "b-1"]
    assert cache["cost"] == pytest.approx((1 - slow["performance"]) / len(links))
    assert cache["cost"] < 1 - cache["performance"]  # the other link loses by its usual round trip
    assert costs["paths between b-1 and c-1: delay increased"] == []


def test_the_cost_of_an_open_incident_follows_the_network_and_the_largest_one_stays(watched: Watched):
    owner = watched.owner
    # Published curves end before a millisecond, where the rule begins.
    rows = [{"latency_us": us, "performance": 100 - us / 250} for us in range(0, 20_001, 2_000)]
    curve = owner.created("/v1/curves", {"name": "patient", "rows": rows})
    tasks_of = [{"vm": "a-1", "root": True}, {"vm": "b-1"}]
    body = {"name": "cache", "mesh": "demo", "curve": curve["id"], "tasks": tasks_of}
    application = owner.created("/v1/applications", body)

    def cost() -> float:
        (incident,) = watched.incidents()
        (affected,) = owner.get(f"/v1/incidents/{incident['id']}").json()["applications"]
        assert set(affected) == {"id", "name", "performance", "cost", "objective"}
        return affected["cost"]

    watched.slow = {(0, 1): SLOW_NS, (1, 0): SLOW_NS}
    watched.windows(2)
    high = cost()
    watched.slow = {(0, 1): SLOW_NS // 2, (1, 0): SLOW_NS // 2}
    watched.windows(60 // 10 + 1)  # costs follow once a minute
    lower = cost()
    assert lower < high
    performance = owner.get(f"/v1/applications/{application['id']}/performance").json()["performance"]
    assert lower == pytest.approx(1 - performance)  # the incident costs what the application loses, and no more
    watched.calm()
    assert watched.incidents()[0]["ended_at"] is not None
    assert cost() == pytest.approx(high)


def test_each_application_below_its_objective_is_one_incident(watched: Watched):
    owner = watched.owner
    common = {"mesh": "demo", "curve": "memcached-server", "objective": 0.9}
    for name, vms in (("cache", ("a-1", "b-1")), ("elsewhere", ("c-1", "b-2"))):
        tasks_of = [{"vm": vms[0], "root": True}, {"vm": vms[1]}]
        owner.created("/v1/applications", {**common, "name": name, "tasks": tasks_of})
    rule = {"mesh_id": str(watched.world.id), "name": "Objective", "condition": {"kind": "performance"}}
    owner.created("/v1/alert-rules", {**rule, "windows_x": 1, "windows_y": 1})
    watched.slow = {(0, 1): 900_000, (1, 0): 900_000}
    watched.windows(3)
    titles = sorted(one["title"] for one in watched.incidents())
    assert titles == ["application cache: below its objective", "application elsewhere: below its objective"]


def test_clock_steps_reported_by_agents_are_in_the_timeline(watched: Watched):
    now = datetime.now(UTC).isoformat()
    for number, kind in ((2, "clock_step"), (2, "rate_shed"), (3, "clock_step")):
        event = {"kind": kind, "at": now, "detail": {"message": f"{kind} of {number}"}}
        response = watched.world.agents[number].post("/v1/agents/self/events", json={"events": [event]})
        assert response.status_code == 204, response.text
    watched.slow = egress(watched, 2)
    watched.windows(2)
    (incident,) = watched.incidents()
    timeline = watched.owner.get(f"/v1/incidents/{incident['id']}").json()["timeline"]
    events = [(one["actor"], one["text"]) for one in timeline if one["kind"] == "agent_event"]
    assert events == [("agent of c-1", "clock_step of 2")]


def test_an_incident_that_returns_is_one_with_a_count_and_its_times(watched: Watched):
    for number in range(3):
        watched.slow = egress(watched, 2)
        watched.windows(2)
        watched.calm()
        (incident,) = watched.incidents()
        assert incident["state"] == "resolved"
        assert (incident["recurrence"] or {}).get("times") == (number + 1 if number else None)
        later(watched, timedelta(hours=3))
    (incident,) = watched.incidents()
    assert (incident["recurrence"]["last_hour"], incident["recurrence"]["flaps"]) == (1, False)
    whole = watched.owner.get(f"/v1/incidents/{incident['id']}").json()
    assert len(whole["episodes"]) == 3
    assert all(one["started_at"] < one["ended_at"] for one in whole["episodes"])
    assert whole["onset_at"] == whole["episodes"][-1]["started_at"]
    assert whole["recurrence"]["since"] < whole["onset_at"]
    kinds = [event["kind"] for event in whole["timeline"]]
    assert (kinds.count("opened"), kinds.count("reopened"), kinds.count("ended")) == (1, 2, 3)
    (health,) = watched.owner.get("/v1/overview").json()["meshes"]
    assert [one["id"] for one in health["recent_incidents"]] == [incident["id"]] * 3
