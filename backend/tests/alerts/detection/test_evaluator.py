from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest

from sinemora.alerts.detection import batch, evaluator, queries, rounds, tasks
from sinemora.alerts.detection.batch import Wanted
from sinemora.alerts.detection.due import BlockReports, MeshReports
from sinemora.kit.db import tenant_session
from sinemora.kit.redis import client
from sinemora.measurements.ingest import presence
from tests.alerts.conftest import Watched, egress, watch
from tests.api_clients import MakeMesh, Member
from tests.statements import call, execute

SILENT = {"condition": {"kind": "silent"}, "windows_x": 1, "windows_y": 1}


def test_state_survives_a_restart_of_the_worker(watched: Watched):
    watched.window(egress(watched, 0))
    evaluator.forget()
    watched.window()
    assert len(watched.incidents()) == 1


def test_agents_have_time_to_report_after_a_backend_outage(watched: Watched):
    watched.add_rule("Silent", **SILENT)
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
    watched.add_rule("Silent", **SILENT)
    watched.window()
    began = datetime.now(UTC)
    # Agents count as silent 40 s after their last report. The API was away for all of that time, or for none of it.
    for gone_s, noted_s, incidents in ((45, presence.BREAK_S + 1, 0), (46, 0, 1)):
        at = began + timedelta(seconds=gone_s)
        monkeypatch.setattr(presence, "time", SimpleNamespace(time=at.timestamp))
        client().mset({presence._NOTED_AT: at.timestamp() - noted_s, presence._SINCE: began.timestamp() - 60})
        watched.evaluate(watched.report(), at)
        assert len(watched.incidents()) == incidents


def test_nothing_is_told_about_a_vm_that_was_stopped_until_it_has_started(watched: Watched):
    """Its peers lose their packets to it. It says that it stops; after half an hour it counts as before."""
    (rule,) = watched.rules()
    watched.owner.patch(f"/v1/alert-rules/{rule['id']}", json={"windows_x": 1, "windows_y": 1})
    watched.window()
    ended_at_s = watched.report(slow=egress(watched, 1))
    stopped = (
        "UPDATE agents SET stopped_at = to_timestamp(:stopped_s), started_at = to_timestamp(:started_s) WHERE id = :id"
    )

    def evaluate_when(stopped_s: float, started_s: float | None) -> int:
        execute(stopped, {"stopped_s": stopped_s, "started_s": started_s, "id": watched.world.agents[1].agent_id})
        watched.evaluate(watched.report())
        return len(watched.incidents())

    assert evaluate_when(ended_at_s + 3, None) == 0  # in the middle of the window
    assert evaluate_when(ended_at_s + 3, ended_at_s - 60) == 0  # the start was earlier
    assert evaluate_when(ended_at_s + 3, ended_at_s + 22) == 0  # started again in this window
    assert evaluate_when(ended_at_s - 3_600, None) == 1  # an hour ago


@pytest.mark.whole_store
def test_a_mesh_that_fails_or_is_locked_keeps_no_other_waiting(
    owner: Member, make_mesh: MakeMesh, monkeypatch: pytest.MonkeyPatch
):
    broken, locked, well = (watch(owner, make_mesh(owner, 3, name=name)) for name in ("broken", "locked", "well"))
    for mesh in (broken, locked, well):
        mesh.window()
        ended_at_s = mesh.report()
    execute("UPDATE probe_frames SET stats = 'x' WHERE mesh_key = :key", {"key": broken.world.key})
    read, meshes_read = batch.read, []
    monkeypatch.setattr(rounds, "_LEFT_S", -1.0)
    monkeypatch.setattr(batch, "read", lambda session, wanted: meshes_read.extend(wanted) or read(session, wanted))
    with tenant_session(owner.tenant_id) as session:
        assert queries.claimed(session, locked.world.id) is not None  # another worker evaluates it
        evaluator.forget([locked.world.id])
        tasks.evaluate()
        assert evaluated_until(well) == ended_at_s
        assert evaluated_until(locked) == evaluated_until(broken) == ended_at_s - 10
        assert locked.world.id not in {one.mesh_id for one in meshes_read}
        with tenant_session(owner.tenant_id) as other:
            given = batch.read(other, [Wanted(locked.world.id, [ended_at_s], None)])[locked.world.id]
            assert evaluator.evaluate_window(other, given, ended_at_s, datetime.now(UTC)) is None
    tasks.evaluate()
    assert evaluated_until(locked) == ended_at_s
    assert evaluated_until(broken) == ended_at_s - 10


