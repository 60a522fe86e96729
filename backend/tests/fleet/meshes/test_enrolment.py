from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from sinemora.access.tenants import quotas
from sinemora.access.tenants.access import SESSION_COOKIE, cookie_name
from sinemora.fleet.meshes import queries
from sinemora.kit.db import tenant_session
from tests.api_clients import Caller, MakeMesh, Member, SetTo, body_of, code_of, enrol, enrolment
from tests.statements import execute, scalar, scalars
from tests.waits import WAIT_MOST_S, until


@pytest.fixture
def mesh(owner: Member) -> dict[str, Any]:
    return owner.created("/v1/meshes", {"name": "demo"})


def token(owner: Member, mesh: dict[str, Any], **options: Any) -> str:
    return str(owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"], **options})["token"])


def body(token: str, name: str = "a-1", **changes: Any) -> dict[str, Any]:
    return enrolment(token, name, "a", "10.0.0.1") | changes


def opened_at(public_url: str, owner: Member, set_to: SetTo) -> Member:
    """Set the public URL, and return the owner with the cookie that has the name of its port."""
    session = owner.cookies[cookie_name(SESSION_COOKIE)]
    set_to(public_url=public_url)
    return replace(owner, cookies={cookie_name(SESSION_COOKIE): session})


def test_the_command_is_the_one_to_paste(owner: Member, mesh: dict[str, Any], set_to: SetTo):
    for public_url, shown in (
        ("https://net.example", "https://net.example --token {token}"),
        ("http://10.0.0.9:8420", "http://10.0.0.9:8420 --token {token} --insecure-http"),
        ("http://[::1]:8420", "http://[::1]:8420 --token {token}"),
        ("http://localhost:8420", "http://localhost:8420 --token {token}"),
        # Not configured: the way the page was opened.
        ("http://127.0.0.1:8420", "http://testserver --token {token} --insecure-http"),
    ):
        owner = opened_at(public_url, owner, set_to)
        created = owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})
        assert created["token"].startswith("sme_")
        assert created["command"] == "sinemora-agent run --backend " + shown.format(token=created["token"])


def test_the_install_line_is_there_when_there_are_packages(
    owner: Member, mesh: dict[str, Any], set_to: SetTo, tmp_path: Path
):
    owner = opened_at("https://net.example", owner, set_to)
    set_to(packages_dir=str(tmp_path))
    assert owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})["install_command"] is None
    (tmp_path / "install.sh").write_text("")
    pin = f"sha256//{'A' * 43}="
    for own, curl, address, rest in (
        ({}, "curl -fsSL https://net.example", "https://net.example", ""),
        (
            {"agents_url": "https://10.0.0.9:8430", "agents_pin": pin},
            f"curl -fsSL --insecure --pinnedpubkey {pin} https://10.0.0.9:8430",
            "https://10.0.0.9:8430",
            f" --ca-pin {pin}",
        ),
    ):
        set_to(**own)
        created = owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"]})
        line = f"{curl}/packages/install.sh | sudo sh -s -- --backend {address} --token {created['token']}{rest}"
        assert created["install_command"] == line


def test_enrolling_makes_vm_zone_and_membership(owner: Member, mesh: dict[str, Any], http: TestClient):
    agent = enrol(http, token(owner, mesh), "a-1", "west", "10.0.0.7")
    vm = owner.get(f"/v1/vms/{agent.vm_id}").json()
    assert (vm["name"], vm["zone"]["name"], vm["probe_address"], vm["key"]) == ("a-1", "west", "10.0.0.7", agent.vm_key)
    assert vm["agent"]["status"] == "enrolled"
    assert [entry["name"] for entry in owner.get(f"/v1/meshes/{mesh['id']}/roster").json()["vms"]] == ["a-1"]
    plan = agent.get("/v1/agents/self/plan").json()
    assert (plan["vm_key"], plan["agent_id"]) == (agent.vm_key, str(agent.agent_id))


def test_a_token_is_used_once(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh)
    assert client.post("/v1/agents/enrol", json=body(secret)).status_code == 201
    assert code_of(client.post("/v1/agents/enrol", json=body(secret, "b-1"))) == (401, "enrolment_token_used")
    assert [vm["name"] for vm in owner.get("/v1/vms").json()["items"]] == ["a-1"]  # all or nothing


def test_many_at_once_use_a_token_as_often_as_it_says(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh, max_uses=4)

    def join(n: int) -> int:
        return client.post("/v1/agents/enrol", json=body(secret, f"vm-{n}")).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(join, range(8)))
    assert answers == [201] * 4 + [401] * 4
    assert owner.get("/v1/enrolment-tokens").json()["items"][0]["uses"] == 4
    assert owner.get(f"/v1/meshes/{mesh['id']}").json()["vm_count"] == 4


