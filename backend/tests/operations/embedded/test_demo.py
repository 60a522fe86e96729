"""The demonstration: who its machines are, and that the mesh is made of exactly them, whatever was there before."""

import socket
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.kit.db import tenant_session
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.demo import machines as demo
from sinemora.operations.embedded.demo.programs import write_relay_file
from sinemora.operations.embedded.first_run import prepare
from tests import api_clients
from tests.api_clients import Member, body_of

NET = "127.20.9"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    (tmp_path / "demo").mkdir()
    return DataFolder(tmp_path)


def names(count: int) -> list[str]:
    return [machine.name for machine in demo.machines(count, DataFolder(Path("/data")), NET)]


def test_machines_fill_three_zones_in_turn_and_keep_their_names_when_there_are_more() -> None:
    assert names(6) == ["a-1", "b-1", "c-1", "a-2", "b-2", "c-2"]
    assert names(64)[:6] == names(6)
    many = demo.machines(64, DataFolder(Path("/data")), NET)
    assert len({address for machine in many for address in (machine.address, machine.probe_address)}) == 128


def test_a_data_folder_chosen_by_hand_has_addresses_of_its_own() -> None:
    first, second = DataFolder(Path("/srv/one")), DataFolder(Path("/srv/other"))
    assert demo.network_of(first, chosen=False) == demo.network_of(second, chosen=False) == "127.20.0"
    assert len({demo.network_of(first, chosen=True), demo.network_of(second, chosen=True), "127.20.0"}) == 3


def test_ports_are_kept_and_others_are_taken_when_they_are_not_free(folder: DataFolder) -> None:
    first = demo.free_event_port(3, folder, NET)
    assert demo.free_event_port(3, folder, NET) == first
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((f"{NET}.2", first + 1))
        second = demo.free_event_port(3, folder, NET)
    assert second != first
    assert demo.free_event_port(3, folder, NET) == second


def test_every_machine_is_a_host_of_the_relay_and_every_pair_of_zones_has_its_delay(tmp_path: Path) -> None:
    simulated = demo.machines(6, DataFolder(tmp_path), NET, 20319)
    write_relay_file(simulated, tmp_path / "demo" / "relay.toml")
    relay = tomllib.loads((tmp_path / "demo" / "relay.toml").read_text())
    assert relay["ports"] == [20319, 20320, 20322]
    assert [host["inner"] for host in relay["hosts"]] == [machine.address for machine in simulated]
    assert [host["outer"] for host in relay["hosts"]] == [machine.probe_address for machine in simulated]
    pairs = {(link["from"], link["to"]) for link in relay["links"]}
    assert pairs == {("*", "*"), *((one, other) for one in "abc" for other in "abc" if one != other)}


def test_zones_without_machines_have_no_links(tmp_path: Path) -> None:
    write_relay_file(demo.machines(2, DataFolder(tmp_path), NET, 20319), tmp_path / "relay.toml")
    relay = tomllib.loads((tmp_path / "relay.toml").read_text())
    assert {(link["from"], link["to"]) for link in relay["links"]} == {("*", "*"), ("a", "b"), ("b", "a")}


@pytest.fixture
def run(owner: Member) -> Callable[[dict[str, str]], tuple[str, list[str]]]:
    actor = Actor(owner.tenant_id, owner.tenant_key, "any", "user", owner.user_id, owner.email, Role.owner)

    def prepared(identities: dict[str, str]) -> tuple[str, list[str]]:
        with tenant_session(owner.tenant_id) as session:
            return prepare(session, actor, identities)

    return prepared


Run = Callable[[dict[str, str]], tuple[str, list[str]]]


def enrol(owner: Member, token: str, name: str) -> str:
    """Enrol a machine of the demonstration; return the id of its agent."""
    zone = {"provider": demo.PROVIDER, "region": demo.REGION, "name": name[0]}
    body = api_clients.enrolment(token, name, name[0], f"{NET}.1") | {"zone": zone}
    return str(body_of(owner.http.post("/v1/agents/enrol", json=body))["agent_id"])


def members(owner: Member) -> list[str]:
    mesh = next(mesh for mesh in owner.get("/v1/meshes").json()["items"] if mesh["name"] == demo.MESH)
    return [vm["name"] for vm in owner.get(f"/v1/meshes/{mesh['id']}/roster").json()["vms"]]


def test_fewer_machines_leave_the_mesh_and_come_back_as_they_were(owner: Member, run: Run) -> None:
    token, unenrolled = run({"a-1": "", "b-1": "", "c-1": ""})
    assert unenrolled == ["a-1", "b-1", "c-1"]
    known = {name: enrol(owner, token, name) for name in unenrolled}
    assert run({name: known[name] for name in ("a-1", "b-1")}) == ("", [])
    assert members(owner) == ["a-1", "b-1"]
    assert run(known) == ("", [])
    assert members(owner) == ["a-1", "b-1", "c-1"]


def test_a_machine_whose_identity_was_lost_can_enrol_again(owner: Member, run: Run) -> None:
    token, _ = run({"a-1": "", "b-1": ""})
    known = {name: enrol(owner, token, name) for name in ("a-1", "b-1")}
    token, unenrolled = run(known | {"a-1": ""})
    assert unenrolled == ["a-1"]
    assert enrol(owner, token, "a-1") != known["a-1"]


def test_meshes_and_machines_of_others_are_left_alone(owner: Member, run: Run) -> None:
    world = api_clients.make_mesh(owner, 2, "mine")
    run({"a-1": ""})
    assert len(owner.get(f"/v1/meshes/{world.id}/roster").json()["vms"]) == 2
