from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import update

from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.alerts.incidents import presentation
from sinemora.alerts.models import Incident
from tests.alerts.conftest import SLOW_NS, Watched, egress, later, silence_of
from tests.api_clients import Member, code_of
from tests.statements import execute


def test_slow_egress_is_one_incident_until_it_ends(watched: Watched):
    watched.window()
    assert watched.incidents() == []
    watched.window(egress(watched, 2))
    assert watched.incidents() == []  # one window is not two of three
    watched.window()
    incident = watched.incident()
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("egress", "c-1")
    assert incident["title"] == "paths from c-1: delay increased"
    assert (incident["state"], incident["severity"], incident["paths"]) == ("open", "warning", 5)
    worst = incident["evidence"]["impact"]["worst"][0]
    series = {"metric": "one_way_delay", "statistic": "p50"}
    assert incident["worst_path"] == {name: worst[name] for name in ("source", "target", "usual")} | series
    best = incident["evidence"]["hypotheses"][0]
    assert (best["suspect"], best["bad"], best["known"]) == ("egress", 5, 5)
    assert best["explained"] == 5
    heatmap = incident["evidence"]["heatmap"]
    assert len(heatmap["values"]) == len(heatmap["ids"]) == 6
    # Without a baseline it shows the delay that the rule is about.
    slow = heatmap["values"][heatmap["names"].index("c-1")][heatmap["names"].index("a-1")]
    assert (heatmap["unit"], slow, heatmap["changes_ns"]) == ("delay", pytest.approx(SLOW_NS, rel=0.02), None)
    impact = incident["evidence"]["impact"]
    assert (impact["rule"], impact["metric"], impact["usual"]) == ("Above a millisecond", "one_way_delay", None)
    assert [path["source"]["name"] for path in impact["worst"]] == ["c-1"] * 5
    assert impact["worst"][0]["limit"] == 1_000_000 < impact["worst"][0]["value"]
    # The only rule has a threshold, so no path has a baseline.
    assert [reason["code"] for reason in incident["verdict"]["reasons"]] == ["no_usual", "no_applications"]
    assert incident["runbooks"] == [{"rule": "Above a millisecond", "url": "https://runbooks.example/slow"}]
    assert incident["timeline"][0]["kind"] == "opened"
    watched.windows(30, {})
    (ended,) = watched.incidents()
    assert (ended["id"], ended["state"]) == (incident["id"], "resolved")
    assert ended["seen_at"] <= ended["ended_at"]


def test_an_incident_keeps_the_figures_of_its_worst_minutes(watched: Watched, secret_key: None):
    def figures() -> dict[str, Any]:
        whole = watched.incident()
        assert whole["evidence"]["impact"]["value"] == whole["figures"]["value"]
        return whole["figures"]

    watched.windows(2, dict.fromkeys(egress(watched, 2), 2_000_000))
    opened = figures()
    assert (opened["unit"], opened["usual"], opened["limit"], opened["change"]) == ("ns", None, 1_000_000, None)
    assert (opened["paths"], opened["of_paths"], opened["source"]["name"], opened["target"]) == (5, 5, "c-1", None)
    assert opened["value"] == pytest.approx(2_000_000, rel=0.02)
    assert opened["picture"]["by"] == "zone"
    a, c = (opened["picture"]["names"].index(zone) for zone in ("a", "c"))
    assert opened["picture"]["values"][c][a] == pytest.approx(2_000_000, rel=0.02)
    assert opened["picture"]["values"][a][c] == pytest.approx(200_000, rel=0.02)
    watched.windows(7, egress(watched, 2))
    worst = figures()
    assert worst["value"] == pytest.approx(SLOW_NS, rel=0.02)
    watched.windows(7, dict.fromkeys(egress(watched, 2), 1_500_000))
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

    of_tenant = Incident.tenant_id == watched.owner.tenant_id
    first = incident(egress(watched, 2))
    other = incident({(0, 1): SLOW_NS})
    execute(update(Incident).where(of_tenant).values(ended_at=Incident.ended_at - timedelta(days=2)))
    most = incident({path: ns for path, ns in egress(watched, 2).items() if path != (2, 0)})
    assert similar(first) == []
    assert similar(other) == []
    assert similar(most) == [first]
    opened_at = Incident.opened_at - timedelta(days=31)
    execute(update(Incident).where(Incident.id == UUID(first)).values(opened_at=opened_at))
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
    watched.add_rule("Loss", {"kind": "threshold", "metric": "loss", "statistic": "mean", "above": 0.1})
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
    watched.windows(2, egress(watched, 2))
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
    kinds = [one["kind"] for one in whole["timeline"]]
    assert kinds == ["opened", "acknowledged", "assigned", "note", "resolved", "reopened"]
    assert other_owner.get(path).status_code == 404
    assert other_owner.post(f"{path}/notes", json={"text": "x"}).status_code == 404


