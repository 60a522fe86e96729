"""Measurements on demand: who may start which, what agents get, and what readers see of each second."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from sinemora.fleet.meshes import watch
from sinemora.kit.redis import client
from sinemora.measurements.live.publisher import STREAMS
from sinemora.measurements.on_demand import service
from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, bare_vm, body_of, code_of
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple
from tests.statements import execute


def able(agent: AgentCaller) -> None:
    """Describe an agent as one that measures on demand."""
    description = {"features": ["on_demand", "path_probes"]}
    body_of(agent.patch("/v1/agents/self", json={"agent_version": "0.2", "description": description}))


@pytest.fixture
def mesh(owner: Member, make_mesh: MakeMesh) -> MeshWorld:
    """A mesh of three connected agents that measure on demand."""
    world = make_mesh(owner, 3)
    for at, agent in enumerate(world.agents):
        able(agent)
        peer = world.agents[at - 1]
        sent(agent, report_of(world.key, {peer.vm_key: simple(50_000)}))
    return world


def path_of(mesh: MeshWorld, source: int = 0, target: int = 1) -> dict[str, Any]:
    return {
        "mesh_id": str(mesh.id),
        "source_vm_id": str(mesh.agents[source].vm_id),
        "target_vm_id": str(mesh.agents[target].vm_id),
    }


URL = "/v1/on-demand-measurements"
WINDOWS = "/v1/agents/self/on-demand-windows"


def url_of(id: str) -> str:
    return f"{URL}/{id}"


def second(key: int, started_at: datetime, **changes: Any) -> dict[str, Any]:
    """Return a second of four exchanges: the third lost its request, the fourth its response."""
    return {
        "key": key,
        "started_at_s": round(started_at.timestamp()),
        "ports": [319],
        "at_ns": [0, 250_000_000, 500_000_000, 750_000_000],
        "flow": [0, 0, 0, 0],
        "outbound_ns": [100, 300, None, 200],
        "inbound_ns": [1000, 1200, None, None],
        "outbound_lost": [False, False, True, False],
        "inbound_lost": [False, False, None, True],
        "clock_error_ns": 40,
        "by_hardware": False,
        **changes,
    }


def begun(mesh: MeshWorld, **changes: Any) -> tuple[dict[str, Any], int, datetime]:
    """Start a measurement of the first path; return it, its key for the agents, and its start."""
    made = mesh.owner.created(URL, path_of(mesh) | changes)
    return made, entry_of(mesh.agents[0])["key"], datetime.fromisoformat(made["starts_at"])


def entry_of(agent: AgentCaller) -> dict[str, Any]:
    """Return the measurement on demand of an agent's plan."""
    (entry,) = agent.get("/v1/agents/self/plan").json()["on_demand"]
    return dict(entry)


def test_both_agents_get_the_measurement_and_no_other(owner: Member, mesh: MeshWorld):
    body = {**path_of(mesh), "rate_hz": 64, "duration_s": 30, "source_ports": 4}
    before = [agent.get("/v1/agents/self/plan").headers["ETag"] for agent in mesh.agents]
    asked_at = datetime.now(UTC)
    made = owner.created(URL, body)
    assert (made["status"], made["seconds"], made["source"]["name"]) == ("waiting", 0, mesh.agents[0].name)
    starts, ends = (datetime.fromisoformat(made[name]) for name in ("starts_at", "ends_at"))
    assert ends - starts == timedelta(seconds=30)
    assert timedelta(seconds=3) < starts - asked_at
    assert starts - datetime.now(UTC) < timedelta(seconds=4)
    client, responder = entry_of(mesh.agents[0]), entry_of(mesh.agents[1])
    assert (client["rate_hz"], client["peer"]["flows"]) == (16, 4)
    assert client["starts_at_ns"] == round(starts.timestamp()) * 10**9
    assert (client["peer"]["role"], responder["peer"]["role"]) == ("client", "responder")
    assert client["peer"]["vm_key"] == mesh.agents[1].vm_key
    assert responder["peer"]["vm_key"] == mesh.agents[0].vm_key
    assert mesh.agents[2].get("/v1/agents/self/plan").headers["ETag"] == before[2]
    after = [agent.get("/v1/agents/self/plan").headers["ETag"] for agent in mesh.agents]
    assert [tag.partition("-")[0].strip('"') for tag in after] == [tag.strip('"') for tag in before]
    assert after[:2] != before[:2]