def test_an_agent_waits_for_its_turn(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh)
    with ThreadPoolExecutor(1) as pool:
        with tenant_session(owner.tenant_id) as session:
            quotas.lock(session)
            answer = pool.submit(client.post, "/v1/agents/enrol", json=body(secret))
            wait([answer], 5)  # longer than other statements wait for a lock
        assert answer.result(WAIT_MOST_S).status_code == 201


def test_many_tokens_at_once_share_a_new_zone(client: Caller, owner: Member, mesh: dict[str, Any]):
    secrets = [token(owner, mesh) for _ in range(6)]

    def join(n: int) -> int:
        return client.post("/v1/agents/enrol", json=body(secrets[n], f"vm-{n}")).status_code

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(join, range(6))) == [201] * 6
    assert len(owner.get("/v1/zones").json()["items"]) == 1


def test_the_provider_s_name_of_a_place_decides_which_zone_it_is(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh, max_uses=5)

    def zone_of(vm: str, name: str, physical_id: str | None) -> tuple[str, str | None]:
        zone_body = {"provider": "aws", "region": "eu-west-1", "name": name, "physical_id": physical_id}
        result = client.post("/v1/agents/enrol", json=body(secret, vm, zone=zone_body))
        zone = owner.get(f"/v1/vms/{result.json()['vm_id']}").json()["zone"]
        return zone["name"], zone["physical_id"]

    assert zone_of("vm-1", "eu-west-1a", None) == ("eu-west-1a", None)
    assert zone_of("vm-2", "eu-west-1a", "euw1-az3") == ("eu-west-1a", "euw1-az3")  # and is told so from now on
    # Another account calls that place b, and another place a.
    assert zone_of("vm-3", "eu-west-1b", "euw1-az3") == ("eu-west-1a", "euw1-az3")
    assert zone_of("vm-4", "eu-west-1a", "euw1-az1") == ("eu-west-1a (euw1-az1)", "euw1-az1")
    assert zone_of("vm-5", "eu-west-1a", "euw1-az1") == ("eu-west-1a (euw1-az1)", "euw1-az1")
    assert len(owner.get("/v1/zones").json()["items"]) == 2


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("UPDATE enrolment_tokens SET expires_at = now()", "enrolment_token_expired"),
        ("DELETE FROM enrolment_tokens", "enrolment_token_unknown"),
    ],
)
def test_tokens_end(client: Caller, owner: Member, mesh: dict[str, Any], sql: str, code: str):
    secret = token(owner, mesh)
    execute(sql)
    assert code_of(client.post("/v1/agents/enrol", json=body(secret))) == (401, code)


def test_a_vm_has_one_agent(client: Caller, owner: Member, mesh: dict[str, Any]):
    first = client.post("/v1/agents/enrol", json=body(token(owner, mesh))).json()
    second = token(owner, mesh)
    assert code_of(client.post("/v1/agents/enrol", json=body(second))) == (409, "vm_has_agent")
    owner.post(f"/v1/agents/{first['agent_id']}/revoke")
    again = client.post("/v1/agents/enrol", json=body(second)).json()
    assert (again["vm_id"], again["vm_key"]) == (first["vm_id"], first["vm_key"])
    assert again["agent_id"] != first["agent_id"]


def reported(agent: dict[str, Any], ago_s: float) -> None:
    """Let an agent have reported a while ago."""
    at = datetime.now(UTC) - timedelta(seconds=ago_s)
    execute("UPDATE agents SET last_report_at = :at WHERE id = :id", {"at": at, "id": agent["agent_id"]})


def test_a_new_machine_gets_the_name_of_one_that_is_silent(client: Caller, owner: Member, mesh: dict[str, Any]):
    first = client.post("/v1/agents/enrol", json=body(token(owner, mesh))).json()
    reported(first, 5)
    again = body(token(owner, mesh))
    assert code_of(client.post("/v1/agents/enrol", json=again)) == (409, "vm_has_agent")
    reported(first, 3600)
    second = client.post("/v1/agents/enrol", json=again).json()
    assert second["vm_id"] == first["vm_id"]
    gone = client.http.get("/v1/agents/self/plan", headers={"Authorization": f"Bearer {first['credential']}"})
    assert gone.json()["code"] == "agent_revoked"