def evaluated_until(watched: Watched) -> int | None:
    """Return the end of the newest evaluated window (Unix s)."""
    progress = call(queries.progress, watched.world.id, tenant=watched.owner.tenant_id)
    return None if progress is None else progress.evaluated_s


def test_tenants_take_turns_and_the_mesh_that_waited_longest_comes_first():
    large, small = uuid4(), uuid4()
    meshes = [mesh_reports(large, looked_at_s=number) for number in range(40)]
    meshes.append(mesh_reports(small, looked_at_s=100))
    turns = list(rounds._in_turn([rounds._Turn(mesh, 110) for mesh in meshes]))
    assert [(turn[0].reports.tenant_id, len(turn)) for turn in turns] == [
        (large, 16),
        (small, 1),
        (large, 16),
        (large, 8),
    ]
    assert [turn.reports.looked_at_s for turn in turns[0]] == list(range(16))


def mesh_reports(tenant_id: UUID, looked_at_s: float) -> MeshReports:
    return MeshReports(tenant_id, uuid4(), 10, 120, [BlockReports(110, 10, 111)], 100, looked_at_s)


@pytest.mark.whole_store
def test_missed_windows_are_evaluated_in_order_at_their_place(watched: Watched):
    watched.started_at_s -= 400
    watched.window()
    watched.report(12)
    spike_s = watched.report(3, slow=egress(watched, 1))
    watched.report(10, slow={})
    tasks.evaluate()  # more windows than are evaluated in one turn
    incident = watched.incident()
    opened = datetime.fromisoformat(incident["opened_at"]).timestamp()
    assert spike_s - 20 <= opened <= spike_s
    assert "late" in [entry["kind"] for entry in incident["timeline"]]


@pytest.mark.whole_store
@pytest.mark.parametrize(("later_s", "incidents"), [(0, 1), (200, 0)])
def test_windows_before_the_first_evaluation_of_a_mesh_are_evaluated_unless_they_were_imported(
    watched: Watched, later_s: int, incidents: int
):
    watched.report(3, slow=egress(watched, 1))
    watched.report(3, slow={})
    execute("UPDATE probe_frames SET received_at = started_at + make_interval(secs => :s)", {"s": later_s + 11})
    tasks.evaluate()
    assert len(watched.incidents()) == incidents


@pytest.mark.whole_store
def test_a_clock_that_was_stepped_back_stops_no_evaluation(watched: Watched):
    watched.window()
    execute("UPDATE alert_states SET evaluated_until = now() + interval '1 hour'")
    execute("UPDATE path_latest SET started_at = started_at + interval '2 hours'")
    watched.slow = egress(watched, 1)
    for _ in range(2):
        ended_at_s = watched.report()
        tasks.evaluate()
    assert evaluated_until(watched) == ended_at_s
    assert len(watched.incidents()) == 1


@pytest.mark.whole_store
@pytest.mark.parametrize("reported_s_ago", [300, -3600])  # the clock of the backend was stepped back
def test_silence_of_all_agents_is_found_by_the_clock_and_path_rules_keep_their_place(
    watched: Watched, reported_s_ago: int
):
    watched.add_rule("Silent", **SILENT)
    ended_at_s = watched.report(slow=egress(watched, 1))
    watched.evaluate(ended_at_s)
    execute("UPDATE agents SET last_report_at = now() - make_interval(secs => :s)", {"s": reported_s_ago})
    execute("UPDATE alert_states SET looked_at = now() - interval '3 min', watched_since = now() - interval '1 h'")
    client().delete(presence._NOTED_AT, presence._SINCE)
    tasks.evaluate()
    assert [one["culprit"]["suspect"] for one in watched.incidents()] == ["mesh"]
    assert evaluated_until(watched) == ended_at_s
    watched.evaluate(watched.report())  # the second of two windows in breach: no empty ones lie between
    assert {one["culprit"]["suspect"] for one in watched.incidents()} == {"mesh", "egress"}


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
    watched.windows(3, egress(watched, 0))
    (incident,) = watched.incidents()
    assert incident["culprit"]["suspect"] == "egress"
    assert always_measured(0) == set(names[1:])
    assert names[0] in always_measured(1)
    watched.calm()
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