def test_a_measurement_that_is_stopped_or_over_leaves_the_plans(owner: Member, mesh: MeshWorld):
    made = owner.created(URL, path_of(mesh))
    stopped = owner.post(url_of(made["id"]) + "/stop")
    assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")
    assert owner.post(url_of(made["id"]) + "/stop").json()["stopped_at"] == stopped.json()["stopped_at"]
    assert mesh.agents[0].get("/v1/agents/self/plan").json()["on_demand"] == []
    again = owner.created(URL, path_of(mesh))
    age(again["id"], timedelta(seconds=90))
    assert mesh.agents[0].get("/v1/agents/self/plan").json()["on_demand"] == []
    assert owner.get(url_of(again["id"])).json()["status"] == "no_data"


def age(id: str, by: timedelta) -> None:
    """Move a measurement into the past."""
    execute(
        "UPDATE on_demand_measurements SET starts_at = starts_at - :by, ends_at = ends_at - :by WHERE id = :id",
        {"by": by, "id": id},
    )


def test_readers_see_each_second_and_every_exchange(owner: Member, mesh: MeshWorld):
    made, key, starts = begun(mesh)
    for at in (0, 1):
        for _ in range(2):  # again changes nothing
            body = second(key, starts + timedelta(seconds=at))
            assert mesh.agents[0].post(WINDOWS, json=body).status_code == 204
    result = owner.get(url_of(made["id"])).json()
    assert (result["status"], result["seconds"]) == ("running", 2)
    first = result["windows"][0]
    assert (first["sent"], first["clock_error_ns"]) == (4, 40)
    outbound = {"measured": 3, "lost": 1, "unknown": 0, "min_ns": 100, "p50_ns": 200, "p99_ns": 300, "max_ns": 300}
    assert first["outbound"] == outbound
    assert first["inbound"] | {"p50_ns": 0} == {
        **{"measured": 2, "lost": 1, "unknown": 1, "min_ns": 1000, "p50_ns": 0, "p99_ns": 1200, "max_ns": 1200}
    }
    assert (first["round_trip"]["measured"], first["round_trip"]["lost"], first["round_trip"]["max_ns"]) == (2, 2, 1500)
    assert (result["outbound"]["measured"], result["outbound"]["lost"]) == (6, 2)
    answer = owner.get(url_of(made["id"]) + "/exchanges")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 8
    assert rows[1]["started_at_ns"] == str(round(starts.timestamp()) * 10**9 + 250_000_000)
    assert (rows[1]["outbound_ns"], rows[1]["inbound_ns"], rows[1]["round_trip_ns"]) == ("300", "1200", "1500")
    assert (rows[2]["outbound_ns"], rows[2]["outbound_lost"], rows[2]["inbound_lost"]) == ("", "1", "")
    (listed,) = owner.get(URL, params={"source_vm_id": str(mesh.agents[0].vm_id)}).json()["items"]
    assert (listed["id"], listed["seconds"]) == (made["id"], 2)
    assert owner.get(URL, params={"source_vm_id": str(mesh.agents[1].vm_id)}).json()["items"] == []


def test_delays_are_from_source_to_target_also_if_the_target_sends(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 2)
    able(world.agents[1])
    for agent, peer in (world.agents, world.agents[::-1]):
        sent(agent, report_of(world.key, {peer.vm_key: simple(50_000)}))
    made = owner.created(URL, path_of(world))
    key, starts = entry_of(world.agents[1])["key"], datetime.fromisoformat(made["starts_at"])
    assert entry_of(world.agents[0])["peer"]["role"] == "responder"
    body = second(key, starts)
    # Only the agent that sends the requests reports.
    assert world.agents[0].post("/v1/agents/self/on-demand-windows", json=body).status_code == 404
    assert world.agents[1].post("/v1/agents/self/on-demand-windows", json=body).status_code == 204
    result = owner.get(url_of(made["id"])).json()
    assert (result["inbound"]["min_ns"], result["outbound"]["min_ns"]) == (100, 1000)


