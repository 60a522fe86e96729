import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from sinemora.fleet.inventory import agents
from sinemora.fleet.inventory.agents import AgentIdentity, ReportNote, note_reports
from sinemora.fleet.inventory.tasks import sweep
from sinemora.kit.errors import ProductError
from tests.api_clients import AgentCaller, MakeMesh, Member, MeshWorld, code_of
from tests.statements import call, execute

pytestmark = pytest.mark.agents(2)

ZONE = {"provider": "aws", "region": "eu-west-1", "name": "eu-west-1a"}


@pytest.fixture
def zone(owner: Member) -> dict[str, Any]:
    return owner.created("/v1/zones", ZONE)


@pytest.fixture
def vm(owner: Member, zone: dict[str, Any]) -> dict[str, Any]:
    return owner.created("/v1/vms", {"name": "a-1", "zone_id": zone["id"], "labels": {"team": "x"}})


def test_a_zone_from_birth_to_death(owner: Member, zone: dict[str, Any]):
    path = f"/v1/zones/{zone['id']}"
    changed = owner.patch(path, json={"physical_id": "euw1-az2"})
    assert changed.json() == zone | {"physical_id": "euw1-az2", "version": 2}
    assert owner.get(path).headers["ETag"] == '"2"'
    assert owner.delete(path).status_code == 204
    assert owner.get(path).json()["code"] == "zone_unknown"


def test_a_vm_from_birth_to_death(owner: Member, vm: dict[str, Any]):
    path = f"/v1/vms/{vm['id']}"
    assert vm["probe_address"] is None
    assert vm["agent"] is None
    assert (vm["event_port"], vm["general_port"]) == (319, 320)
    changed = owner.patch(path, json={"probe_address": "2001:DB8::1", "labels": {}}).json()
    assert (changed["probe_address"], changed["labels"]) == ("2001:db8::1", {})
    assert owner.patch(path, json={"probe_address": None}).json()["probe_address"] is None
    assert owner.delete(path).status_code == 204
    assert owner.get(path).status_code == 404


def test_vms_are_found_by_zone_and_part_of_the_name(owner: Member, zone: dict[str, Any], vm: dict[str, Any]):
    other = owner.created("/v1/zones", ZONE | {"name": "b"})
    owner.created("/v1/vms", {"name": "B_1%", "zone_id": other["id"]})

    def names(**query: Any) -> list[str]:
        return [item["name"] for item in owner.get("/v1/vms", params=query).json()["items"]]

    assert names() == ["B_1%", "a-1"]
    assert names(zone_id=other["id"]) == ["B_1%"]
    assert names(name="b_") == ["B_1%"]
    assert names(name="%") == ["B_1%"]
    assert names(name="A") == ["a-1"]


def test_nonsense_is_refused(owner: Member, zone: dict[str, Any]):
    for change, status, code in (
        ({"zone_id": str(uuid4())}, 404, "zone_unknown"),
        ({"event_port": 320}, 422, "request_invalid"),
        ({"probe_address": "224.0.1.129"}, 422, "request_invalid"),
        ({"probe_address": "host.example"}, 422, "request_invalid"),
        ({"name": "b\u0000c"}, 422, "request_invalid"),
    ):
        answer = owner.post("/v1/vms", json={"name": "b", "zone_id": zone["id"]} | change)
        assert (answer.status_code, answer.json()["code"]) == (status, code), change


def test_equal_ports_by_two_changes_are_refused(owner: Member, vm: dict[str, Any]):
    assert code_of(owner.patch(f"/v1/vms/{vm['id']}", json={"event_port": 320})) == (409, "ports_equal")


@pytest.mark.parametrize("responder", ["ieee1588", "sptp"])
def test_a_stock_master_is_declared_where_no_agent_runs(owner: Member, zone: dict[str, Any], responder: str):
    body = {"name": "clock-1", "zone_id": zone["id"], "responder": responder}
    assert code_of(owner.post("/v1/vms", json=body)) == (422, "request_invalid")
    vm = owner.created("/v1/vms", body | {"probe_address": "10.0.0.9"})
    assert vm["responder"] == responder
    assert code_of(owner.patch(f"/v1/vms/{vm['id']}", json={"probe_address": None})) == (409, "probe_address_missing")
    assert owner.patch(f"/v1/vms/{vm['id']}", json={"responder": "agent"}).json()["responder"] == "agent"