def test_an_address_belongs_to_one_vm(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh, max_uses=9)
    fan1, fan2 = (
        client.post("/v1/agents/enrol", json=body(secret, name, probe_address=address)).json()
        for name, address in (("fan1", "10.0.0.1"), ("fan2", "10.0.0.2"))
    )
    reported(fan2, 5)
    new = body(secret, "fan2-replacement", probe_address="10.0.0.2")
    refused = client.post("/v1/agents/enrol", json=new)
    assert (refused.status_code, refused.json()["code"]) == (409, "address_in_use")
    assert "belongs to fan2, which reports" in refused.json()["detail"]
    # Another port of the address is another agent of one machine.
    assert client.post("/v1/agents/enrol", json=new | {"hostname": "beside", "event_port": 5319}).status_code == 201
    reported(fan2, 3600)
    replacement = client.post("/v1/agents/enrol", json=new).json()
    assert owner.get(f"/v1/vms/{fan2['vm_id']}").json()["probe_address"] is None
    for agent in (fan2, replacement):
        events = owner.get(f"/v1/agents/{agent['agent_id']}/events").json()["items"]
        message = "the address 10.0.0.2:20319 of fan2, which does not report, belongs to fan2-replacement now"
        assert [(event["kind"], event["detail"]["message"]) for event in events] == [("address_taken", message)]
    plan = client.http.get("/v1/agents/self/plan", headers={"Authorization": f"Bearer {fan1['credential']}"}).json()
    assert [peer["name"] for peer in plan["meshes"][0]["peers"]] == ["beside", "fan2-replacement"]
    # The VM that had it comes back: it is told, and gets an address of its own.
    reported(replacement, 5)
    credential = {"Authorization": f"Bearer {fan2['credential']}"}
    back = client.http.patch("/v1/agents/self", json={"probe_address": "10.0.0.2"}, headers=credential)
    assert (back.status_code, back.json()["code"]) == (409, "address_in_use")
    moved = client.http.patch("/v1/agents/self", json={"probe_address": "10.0.0.3"}, headers=credential)
    assert moved.status_code == 200


def test_a_lost_answer_costs_no_token(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh)
    lost = client.post("/v1/agents/enrol", json=body(secret)).json()
    again = body_of(client.post("/v1/agents/enrol", json=body(secret)))
    assert again["credential"] != lost["credential"]
    headers = {"Authorization": f"Bearer {lost['credential']}"}
    assert client.get("/v1/agents/self/plan", headers=headers).json()["code"] == "agent_revoked"
    reported(again, 0)
    assert client.post("/v1/agents/enrol", json=body(secret)).status_code in (401, 409)  # no longer a lost answer


def test_nonsense_is_refused(client: Caller, owner: Member, mesh: dict[str, Any]):
    secret = token(owner, mesh)
    for changes, pointer in (
        ({"probe_address": "0.0.0.0"}, "#/probe_address"),
        ({"probe_address": "255.255.255.255"}, "#/probe_address"),
        ({"probe_address": "fe80::1"}, "#/probe_address"),
        ({"probe_address": "169.254.0.1"}, "#/probe_address"),
        ({"event_port": 20320}, "#"),
        ({"zone": {"provider": "p", "region": "r"}}, "#/zone/name"),
    ):
        answer = client.post("/v1/agents/enrol", json=body(secret, **changes))
        assert answer.status_code == 422
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_what_a_newer_agent_adds_is_left_aside(client: Caller, owner: Member, mesh: dict[str, Any]):
    newer = body(token(owner, mesh), something_newer={"a": 1})
    newer["zone"]["placement_group"] = "x"
    assert client.post("/v1/agents/enrol", json=newer).status_code == 201


def test_secrets_are_kept_as_digests(owner: Member, make_mesh: MakeMesh):
    agent = make_mesh(owner, 1).agents[0]
    tables = "SELECT row_to_json(a)::text FROM agents a UNION ALL SELECT row_to_json(t)::text FROM enrolment_tokens t"
    rows = scalars(tables, tenant=owner.tenant_id)
    credential = agent.headers["Authorization"].removeprefix("Bearer ")
    assert len(rows) == 2
    assert all(credential not in row and credential.encode().hex() not in row for row in rows)


def test_a_token_for_an_unknown_mesh_is_not_made(owner: Member, other_owner: Member, mesh: dict[str, Any]):
    for caller, mesh_id in ((owner, str(uuid4())), (other_owner, mesh["id"])):
        assert code_of(caller.post("/v1/enrolment-tokens", json={"mesh_id": mesh_id})) == (404, "mesh_unknown")


def test_a_mesh_that_is_changed_while_it_grows_is_changed_after_that(owner: Member, mesh: dict[str, Any]):
    """An enrolment takes the lock for growth, then changes the mesh: a PATCH may not hold the mesh by then."""
    agent = enrol(owner.http, token(owner, mesh), "a-1", "a", "10.0.0.1")
    other = owner.created("/v1/meshes", {"name": "other"})
    with ThreadPoolExecutor(1) as pool:
        with tenant_session(owner.tenant_id) as session:
            quotas.lock(session)
            changed = pool.submit(owner.patch, f"/v1/meshes/{other['id']}", json={"window_s": 2})
            until(_waits_for_growth, "the PATCH waits")
            assert queries.join_mesh(session, UUID(other["id"]), agent.vm_id)
            session.flush()
        assert changed.result(WAIT_MOST_S).status_code == 200


def _waits_for_growth() -> bool:
    waiting = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory'"
    return bool(scalar(f"{waiting} AND NOT granted AND d.datname = current_database()"))
