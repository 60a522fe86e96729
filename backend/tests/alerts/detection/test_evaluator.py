"""Evaluation of due windows: restarts, missed and late windows."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from sinemora.alerts.detection import evaluator, tasks
from sinemora.kit.redis import client
from sinemora.measurements.ingest import presence
from tests.alerts.conftest import Watched, egress, watch

SILENT = {"condition": {"kind": "silent"}, "windows_x": 1, "windows_y": 1}


def test_state_survives_a_restart_of_the_worker(watched: Watched):
    watched.slow = egress(watched, 0)
    watched.window()
    evaluator.forget()
    watched.window()
    assert len(watched.incidents()) == 1


def test_agents_have_time_to_report_after_a_backend_outage(watched: Watched):
    watched.owner.created(
        "/v1/alert-rules",
        {"mesh_id": str(watched.world.id), "name": "Silent"} | SILENT,
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
    assert incident["title"] == "all agents of the mesh silent"


def test_no_agent_is_silent_before_it_could_report_again(watched: Watched, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(presence, "note", lambda: None)
    watched.owner.created("/v1/alert-rules", {"mesh_id": str(watched.world.id), "name": "Silent"} | SILENT)
    watched.window()
    began = datetime.now(UTC)
    # Agents count as silent 40 s after their last report. The API was away for all of that time, or for none of it.
    for gone_s, noted_s, incidents in ((45, presence.BREAK_S + 1, 0), (46, 0, 1)):
        at = began + timedelta(seconds=gone_s)
        monkeypatch.setattr(presence, "time", SimpleNamespace(time=at.timestamp))
        client().mset({presence._NOTED_AT: at.timestamp() - noted_s, presence._SINCE: began.timestamp() - 60})
        watched.evaluate(watched.report(), at)
        assert len(watched.incidents()) == incidents


def test_missed_windows_are_evaluated(watched: Watched):
    watched.window()
    watched.slow = egress(watched, 1)
    watched.report()
    watched.window()  # two windows at once
    assert len(watched.incidents()) == 1


@pytest.mark.whole_store
def test_every_due_window_is_evaluated(watched: Watched):
    (rule,) = watched.rules()
    watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"windows_x": 1, "windows_y": 1})
    watched.slow = egress(watched, 4)
    watched.report()
    tasks.evaluate()
    assert [one["culprit"]["suspect"] for one in watched.incidents()] == ["egress"]


def test_an_event_mesh_measures_the_paths_of_an_incident_in_every_window_until_it_ends(watched: Watched):
    mesh = f"/v1/meshes/{watched.world.id}"
    watched.owner.patch(mesh, json={"strategy": "event", "period_windows": 5})
    names = [agent.name for agent in watched.world.agents]

    def always_measured(agent: int) -> set[str]:
        """Return the peers that an agent measures in every window, by its plan."""
        (of_mesh,) = watched.world.agents[agent].get("/v1/agents/self/plan").json()["meshes"]
        return {peer["name"] for peer in of_mesh["peers"] if peer["turns"] is None}

    usual = always_measured(0)
    assert len(usual) < len(names) - 1
    watched.slow = egress(watched, 0)
    watched.windows(3)
    (incident,) = watched.incidents()
    assert incident["culprit"]["suspect"] == "egress"
    assert always_measured(0) == set(names[1:])
    assert names[0] in always_measured(1)
    watched.slow = {}
    watched.windows(30)
    assert watched.incidents()[0]["state"] == "resolved"
    assert always_measured(0) == usual


def test_an_estimate_above_the_limit_never_alerts(owner, make_mesh):
    watched = watch(owner, make_mesh(owner, 10))
    # Two VMs with slow interfaces: their paths to others stay below 1 ms, the one between them does not.
    size, slow = len(watched.world.agents), (0, 1)
    vms = [(one, other) for one in range(size) for other in range(size) if one != other]
    watched.slow = {(one, other): 200_000 * 4 ** ((one in slow) + (other in slow)) for one, other in vms}
    watched.unmeasured = {frozenset(slow)}
    watched.windows(4)

    def at(unix_s: int) -> str:
        return datetime.fromtimestamp(unix_s, UTC).isoformat()

    span = {"from": at(watched.started_at_s - 40), "to": at(watched.started_at_s)}
    matrix = owner.get(f"/v1/meshes/{watched.world.id}/matrix", params=span | {"estimates": True}).json()
    estimated = [
        matrix["estimates"]["low_ns"][i][j]
        for i, row in enumerate(matrix["states"])
        for j, state in enumerate(row)
        if state == "estimated"
    ]
    assert len(estimated) == 2
    assert min(estimated) > 1_000_000
    assert watched.incidents() == []
    # Measured, the same delay is an incident.
    watched.unmeasured = set()
    watched.windows(3)
    assert len(watched.incidents()) > 0