def test_the_domain_of_a_stock_master_is_one_of_ptp_and_changes_the_plan(owner: Member, zone: dict[str, Any]):
    body = {"name": "clock-2", "zone_id": zone["id"], "responder": "ieee1588", "probe_address": "10.0.0.9"}
    assert code_of(owner.post("/v1/vms", json=body | {"ptp_domain": 128})) == (422, "request_invalid")
    vm = owner.created("/v1/vms", body | {"ptp_domain": 24})
    assert vm["ptp_domain"] == 24
    mesh = owner.created("/v1/meshes", {"name": "m"})
    assert owner.put(f"/v1/meshes/{mesh['id']}/vms/{vm['id']}").status_code == 204
    before = owner.get(f"/v1/meshes/{mesh['id']}").json()["revision"]
    assert owner.patch(f"/v1/vms/{vm['id']}", json={"ptp_domain": 44}).json()["ptp_domain"] == 44
    assert owner.get(f"/v1/meshes/{mesh['id']}").json()["revision"] > before


def test_an_agent_and_a_stock_master_do_not_share_a_vm(owner: Member, mesh: MeshWorld):
    vm = owner.get(f"/v1/agents/{mesh.agents[0].agent_id}").json()["vm"]
    assert code_of(owner.patch(f"/v1/vms/{vm['id']}", json={"responder": "ieee1588"})) == (409, "vm_has_agent")


def test_a_zone_with_vms_stays(owner: Member, zone: dict[str, Any], vm: dict[str, Any]):
    assert code_of(owner.delete(f"/v1/zones/{zone['id']}")) == (409, "zone_in_use")


def test_a_vm_cannot_move_into_another_tenants_zone(owner: Member, other_owner: Member, vm: dict[str, Any]):
    theirs = other_owner.created("/v1/zones", ZONE)
    assert code_of(owner.patch(f"/v1/vms/{vm['id']}", json={"zone_id": theirs["id"]})) == (404, "zone_unknown")


def test_of_many_updates_of_one_version_one_wins(owner: Member, zone: dict[str, Any]):
    def update(n: int) -> int:
        return owner.request(
            "PATCH", f"/v1/zones/{zone['id']}", json={"physical_id": f"p{n}"}, headers={"If-Match": '"1"'}
        ).status_code

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(update, range(6)))
    assert answers == [200] + [412] * 5


def note(world: MeshWorld, number: int, at: datetime, window_s: int = 10) -> ReportNote:
    return ReportNote(world.agents[number].agent_id, at, {"spool_bytes": "0"}, "0.2.0", window_s)


def test_reports_make_an_agent_reporting(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 3)
    now = datetime.now(UTC)
    call(note_reports, [note(world, 0, now), note(world, 1, now - timedelta(minutes=2)), note(world, 0, now)])
    call(note_reports, [])
    items = {item["name"]: item["agent"] for item in owner.get("/v1/vms").json()["items"]}
    assert {name: agent["status"] for name, agent in items.items()} == {
        "a-1": "reporting",
        "b-1": "silent",
        "c-1": "enrolled",
    }
    assert items["a-1"]["agent_version"] == "0.2.0"
    agent = owner.get(f"/v1/agents/{world.agents[0].agent_id}").json()
    assert agent["health"] == {"spool_bytes": "0"}


def test_an_old_report_that_comes_late_takes_nothing_back(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 1)
    now = datetime.now(UTC)
    for at in (now, now - timedelta(hours=1)):
        call(note_reports, [note(world, 0, at)])
    assert owner.get("/v1/agents").json()["items"][0]["status"] == "reporting"
    for at in (now + timedelta(hours=1), now - timedelta(hours=1)):  # the clock was stepped back in between
        call(note_reports, [note(world, 0, at)])
    assert owner.get("/v1/agents").json()["items"][0]["status"] == "silent"


def test_a_revoked_agent_is_out_at_once(owner: Member, agent: AgentCaller):
    assert agent.get("/v1/agents/self/plan").status_code == 200
    path = f"/v1/agents/{agent.agent_id}/revoke"
    assert owner.post(path).json()["status"] == "revoked"
    assert owner.post(path).status_code == 200  # again is no error
    assert code_of(agent.get("/v1/agents/self/plan")) == (401, "agent_revoked")
    assert owner.get(f"/v1/vms/{agent.vm_id}").json()["agent"] is None