def test_a_sweep_names_the_ports_of_each_path_and_advises_the_faster_ones(owner: Member, mesh: MeshWorld):
    made, key, starts = begun(mesh, source_ports=16, rate_hz=128)
    flow, ports = [*range(16)] * 24, [319, *range(40001, 40016)]
    changes = {
        "ports": ports,
        "at_ns": [at * 2_500_000 for at in range(384)],
        "flow": flow,
        # Port 40002 takes a path that is 80 µs longer, and back all ports take one.
        "outbound_ns": [100_000 + at * 10 + 80_000 * (port == 2) for at, port in enumerate(flow)],
        "inbound_ns": [90_000 + at * 10 for at in range(384)],
        "outbound_lost": [False] * 384,
        "inbound_lost": [False] * 384,
    }
    url = "/v1/meshes/{mesh_id}/paths/{source_vm_id}/{target_vm_id}/source-ports"
    nothing = owner.get(url.format_map(path_of(mesh))).json()
    assert (nothing["faster"], nothing["sweeps"], nothing["words"].partition(":")[0]) == ([], 0, "No sweep yet")
    for at in (0, 1):
        body = second(key, starts + timedelta(seconds=at), **changes)
        assert mesh.agents[0].post("/v1/agents/self/on-demand-windows", json=body).status_code == 204
    others = [port for port in ports if port != 40002]
    result = owner.get(url_of(made["id"])).json()
    assert [path["ports"] for path in result["outbound_paths"]] == [others, [40002]]
    assert result["outbound_paths"][1]["slower_by_ns"] == pytest.approx(80_000, abs=500)
    assert [path["ports"] for path in result["inbound_paths"]] == [ports]
    advice = owner.get(url.format_map(path_of(mesh))).json()
    assert advice["faster"] == others
    assert advice["faster_by_ns"] == pytest.approx(80_000, abs=500)
    assert (advice["agreeing"], advice["sweeps"], advice["since"]) == (1, 1, made["starts_at"])
    assert "µs faster than the others, by 1 of 1 sweeps" in advice["words"]
    assert owner.get(url.format_map(path_of(mesh, 1, 0))).json()["sweeps"] == 0  # these were no ports of the other VM


PROBED = {
    "outbound_ecn": [2, 3, None, 0],
    "inbound_ecn": [2, 2, None, None],
    "outbound_reversed": [None, True, None, None],
    "inbound_reversed": [None, False, None, None],
}


def test_readers_see_marks_and_order_of_both_directions(owner: Member, mesh: MeshWorld):
    made, key, starts = begun(mesh, ecn=True, reordering=True)
    assert (made["ecn"], made["reordering"]) == (True, True)
    for agent in mesh.agents[:2]:
        assert (entry_of(agent)["ecn"], entry_of(agent)["reordering"]) == (True, True)
    send = mesh.agents[0].post
    assert send(WINDOWS, json=second(key, starts, **PROBED)).status_code == 204
    # A second in which the socket of an agent did not read the field.
    assert send(WINDOWS, json=second(key, starts + timedelta(seconds=1))).status_code == 204
    result = owner.get(url_of(made["id"])).json()
    outbound = {"ecn_known": 3, "ce": 1, "cleared": 1, "altered": 0, "pairs": 1, "reversed": 1}
    assert result["outbound_probes"] == outbound
    assert result["inbound_probes"] == outbound | {"ecn_known": 2, "ce": 0, "cleared": 0, "reversed": 0}
    rows = list(csv.DictReader(io.StringIO(owner.get(url_of(made["id"]) + "/exchanges").text)))
    assert [row["outbound_ecn"] for row in rows] == ["2", "3", "", "0", "", "", "", ""]
    assert [row["inbound_reversed"] for row in rows[:2]] == ["", "0"]
    assert [row["clock_error_ns"] for row in rows] == ["40"] * 8