def test_an_application_below_its_objective_is_an_incident(watched: Watched, secret_key: None):
    owner = watched.owner
    watched.add_application("cache", "a-1", "b-1", objective=0.9)
    watched.add_application("elsewhere", "c-1", "b-2", objective=0.9)
    watched.add_application("well", "c-1", "b-2", objective=0.3)
    watched.add_rule("Objective", {"kind": "performance"}, windows_x=1, windows_y=1)
    (plain,) = [one for one in watched.rules() if one["name"] != "Objective"]
    owner.patch(f"/v1/alert-rules/{plain['id']}", json={"scope": {"application": "cache"}})
    watched.windows(2, {(0, 1): SLOW_NS, (1, 0): SLOW_NS})
    below, elsewhere, pair = sorted(watched.incidents(), key=lambda one: str(one["title"]))
    assert (below["title"], below["rules"]) == ("application cache: below its objective", ["Objective"])
    assert elsewhere["title"] == "application elsewhere: below its objective"
    assert pair["culprit"]["suspect"] == "pair"
    for one in (below, pair):
        (affected,) = watched.whole(one)["applications"]
        assert (affected["name"], affected["objective"]) == ("cache", 0.9)
        assert affected["performance"] < 0.9
    verdict = watched.whole(below)["verdict"]
    assert (verdict["kind"], verdict["reasons"][0]["code"]) == ("network", "other_incident")
    (other,) = verdict["others"]
    slow = watched.whole(pair)
    assert (other["id"], other["application"]) == (slow["id"], "cache")
    assert other["cost"] == slow["applications"][0]["cost"] > 0
    assert slow["verdict"]["others"] == []
    signed = owner.get(f"/v1/incidents/{below['id']}/evidence").json()["report"]["incident"]["verdict"]
    assert (signed["kind"], signed["reasons"][0]) == ("network", "other_incident")
    preview = owner.post("/v1/silence-previews", json=silence_of("application", "cache")).json()
    assert len(preview["incidents"]) == 2


def test_an_incident_costs_an_application_what_its_own_paths_cause(watched: Watched):
    owner = watched.owner
    # Links of the star lead from a-1 to the others; no link uses the path between b-1 and c-1.
    application = watched.add_application("cache", "a-1", "b-1", "c-1")
    watched.windows(2, {(0, 1): SLOW_NS, (1, 0): SLOW_NS})
    watched.windows(2, watched.slow | {(1, 2): SLOW_NS, (2, 1): SLOW_NS})
    costs = {one["title"]: watched.whole(one)["applications"] for one in watched.incidents()}
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
    application = watched.add_application("cache", "a-1", "b-1", curve=curve["id"])

    def cost() -> float:
        (affected,) = watched.incident()["applications"]
        assert set(affected) == {"id", "name", "performance", "cost", "objective"}
        return affected["cost"]

    watched.windows(2, {(0, 1): SLOW_NS, (1, 0): SLOW_NS})
    high = cost()
    watched.windows(60 // 10 + 1, {(0, 1): SLOW_NS // 2, (1, 0): SLOW_NS // 2})  # costs follow once a minute
    lower = cost()
    assert lower < high
    performance = owner.get(f"/v1/applications/{application['id']}/performance").json()["performance"]
    assert lower == pytest.approx(1 - performance)  # the incident costs what the application loses, and no more
    watched.calm()
    assert watched.incidents()[0]["ended_at"] is not None
    assert cost() == pytest.approx(high)


def test_clock_steps_reported_by_agents_are_in_the_timeline(watched: Watched):
    now = datetime.now(UTC).isoformat()
    for number, kind in ((2, "clock_step"), (2, "rate_shed"), (3, "clock_step")):
        event = {"kind": kind, "at": now, "detail": {"message": f"{kind} of {number}"}}
        assert watched.world.agents[number].post("/v1/agents/self/events", json={"events": [event]}).status_code == 204
    watched.windows(2, egress(watched, 2))
    timeline = watched.incident()["timeline"]
    events = [(one["actor"], one["text"]) for one in timeline if one["kind"] == "agent_event"]
    assert events == [("agent of c-1", "clock_step of 2")]


def test_an_incident_that_returns_is_one_with_a_count_and_its_times(watched: Watched):
    for number in range(3):
        watched.windows(2, egress(watched, 2))
        watched.calm()
        (incident,) = watched.incidents()
        assert incident["state"] == "resolved"
        assert (incident["recurrence"] or {}).get("times") == (number + 1 if number else None)
        later(watched, timedelta(hours=3))
    whole = watched.incident()
    assert (whole["recurrence"]["last_hour"], whole["recurrence"]["flaps"]) == (1, False)
    assert len(whole["episodes"]) == 3
    assert all(one["started_at"] < one["ended_at"] for one in whole["episodes"])
    assert whole["onset_at"] == whole["episodes"][-1]["started_at"]
    assert whole["recurrence"]["since"] < whole["onset_at"]
    kinds = [event["kind"] for event in whole["timeline"]]
    assert (kinds.count("opened"), kinds.count("reopened"), kinds.count("ended")) == (1, 2, 3)
    (health,) = watched.owner.get("/v1/overview").json()["meshes"]
    assert [one["id"] for one in health["recent_incidents"]] == [whole["id"]] * 3