def test_agents_are_listed_by_revocation(owner: Member, make_mesh: MakeMesh):
    first, second = make_mesh(owner, 2).agents
    owner.post(f"/v1/agents/{first.agent_id}/revoke")

    def listed(query: str) -> set[str]:
        return {item["id"] for item in owner.get(f"/v1/agents{query}").json()["items"]}

    assert listed("?revoked=true") == {str(first.agent_id)}
    assert listed("?revoked=false") == {str(second.agent_id)}
    assert listed("") == {str(first.agent_id), str(second.agent_id)}


def test_a_known_agent_costs_no_query(agent: AgentCaller, monkeypatch: pytest.MonkeyPatch):
    agent.get("/v1/agents/self/plan")

    def forbidden(_: bytes) -> None:
        raise AssertionError("asked the database")

    monkeypatch.setattr(agents, "_look_up", forbidden)
    assert agent.get("/v1/agents/self/plan").status_code == 200
    monkeypatch.setattr(agents, "CACHED_S", 0.0)
    assert agent.get("/v1/agents/self/plan").status_code == 500


def test_credentials_asked_for_at_once_are_looked_up_together(monkeypatch: pytest.MonkeyPatch):
    calls: list[int] = []
    someone, refusal = (
        AgentIdentity(UUID(int=1), 1, UUID(int=2), UUID(int=3), 4),
        ProductError("agent_revoked", 401, ""),
    )

    def look_up(keys: list[bytes]) -> dict[bytes, AgentIdentity | ProductError]:
        calls.append(len(keys))
        return {key: refusal if key == b"0" else someone for key in keys}

    async def ask() -> list[object]:
        lookups = (agents._lookups.find(str(n % 50).encode()) for n in range(60))
        return await asyncio.gather(*lookups, return_exceptions=True)

    monkeypatch.setattr(agents, "_look_up", look_up)
    for _ in range(2):  # each time on an event loop of its own
        result = asyncio.run(ask())
        assert [result[0], result[50], *result[1:50], *result[51:]] == [refusal] * 2 + [someone] * 58
    assert calls == [50, 50]


def test_an_agent_tells_its_new_address(owner: Member, mesh: MeshWorld):
    first, second = mesh.agents
    answer = first.request("PATCH", "/v1/agents/self", json={"probe_address": "10.9.9.9", "agent_version": "0.3.0"})
    assert answer.status_code == 200
    assert owner.get(f"/v1/vms/{first.vm_id}").json()["probe_address"] == "10.9.9.9"
    peers = second.get("/v1/agents/self/plan").json()["meshes"][0]["peers"]
    assert [peer["address"] for peer in peers] == ["10.9.9.9"]


@pytest.mark.parametrize("body", [{"event_port": 500, "general_port": 500}, {"probe_address": "0.0.0.0"}])
def test_an_agent_telling_nonsense_is_refused(agent: AgentCaller, body: dict[str, Any]):
    assert agent.request("PATCH", "/v1/agents/self", json=body).status_code == 422


@pytest.mark.whole_store
def test_what_happened_to_an_agent_can_be_read(owner: Member, agent: AgentCaller):
    events = [
        {"kind": "clock_step", "at": "2026-11-20T12:00:00Z", "detail": {"step_ns": -5_000_000}},
        {"kind": "error", "at": "2026-11-20T12:00:01.123456789+01:00", "something_newer": 1},
    ]
    assert agent.post("/v1/agents/self/events", json={"events": events}).status_code == 204
    wrong = agent.post("/v1/agents/self/events", json={"events": [{"kind": "Made up", "at": "2026-11-20T12:00:00Z"}]})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "#/events/0/kind"
    items = owner.get(f"/v1/agents/{agent.agent_id}/events").json()["items"]
    assert [(entry["kind"], entry["detail"]) for entry in items] == [
        ("error", {}),
        ("clock_step", {"step_ns": -5_000_000}),
    ]
    execute("UPDATE agent_events SET received_at = now() - interval '31 days'")
    sweep()
    sweep()
    assert owner.get(f"/v1/agents/{agent.agent_id}/events").json()["items"] == []


def test_deleting_a_vm_ends_its_agent(owner: Member, mesh: MeshWorld):
    assert owner.delete(f"/v1/vms/{mesh.agents[0].vm_id}").status_code == 204
    assert len(owner.get("/v1/agents").json()["items"]) == 1
    assert len(owner.get(f"/v1/meshes/{mesh.id}/roster").json()["vms"]) == 1
    assert mesh.agents[0].get("/v1/agents/self/plan").json()["code"] == "agent_credential_unknown"
