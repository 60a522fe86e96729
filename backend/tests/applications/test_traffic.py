"""Applications found in traffic: what is one, what is none, and how an accepted one follows its VMs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from sinemora.access.tenants.models import Tenant
from sinemora.applications.traffic import core, tasks
from sinemora.applications.traffic.core import Changes, FollowedTask, TrafficEdge
from sinemora.kit.db import system_session
from sinemora.measurements.store.traffic_edges import WINDOW_S, ServiceRow, ServiceWindowRow, store
from tests.api_clients import MeshWorld, join, limited_key

NOW = datetime.now(UTC)
VMS = [UUID(int=n) for n in range(1, 41)]
MB = 1_000_000


def talk(client: int, server: int, port: int, size: int = MB, windows: int = 20, ago_s: int = 0, **more: int):
    """Return traffic of VM `client` with a port of VM `server`, whose last window ended `ago_s` seconds ago."""
    last = NOW - timedelta(seconds=ago_s)
    first = last - windows * core.WINDOW
    days = {"connections": windows, "days": 1} | more
    return TrafficEdge(
        VMS[client], VMS[server], port, bytes=size, windows=windows, first_at=first, last_at=last, **days
    )


def every(clients: range, server: int, port: int, size: int = MB, **more: int) -> list[TrafficEdge]:
    return [talk(client, server, port, size, **more) for client in clients if client != server]


STAR = every(range(1, 6), 0, 11211, 10 * MB)
POLLER = [talk(39, server, 9999, 2_000) for server in range(39)]
SCAN = [talk(38, vm, port, 0, windows=3, connections=3) for vm in range(6) for port in (22, 80, 5432, 6379, 11211)]


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        pytest.param(STAR, ["11211 0: 1 2 3 4 5"], id="star"),
        pytest.param(STAR + every(range(6, 9), 9, 11211), ["11211 0: 1 2 3 4 5", "11211 9: 6 7 8"], id="two of a port"),
        pytest.param(every(range(3, 8), 0, 7000) + every(range(3, 8), 1, 7000), ["7000 0 1: 3 4 5 6 7"], id="shards"),
        pytest.param([talk(2, s, 8080) for s in (4, 5, 6)], ["8080 4 5 6: 2"], id="backends of one client"),
        pytest.param([talk(a, b, 9042) for a in range(4) for b in range(a)], ["9042 0 1 2: 3"], id="peers"),
        pytest.param([talk(0, 1, 2379), talk(1, 2, 2379), talk(2, 0, 2379)], ["2379 0 1 2: "], id="peers in a ring"),
        pytest.param([*every(range(1, 9), 0, 80), talk(0, 9, 80)], ["80 0: 1 2 3 4 5 6 7 8", "80 9: 0"], id="proxy"),
        pytest.param(STAR + SCAN, ["11211 0: 1 2 3 4 5"], id="port scanner"),
        pytest.param(STAR + POLLER, ["11211 0: 1 2 3 4 5", "everywhere 9999"], id="poller"),
        pytest.param(STAR + every(range(39), 39, 514, 500), ["11211 0: 1 2 3 4 5", "everywhere 514"], id="log server"),
        pytest.param([*STAR, talk(7, 8, 22)], ["11211 0: 1 2 3 4 5", "everywhere 22"], id="ssh"),
        pytest.param([*STAR, talk(6, 0, 11211, windows=1)], ["11211 0: 1 2 3 4 5"], id="once"),
        pytest.param([*STAR, talk(6, 0, 11211, 4_000, 2)], ["11211 0: 1 2 3 4 5"], id="a client of a moment"),
        pytest.param(
            every(range(1, 4), 0, 8443, 0, connections=900), ["8443 0: 1 2 3"], id="short connections without bytes"
        ),
        pytest.param(STAR + every(range(6, 9), 9, 443, ago_s=2 * 86_400), ["11211 0: 1 2 3 4 5"], id="long gone"),
    ],
)
def test_applications_in_traffic(edges: list[TrafficEdge], found: list[str]):
    place = {vm: str(at) for at, vm in enumerate(VMS)}
    shown = []
    for one in core.proposals(edges, len(VMS)):
        servers, clients = (" ".join(place[vm] for vm in vms) for vms in (one.servers, one.clients))
        shown.append(f"everywhere {one.port}" if one.everywhere else f"{one.port} {servers}: {clients}")
        assert sum(one.weights.values()) == pytest.approx(1)
    assert sorted(shown) == sorted(found)


def test_growth_leaves_a_proposal_the_one_that_was_decided_on():
    before = core.proposals(every(range(3, 8), 0, 7000) + every(range(3, 8), 1, 7000), len(VMS))
    grown = [edge for server in (0, 1, 2) for edge in every(range(3, 12), server, 7000)]
    after = core.proposals(grown + every(range(20, 25), 30, 7000), len(VMS))
    assert core.matching(after, 7000, before[0].servers) == max(after, key=lambda one: len(one.servers))
    assert core.matching(after, 7001, before[0].servers) is None


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({}, "memcached on vm-1 and 1 more"),
        ({1: {"app": "sessions"}, 2: {"app": "sessions", "role": "x"}}, "sessions memcached"),
        ({1: {"app": "sessions"}, 2: {"app": "carts"}}, "memcached on vm-1 and 1 more"),
        ({1: {"app": "memcached"}, 2: {"app": "memcached"}}, "memcached"),
    ],
)
def test_a_proposal_is_named_after_port_and_labels(labels: dict[int, dict[str, str]], name: str):
    (one,) = core.proposals(every(range(3, 8), 0, 11211) + every(range(3, 8), 1, 11211), len(VMS))
    names = {vm: f"vm-{vm.int}" for vm in VMS}
    assert one.name(names, {UUID(int=n): of_vm for n, of_vm in labels.items()}) == name
    assert one.curve == "memcached-server"


def held(vm: int | None, **more: Any) -> FollowedTask:
    more = {"serves": vm == 0, "pinned": False} | more
    return FollowedTask(UUID(int=100 + (99 if vm is None else vm)), None if vm is None else VMS[vm], **more)


THREE = held(0), held(1), held(2)
TASK = {n: UUID(int=100 + n) for n in range(100)}


def case(words: str, *edges: TrafficEdge, at: Any = THREE, moves: Any = (), **changed: list[int]):
    """Return a case of traffic, of tasks that are known, and of the changes that follow, by default none.

    `moves`: the new VM by task; `adds`: VMs, `waits` and `removes`: tasks.
    """
    adds, waits, removes = (changed.get(name, []) for name in ("adds", "waits", "removes"))
    moved = {TASK[task]: VMS[vm] for task, vm in dict(moves).items()}
    changes = Changes(moved, [VMS[vm] for vm in adds], [TASK[task] for task in waits], [TASK[task] for task in removes])
    return pytest.param(edges, at, changes, id=words)


MOVED = [STAR[0], talk(2, 0, 11211, ago_s=60), talk(3, 0, 11211, windows=2)]
SEVERAL = [talk(a, b, 9042, ago_s=400 if 2 in (a, b) else 0) for a in range(4) for b in range(a)]
SERVING = [held(vm, serves=vm < 3) for vm in range(4)]


def beside(**more: Any) -> list[FollowedTask]:
    """Return tasks of which one is recorded on another VM than the traffic shows."""
    return [held(0), held(1), held(5, **more)]


@pytest.mark.parametrize(
    ("edges", "tasks_held", "changes"),
    [
        case("as it is", *STAR[:2]),
        case("a new client", *STAR[:2], talk(3, 0, 11211, windows=1), adds=[3]),
        case("a client moved", *MOVED, moves={2: 3}),
        case(
            "a client that was added turns out to have moved",
            *MOVED,
            at=[held(0), held(1), held(2), held(3, added_at=NOW - timedelta(minutes=1))],
            moves={2: 3},
            removes=[3],
        ),
        case("a pinned task stays", *MOVED, at=[held(0), held(1), held(2, pinned=True)], adds=[3]),
        case("quiet, but not gone", STAR[0], talk(2, 0, 11211, ago_s=120)),
        case("gone: it waits", STAR[0], talk(2, 0, 11211, ago_s=400), waits=[2]),
        case("nothing is reported at all", talk(1, 0, 11211, ago_s=4_000), talk(2, 0, 11211, ago_s=4_010)),
        case("on another VM, where it is awaited", *STAR[:2], at=beside(placed_at=NOW - timedelta(minutes=1))),
        case(
            "on another VM, but not there after all",
            *STAR[:2],
            at=beside(placed_at=NOW - timedelta(minutes=20)),
            moves={5: 2},
        ),
        case(
            "a waiting task is seen again",
            *STAR[:2],
            talk(3, 0, 11211),
            at=[held(0), held(1), held(2), held(None)],
            moves={99: 3},
        ),
        case(
            "a task that waited for days is removed",
            *STAR[:2],
            at=[held(0), held(1), held(2), held(None, waiting_since=NOW - timedelta(days=2))],
            removes=[99],
        ),
        case(
            "the server moved",
            *(talk(client, 0, 11211, ago_s=60) for client in (1, 2)),
            *(talk(client, 7, 11211, windows=2) for client in (1, 2)),
            moves={0: 7},
        ),
        case("a peer that is gone waits", *SEVERAL, at=SERVING, waits=[2]),
        case("a second server", *STAR[:2], *(talk(client, 7, 11211, windows=1) for client in (1, 2))),
        case("a port scanner is no client", *STAR[:2], *SCAN, talk(6, 0, 11211, 0, windows=1, connections=1)),
    ],
)
def test_tasks_follow_traffic(edges: list[TrafficEdge], tasks_held: list[FollowedTask], changes: Changes):
    assert core.follow(tasks_held, core.proposals(edges, len(VMS), at_once=True), NOW) == changes


def report(
    mesh: MeshWorld,
    servers: int | tuple[int, ...],
    *clients: int,
    port: int = 11211,
    back: int = 0,
    windows: int = 4,
    **sizes: int,
):
    """Store windows in which `clients` used a port of the agents `servers`, as both ends report them."""
    last = int(datetime.now(UTC).timestamp()) // WINDOW_S * WINDOW_S - back * WINDOW_S
    by_vm: dict[tuple[int, int], list[ServiceRow]] = {}
    for at in range(last - windows * WINDOW_S, last, WINDOW_S):
        for server, client in product((servers,) if isinstance(servers, int) else servers, clients):
            size = sizes.get(f"of_{client}", MB)
            for end, peer, serves in ((server, client, True), (client, server, False)):
                row = ServiceRow(mesh.agents[peer].vm_key, port, serves, 1, size, size)
                by_vm.setdefault((mesh.agents[end].vm_key, at), []).append(row)
    with system_session() as session:
        session.execute(update(Tenant).where(Tenant.id == mesh.owner.tenant_id).values(service_traffic=True))
        store(session, [ServiceWindowRow(vm_key, at, of_vm, 0) for (vm_key, at), of_vm in by_vm.items()])


def path(mesh: MeshWorld) -> str:
    return f"/v1/meshes/{mesh.id}/traffic-proposals"


def proposals(mesh: MeshWorld) -> list[dict[str, Any]]:
    return mesh.owner.get(path(mesh)).json()["items"]


def accepted(mesh: MeshWorld, *keys: str, **more: Any) -> dict[str, Any]:
    body = {"proposals": list(keys), "name": "cache", "curve": "memcached-server"} | more
    return mesh.owner.created(path(mesh), body)


def placed(application: dict[str, Any]) -> dict[str, str | None]:
    return {task["name"]: task["vm"] and task["vm"]["name"] for task in application["tasks"]}


@pytest.mark.agents(5)
def test_a_proposal_becomes_an_application_that_follows(mesh: MeshWorld):
    assert mesh.owner.get(path(mesh)).json()["counted"] is False
    report(mesh, 0, 1, 2, windows=10, back=1)
    answer = mesh.owner.get(path(mesh)).json()
    (found,) = answer["items"]
    assert (answer["counted"], answer["vms"], answer["vms_counted"], answer["elsewhere"]) == (True, 5, 3, 0)
    assert (found["state"], found["shape"], found["curve"], found["port"]) == (
        "open",
        "star",
        "memcached-server",
        11211,
    )
    assert [vm["name"] for vm in found["servers"] + found["clients"]] == ["a-1", "b-1", "c-1"]
    assert (found["share"], found["stability"], found["days"] >= 1) == (1, 1, True)

    application = accepted(mesh, found["key"])
    assert placed(application) == {"a-1": "a-1", "b-1": "b-1", "c-1": "c-1"}
    assert application["following"] == {
        "proposals": [found["key"]],
        "since": application["following"]["since"],
        "stopped": None,
    }
    # A client appears.
    report(mesh, 0, 1, 2, 3, windows=1)
    tasks.follow()
    own = f"/v1/applications/{application['id']}"
    grown = mesh.owner.get(own).json()
    assert placed(grown) == {"a-1": "a-1", "b-1": "b-1", "c-1": "c-1", "a-2": "a-2"}
    assert grown["version"] > application["version"]
    (still,) = proposals(mesh)
    assert (still["key"], still["state"], still["application"]["name"]) == (found["key"], "accepted", "cache")
    # A person's edit counts for more than traffic, until traffic is let again.
    fewer = [{"vm": "a-1", "root": True}, {"vm": "b-1"}]
    edited = mesh.owner.patch(own, json={"tasks": fewer}, headers={"If-Match": "*"}).json()
    assert edited["following"]["stopped"] == (
        f"{mesh.owner.email} edited its tasks. Let it follow again to have traffic change them."
    )
    tasks.follow()
    assert placed(mesh.owner.get(own).json()) == {"a-1": "a-1", "b-1": "b-1"}
    again = mesh.owner.patch(own, json={"following": True}, headers={"If-Match": "*"}).json()
    assert again["following"]["stopped"] is None
    tasks.follow()
    assert set(placed(mesh.owner.get(own).json())) == {"a-1", "b-1", "c-1", "a-2"}
    # Deleted, it is a proposal again.
    mesh.owner.delete(own)
    assert [one["state"] for one in proposals(mesh)] == ["open"]


@pytest.mark.agents(5)
def test_links_of_a_graph_weigh_by_their_share(mesh: MeshWorld):
    report(mesh, 0, 2, 3, of_2=3 * MB)
    report(mesh, 1, 4, port=5432)
    keys = [one["key"] for one in proposals(mesh)]
    application = accepted(mesh, *keys)
    weights = {(edge["source"], edge["target"]): edge["weight"] for edge in application["edges"]}
    assert weights == {
        ("c-1", "a-1"): pytest.approx(0.6, abs=0.01),
        ("a-2", "a-1"): pytest.approx(0.2, abs=0.01),
        ("b-2", "b-1"): pytest.approx(0.2, abs=0.01),
    }
    assert application["shape"] == "graph"
    assert "weight: 0.6" in mesh.owner.get("/v1/applications/manifest").text
    assert mesh.owner.post(
        "/v1/applications/manifest",
        content=mesh.owner.get("/v1/applications/manifest").content,
        headers={"Content-Type": "application/yaml"},
    ).json()["unchanged"] == ["cache"]
    assert mesh.owner.get(f"/v1/applications/{application['id']}").json()["following"]["stopped"] is None


@pytest.mark.agents(5)
def test_a_client_of_a_graph_that_is_gone_waits_with_its_links_until_another_is_seen(mesh: MeshWorld):
    report(mesh, 0, 2, 3, of_2=3 * MB, back=20)
    application = accepted(mesh, proposals(mesh)[0]["key"])
    own = f"/v1/applications/{application['id']}"
    report(mesh, 0, 2, windows=19, of_2=3 * MB)
    tasks.follow()
    waiting = mesh.owner.get(own).json()
    assert placed(waiting) == {"a-1": "a-1", "c-1": "c-1", "a-2": None}
    weights = {edge["source"]: edge["weight"] for edge in waiting["edges"]}
    assert weights == {"c-1": 1, "a-2": pytest.approx(0.25, abs=0.01)}
    report(mesh, 0, 4, windows=2)
    tasks.follow()
    moved = mesh.owner.get(own).json()
    assert placed(moved) == {"a-1": "a-1", "c-1": "c-1", "a-2": "b-2"}
    assert {task["id"] for task in moved["tasks"]} == {task["id"] for task in application["tasks"]}
    assert {edge["source"] for edge in moved["edges"]} == {"c-1", "a-2"}


@pytest.mark.agents(5)
def test_two_applications_whose_clients_become_the_same_keep_their_servers(mesh: MeshWorld):
    report(mesh, 0, 2, back=6)
    report(mesh, 1, 3, back=6)
    one, two = (accepted(mesh, found["key"], name=f"cache {at}") for at, found in enumerate(proposals(mesh)))
    report(mesh, (0, 1), 2, 3, 4)
    tasks.follow()
    for application in (one, two):
        before, after = placed(application), placed(mesh.owner.get(f"/v1/applications/{application['id']}").json())
        assert after.keys() - before.keys() == {"b-2", "c-1", "a-2"} - before.keys()
        assert after.items() >= before.items()


@pytest.mark.agents(5)
def test_a_new_server_of_a_moved_application_is_another_proposal(mesh: MeshWorld):
    report(mesh, 0, 2, back=30)
    (found,) = proposals(mesh)
    application = accepted(mesh, found["key"])
    report(mesh, 1, 2, back=4)
    tasks.follow()
    assert placed(mesh.owner.get(f"/v1/applications/{application['id']}").json())["a-1"] == "b-1"
    report(mesh, 0, 3, 4)
    states = {one["servers"][0]["name"]: (one["key"], one["state"]) for one in proposals(mesh)}
    assert states["b-1"] == (found["key"], "accepted")
    again = accepted(mesh, states["a-1"][0], name="another")
    assert set(placed(again)) == {"a-1", "a-2", "b-2"}


@pytest.mark.agents(3)
def test_of_two_people_who_accept_one_gets_a_plain_answer(mesh: MeshWorld):
    report(mesh, 0, 1, 2)
    body = {"proposals": [proposals(mesh)[0]["key"]], "curve": "memcached-server"}
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda name: mesh.owner.post(path(mesh), json={**body, "name": name}), ("one", "two")))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    refused = max(answers, key=lambda answer: answer.status_code).json()
    assert refused["code"] == "proposal_accepted"
    assert "this proposal is the application" in refused["detail"]
    assert len(mesh.owner.get("/v1/applications").json()["items"]) == 1


@pytest.mark.agents(4)
def test_a_dismissed_proposal_stays_so_while_it_grows_and_comes_back_on_demand(mesh: MeshWorld):
    report(mesh, 0, 1)
    (found,) = proposals(mesh)
    own = f"{path(mesh)}/{found['key']}"
    assert mesh.owner.put(own, json={"dismissed": True}).json()["state"] == "dismissed"
    report(mesh, 0, 2, 3, windows=5, back=5)
    (grown,) = proposals(mesh)
    assert (grown["key"], grown["state"], len(grown["clients"])) == (found["key"], "dismissed", 3)
    assert mesh.owner.put(own, json={"dismissed": False}).json()["state"] == "open"
    assert mesh.owner.put(f"{path(mesh)}/none", json={"dismissed": True}).json()["code"] == "proposal_unknown"


@pytest.mark.agents(3)
def test_names_and_labels_change_and_each_mesh_decides_for_itself(mesh: MeshWorld):
    report(mesh, 0, 1, 2)
    (found,) = proposals(mesh)
    mesh.owner.put(f"{path(mesh)}/{found['key']}", json={"dismissed": True})
    server = f"/v1/vms/{mesh.agents[0].vm_id}"
    for change in ({"name": "renamed"}, {"labels": {"app": "sessions"}}):
        assert mesh.owner.patch(server, json=change, headers={"If-Match": "*"}).status_code == 200
    (same,) = proposals(mesh)
    assert (same["name"], same["servers"][0]["name"]) == ("sessions memcached", "renamed")
    assert (same["key"], same["state"]) == (found["key"], "dismissed")
    other = mesh.owner.created("/v1/meshes", {"name": "other"})["id"]
    for agent in mesh.agents:
        assert mesh.owner.put(f"/v1/meshes/{other}/vms/{agent.vm_id}").status_code in (200, 204)
    (there,) = mesh.owner.get(f"/v1/meshes/{other}/traffic-proposals").json()["items"]
    assert (there["key"], there["state"]) == (found["key"], "open")
    assert mesh.owner.delete(f"/v1/meshes/{mesh.id}").status_code == 204
    assert mesh.owner.get(path(mesh)).json()["code"] == "mesh_unknown"


@pytest.mark.agents(3)
def test_who_sees_and_who_changes_proposals(mesh: MeshWorld):
    report(mesh, 0, 1, 2)
    other = mesh.owner.created("/v1/meshes", {"name": "other"})
    reader = limited_key(mesh.owner, [UUID(other["id"])], "read", "write")
    assert reader.get(path(mesh)).json()["code"] == "mesh_unknown"
    body = {"proposals": [proposals(mesh)[0]["key"]], "name": "cache", "curve": "memcached-server"}
    assert join(mesh.owner, "viewer").post(path(mesh), json=body).status_code == 403
    # A VM that is gone leaves no proposal, and a mesh that is gone none either.
    mesh.owner.delete(f"/v1/vms/{mesh.agents[0].vm_id}")
    assert proposals(mesh) == []
    assert mesh.owner.post(path(mesh), json=body).json()["code"] == "proposal_unknown"
