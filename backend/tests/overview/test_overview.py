"""The overview through HTTP: a tenant without meshes, a mesh that fills, incidents, agents and applications."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.models import Incident
from sinemora.fleet.inventory.models import Agent
from sinemora.kit.db import tenant_session
from sinemora.measurements.query.matrix import zone_steps
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import Tier
from tests.alerts.conftest import SLOW_NS, Watched, egress, watched  # noqa: F401 (a fixture)
from tests.api_clients import AgentCaller, Member, MeshWorld, body_of
from tests.measurements.reports import report_of, sent, sent_together, whole_mesh, window_start
from tests.measurements.worlds import Raw, silent, simple
from tests.recommendations.asking import declared, stored
from tests.recommendations.measured_mesh import measured
from tests.recommendations.test_ends import incident_of
from tests.statements import execute


def overview(owner: Member) -> dict[str, Any]:
    return body_of(owner.get("/v1/overview"))


def mesh_of(owner: Member) -> dict[str, Any]:
    (mesh,) = overview(owner)["meshes"]
    return mesh


def change_agent(world: MeshWorld, number: int, **columns: Any) -> None:
    execute(update(Agent).where(Agent.id == world.agents[number].agent_id).values(**columns))


def test_without_meshes_nothing_is_shown(owner: Member):
    assert overview(owner) == {
        "meshes": [],
        "attention": {
            "silent": {"count": 0, "first": []},
            "copied": {"count": 0, "first": []},
            "outdated": {"newest": None, "count": 0, "first": []},
            "clocks": {"above_ns": 100_000, "count": 0, "first": []},
        },
    }
    ranking = owner.get("/v1/overview/applications").json()
    assert ranking == {"total": 0, "evaluated": 0, "below_objective": 0, "worst": []}


def test_what_is_not_measured_is_counted_apart(owner: Member, make_mesh):
    world = make_mesh(owner, 3)
    mesh = mesh_of(owner)
    assert mesh["paths"] == {"planned": 6, "measured": 0, "lost": 0, "stale": 0, "no_data": 6, "no_service": 0}
    assert (mesh["vms"], mesh["loss"], mesh["ended_at"], mesh["losing"]) == (3, None, None, [])
    assert mesh["agents"] == {"reporting": 0, "silent": 0, "stopped": 0, "enrolled": 3}
    assert [(zone["name"], zone["first"], zone["count"]) for zone in mesh["zones"]] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 2, 1),
    ]

    first, *others = world.agents
    keys = [agent.vm_key for agent in others]
    sent(first, report_of(world.key, {keys[0]: simple(200_000, lost=8), keys[1]: silent()}))
    mesh = mesh_of(owner)
    assert mesh["paths"]["planned"] == 6
    assert mesh["paths"]["measured"] == 2
    assert mesh["paths"]["no_data"] == 2
    assert mesh["paths"]["lost"] + mesh["paths"]["stale"] == 2
    assert mesh["agents"] == {"reporting": 1, "silent": 0, "stopped": 0, "enrolled": 2}
    # Of 16 requests to one peer 8 were lost, of 8 responses none; the other peer got 8 and answered none.
    assert mesh["loss"] == pytest.approx(16 / 32)
    # Half of the requests are lost on the way to one peer, and all responses of the other.
    assert {round(one["loss"], 2) for one in mesh["losing"]} <= {0.5, 1.0}
    assert {one["source"] for one in mesh["losing"]} <= {zone["id"] for zone in mesh["zones"]}


def test_old_windows_are_stale(owner: Member, make_mesh):
    world = make_mesh(owner, 2)
    client, peer = world.agents
    sent(client, report_of(world.key, {peer.vm_key: simple(200_000)}, window_start(60)))
    mesh = mesh_of(owner)
    assert mesh["paths"] == {"planned": 2, "measured": 0, "lost": 0, "stale": 2, "no_data": 0, "no_service": 0}
    assert mesh["loss"] is None
    assert mesh["ended_at"] is not None


def test_an_incident_is_open_then_recent(watched: Watched):  # noqa: F811
    watched.window()
    mesh = mesh_of(watched.owner)
    assert (mesh["open_incidents"], mesh["worst_incidents"], mesh["recent_incidents"]) == (0, [], [])
    assert mesh["alert_rules"] == 1
    assert mesh["evaluated_since"] <= datetime.now(UTC).isoformat()
    watched.slow = egress(watched, 2)
    for _ in range(2):
        watched.window()
    (incident,) = watched.incidents()
    mesh = mesh_of(watched.owner)
    (worst,) = mesh["worst_incidents"]
    assert {name: worst[name] for name in ("id", "title", "severity", "onset_at", "paths", "culprit")} == {
        name: incident[name] for name in ("id", "title", "severity", "onset_at", "paths", "culprit")
    }
    (recent,) = mesh["recent_incidents"]
    assert (recent["id"], recent["ended_at"]) == (incident["id"], None)
    assert mesh["last_incident_ended_at"] is None

    # Resolved by a person, it is no longer open, and it ended with the last window that had it.
    watched.owner.post(f"/v1/incidents/{incident['id']}/resolve", json={}, headers={"If-Match": "*"})
    mesh = mesh_of(watched.owner)
    assert (mesh["open_incidents"], mesh["worst_incidents"]) == (0, [])
    assert mesh["recent_incidents"][0]["ended_at"] == incident["seen_at"]


def test_the_costliest_incident_comes_before_a_more_severe_one(watched: Watched):  # noqa: F811
    watched.window()
    watched.slow = egress(watched, 2)
    watched.windows(2)
    watched.slow |= {(0, 1): SLOW_NS}
    watched.windows(3)
    older, newer = sorted(watched.incidents(), key=lambda one: one["opened_at"])
    costs = {older["id"]: 0.1, newer["id"]: 0.84}
    with tenant_session(watched.owner.tenant_id) as session:
        for row in session.scalars(select(Incident)):
            cost = costs[str(row.id)]
            row.applications = [
                {"id": str(uuid4()), "name": "checkout", "cost": cost, "performance": 1 - cost, "objective": None}
            ]
            row.severity = Severity.CRITICAL if str(row.id) == older["id"] else Severity.WARNING
    worst = [one["id"] for one in mesh_of(watched.owner)["worst_incidents"]]
    assert worst == [newer["id"], older["id"]]

    # What spikes, or an application below its objective, comes after what explains its loss.
    for spikes, suspect in ((True, older["culprit"]["suspect"]), (False, Suspect.APPLICATION)):
        with tenant_session(watched.owner.tenant_id) as session:
            row = session.get_one(Incident, UUID(newer["id"]))
            row.evidence = row.evidence | {"spikes": spikes}
            row.suspect = suspect
        worst = [one["id"] for one in mesh_of(watched.owner)["worst_incidents"]]
        assert worst == [older["id"], newer["id"]]


def test_an_agent_that_reports_without_new_windows_is_silent(owner: Member, make_mesh):
    world = make_mesh(owner, 3)
    old = window_start(30)
    for at, agent in enumerate(world.agents):
        peers = {other.vm_key: simple(200_000) for other in world.agents[at + 1 :]}
        if peers:
            sent(agent, report_of(world.key, peers, old))
        change_agent(world, at, last_report_at=datetime.now(UTC))
    found = overview(owner)
    # The third is the client of no pair: its reports are all that is known.
    assert found["meshes"][0]["agents"] == {"reporting": 1, "silent": 2, "stopped": 0, "enrolled": 0}
    silent = found["attention"]["silent"]
    assert [datetime.fromisoformat(one["seen_at"]).timestamp() for one in silent["first"]] == [old + 10] * 2


def test_the_last_days_have_the_hour_that_is_measured(owner: Member, make_mesh):
    world = make_mesh(owner, 2)
    client, peer = world.agents
    sent(client, report_of(world.key, {peer.vm_key: simple(200_000)}))
    history = owner.get(f"/v1/overview/meshes/{world.id}/history?days=2").json()
    (hour,) = history["hours"]
    assert 0 <= window_start() - datetime.fromisoformat(hour["started_at"]).timestamp() < 3600
    assert (hour["source"], hour["change_ns"], hour["loss"]) == (None, None, None)
    assert history["incidents"] == []
    assert owner.get(f"/v1/overview/meshes/{make_mesh(owner, 0, 'empty').id}/history").json()["hours"] == []
    assert owner.get(f"/v1/overview/meshes/{uuid4()}/history").status_code == 404


def test_the_last_days_of_more_zones_than_one_scan_returns(owner: Member, make_mesh, monkeypatch):
    world = make_mesh(owner, 3)  # a zone each
    client, _, peer = world.agents
    sent(client, report_of(world.key, {peer.vm_key: simple(200_000)}))
    monkeypatch.setattr(zone_steps, "CELLS_MAX", 24 * 2 * 2)  # two zones in the hours of a day
    assert len(owner.get(f"/v1/overview/meshes/{world.id}/history?days=1").json()["hours"]) == 1


def test_agents_that_need_attention_are_named(owner: Member, make_mesh):
    world = make_mesh(owner, 7)
    now = datetime.now(UTC)
    for number in range(6):
        change_agent(world, number, last_report_at=now - timedelta(minutes=10 + number))
    change_agent(world, 6, last_report_at=now, agent_version="0.10.0")
    attention = overview(owner)["attention"]
    assert attention["silent"]["count"] == 6
    assert [one["vm"]["name"] for one in attention["silent"]["first"]] == ["c-2", "b-2", "a-2", "c-1", "b-1"]
    assert (attention["outdated"]["newest"], attention["outdated"]["count"]) == ("0.10.0", 6)
    assert len(attention["outdated"]["first"]) == 5


def test_large_clock_errors_are_named(owner: Member, make_mesh):
    world = make_mesh(owner, 3)
    names = {agent.name: agent for agent in world.agents}

    def raw_of(agent: AgentCaller, other: AgentCaller) -> Raw:
        return simple(200_000, clock_error_ns=300_000 if "b-1" in (agent.name, other.name) else 1_000)

    sent_together(world.key, whole_mesh(world, window_start(), raw_of))
    clocks = overview(owner)["attention"]["clocks"]
    worst = clocks["first"][0]
    assert worst["vm"]["id"] == str(names["b-1"].vm_id)
    assert worst["clock_error_ns"] == pytest.approx(300_000, rel=0.02)


def test_applications_are_ranked_worst_first(owner: Member, make_mesh):
    world = make_mesh(owner, 6)
    measured(world, {("a-1", "b-1"): 400.0, ("a-1", "c-1"): 30.0})
    for name, vm, objective in (("near", "c-1", None), ("far", "b-1", 0.99), ("unplaced", None, 0.9)):
        declared(world, name, ("a-1", vm), objective=objective)
    ranking = owner.get("/v1/overview/applications").json()
    assert (ranking["total"], ranking["evaluated"], ranking["below_objective"]) == (3, 3, 1)
    assert [one["name"] for one in ranking["worst"]] == ["far", "near", "unplaced"]
    for one in ranking["worst"]:
        alone = owner.get(f"/v1/applications/{one['id']}/performance").json()
        assert (one["performance"], one["measured"], one["links"]) == (
            alone["performance"],
            alone["measured"],
            alone["links"],
        )
    assert [one["below_objective"] for one in ranking["worst"]] == [True, False, False]
    one = owner.get("/v1/overview/applications?limit=1").json()
    assert ([row["name"] for row in one["worst"]], one["total"]) == (["far"], 3)


def test_an_application_has_its_history_with_its_own_incidents_and_moves(watched: Watched):  # noqa: F811
    owner = watched.owner
    watched.window()
    with tenant_session(owner.tenant_id) as session:
        tenant_key = session.info["tenant_key"]
    for tier in (Tier.MINUTE, Tier.QUARTER):
        while roll_up.roll_up_mesh(tenant_key, watched.world.key, tier, datetime.now(UTC) + timedelta(hours=1)):
            pass
    on = watched.add_application("on", "a-1", "c-1")["id"]
    off = watched.add_application("off", "a-1", "b-1")["id"]
    watched.slow = egress(watched, 2)
    for _ in range(2):
        watched.window()
    (incident,) = watched.incidents()
    now = datetime.now(UTC)
    move = {"application": {"id": on, "name": "on"}}
    for state, applied_at in (("applied", now), ("applied", now - timedelta(days=2)), ("proposed", None)):
        stored(watched.world, state=state, moves=[move, move], applied_at=applied_at)
    history = owner.get(f"/v1/overview/applications/{on}/history").json()
    assert [one["id"] for one in history["incidents"]] == [incident["id"]]
    assert [one["moves"] for one in history["moves"]] == [2]
    (value,) = [value for value in history["performance"] if value is not None]
    assert 0 < value <= 1
    of_week = owner.get(f"/v1/overview/applications/{on}/history?days=7").json()
    assert (history["step_s"], of_week["step_s"], len(of_week["moves"])) == (900, 3600, 2)
    other = owner.get(f"/v1/overview/applications/{off}/history").json()
    assert (other["incidents"], other["moves"]) == ([], [])
    assert owner.get(f"/v1/overview/applications/{uuid4()}/history").status_code == 404


def test_the_newest_proposed_moves_are_named(owner: Member, make_mesh):
    world = make_mesh(owner, 2)
    for state, moves in (("proposed", 1), ("proposed", 3), ("proposed", 0), ("dismissed", 2)):
        stored(world, state=state, moves=[{}] * moves)
    assert (mesh_of(owner)["proposed"]["moves"], mesh_of(owner)["proposed"]["cures"]) == (3, None)


@pytest.mark.parametrize(
    ("objective", "after", "is_cure"),
    [(0.9, 0.98, True), (0.9, 0.54, False), (None, 0.6, True), (None, 0.5, False)],
)
def test_while_an_incident_is_open_only_moves_that_cure_what_it_costs_are_offered(
    owner: Member, make_mesh, objective, after, is_cure
):
    mesh = make_mesh(owner, 2)
    checkout = {"id": str(uuid4()), "name": "checkout"}
    incident_of(mesh, applications=[checkout | {"performance": 0.16, "cost": 0.8, "objective": objective}])
    result = {"total": None, "applications": [{"application": checkout, "expected": {"after": {"mean": after}}}]}
    stored(mesh, trigger="objective", result=result, moves=[{}])
    proposed = mesh_of(owner)["proposed"]
    assert (proposed is not None) == is_cure
    if proposed:
        assert proposed["cures"] == {"application": checkout, "now": 0.16, "after": after}