def test_both_agents_must_know_probes(owner: Member, mesh: MeshWorld):
    old = {"agent_version": "0.1", "description": {"features": ["on_demand"]}}
    assert mesh.agents[1].patch("/v1/agents/self", json=old).status_code == 200
    refused = owner.post(URL, json=path_of(mesh) | {"ecn": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "on_demand_agent_too_old")
    assert f"version 0.1 on {mesh.agents[1].name} cannot probe" in refused.json()["detail"]
    owner.created(URL, path_of(mesh))


def test_listeners_get_each_second_once(owner: Member, mesh: MeshWorld):
    made, key, starts = begun(mesh)
    for _ in range(2):
        mesh.agents[0].post("/v1/agents/self/on-demand-windows", json=second(key, starts))
    entries = [json.loads(fields["data"]) for _, fields in client().xrange(f"{STREAMS}{mesh.id}")]
    (event,) = [entry for entry in entries if entry.get("event") == "on_demand"]
    assert event["data"]["id"] == made["id"]
    assert event["data"]["window"] == owner.get(url_of(made["id"])).json()["windows"][0]


def test_what_agents_send_is_checked(owner: Member, mesh: MeshWorld):
    _, key, starts = begun(mesh)
    send, where = mesh.agents[0].post, WINDOWS
    assert code_of(send(where, json=second(key, starts - timedelta(seconds=1)))) == (409, "on_demand_window_outside")
    assert send(where, json=second(key, starts, flow=[0, 0, 0, 1])).status_code == 422
    assert send(where, json=second(key, starts, at_ns=[0])).status_code == 422
    assert send(where, json=second(key, starts, **PROBED | {"inbound_ecn": [2]})).status_code == 422
    assert send(where, json=second(key, starts, **PROBED | {"inbound_ecn": [4, 0, 0, 0]})).status_code == 422
    assert send(where, json=second(key + 1000, starts)).status_code == 404
    assert mesh.agents[1].post(where, json=second(key, starts)).status_code == 404


def test_refusals_say_why(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 3)
    refused = owner.post(URL, json=path_of(world))
    assert (refused.status_code, refused.json()["code"]) == (409, "on_demand_agent_silent")
    assert "has never reported" in refused.json()["detail"]
    for agent, peer in (world.agents[:2], world.agents[1::-1]):
        sent(agent, report_of(world.key, {peer.vm_key: simple(50_000)}))
    refused = owner.post(URL, json=path_of(world))
    assert refused.json()["code"] == "on_demand_agent_too_old"
    bare = bare_vm(owner, probe_address="10.9.9.9")
    owner.put(f"/v1/meshes/{world.id}/vms/{bare['id']}")
    refused = owner.post(URL, json={**path_of(world), "target_vm_id": bare["id"]})
    assert refused.json()["code"] == "on_demand_no_agent"
    assert code_of(owner.post(URL, json={**path_of(world), "target_vm_id": str(uuid4())})) == (404, "path_unknown")
    assert owner.post(URL, json=path_of(world, 0, 0)).json()["code"] == "path_unknown"
    for wrong in (
        {"duration_s": 61},
        {"rate_hz": 100},
        {"rate_hz": 8, "source_ports": 16},
        {"source_ports": 3},
        {"rate_hz": 8, "source_ports": 8, "reordering": True},
    ):
        assert owner.post(URL, json=path_of(world) | wrong).status_code == 422, wrong


def test_the_relay_of_the_demonstration_takes_one_source_port(owner: Member, mesh: MeshWorld):
    execute("UPDATE vms SET probe_address = '127.66.0.1' WHERE id = :id", {"id": mesh.agents[1].vm_id})
    assert code_of(owner.post(URL, json=path_of(mesh) | {"source_ports": 16})) == (409, "on_demand_one_port")
    assert owner.post(URL, json=path_of(mesh)).status_code == 201


def test_a_pair_and_a_tenant_have_limits(owner: Member, mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "AT_ONCE", 2)
    owner.created(URL, path_of(mesh))
    assert code_of(owner.post(URL, json=path_of(mesh, 1, 0))) == (409, "on_demand_pair_busy")
    owner.created(URL, path_of(mesh, 1, 2))
    assert code_of(owner.post(URL, json=path_of(mesh, 2, 0))) == (409, "on_demand_too_many")


def test_old_measurements_give_way(owner: Member, mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "KEPT", 2)
    ids = []
    for minutes in (4, 3, 2):
        ids.append(owner.created(URL, path_of(mesh))["id"])
        age(ids[-1], timedelta(minutes=minutes))
    kept = [item["id"] for item in owner.get(URL).json()["items"]]
    assert sorted(kept) == sorted(ids[1:])


def test_a_measurement_that_starts_while_plans_are_read_ends_in_all_plans(
    owner: Member, mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch
):
    fingerprints = watch.queries.fingerprints
    started: list[str] = []

    def then_start(*arguments: Any) -> dict[UUID, int]:
        """Return the fingerprint; a measurement starts before the next statement of the same reading."""
        found = fingerprints(*arguments)
        started.append(owner.created(URL, path_of(mesh))["id"])
        return found

    with monkeypatch.context() as patched:
        patched.setattr(watch.queries, "fingerprints", then_start)
        cached = watch._read(owner.tenant_id, None)
    stopped = owner.post(f"{url_of(started[0])}/stop")
    assert stopped.status_code in (200, 204), stopped.text
    assert watch._read(owner.tenant_id, cached).on_demand == {}
