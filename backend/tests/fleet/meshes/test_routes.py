from uuid import uuid4

from sinemora.fleet.meshes import service
from tests.api_clients import MakeMesh, Member, MeshWorld, body_of, code_of
from tests.statements import call


def test_a_mesh_from_birth_to_death(owner: Member):
    mesh = owner.created("/v1/meshes", {"name": "demo"})
    assert (mesh["window_s"], mesh["rate_hz"], mesh["flows"], mesh["vm_count"]) == (10, 8, 1, 0)
    path = f"/v1/meshes/{mesh['id']}"
    changed = owner.patch(path, json={"rate_hz": 32, "window_s": 5}).json()
    assert (changed["rate_hz"], changed["window_s"], changed["version"]) == (32, 5, 2)
    assert owner.get(path).headers["ETag"] == '"2"'
    assert owner.delete(path).status_code == 204
    assert owner.get(path).json()["code"] == "mesh_unknown"


def test_agents_get_the_spike_threshold_and_loss_deadline_of_their_mesh(owner: Member, mesh: MeshWorld):
    before = mesh.agents[0].get("/v1/agents/self/plan")
    assert (before.json()["spike_threshold_ns"], before.json()["meshes"][0]["loss_deadline_ms"]) == (500_000, 1_000)
    changes = {"spike_threshold_ns": 50_000, "loss_deadline_ms": 400}
    assert owner.patch(f"/v1/meshes/{mesh.id}", json=changes).json().items() >= changes.items()
    after = body_of(mesh.agents[0].get("/v1/agents/self/plan", headers={"If-None-Match": before.headers["ETag"]}))
    assert (after["spike_threshold_ns"], after["meshes"][0]["loss_deadline_ms"]) == (50_000, 400)


def test_the_roster_is_ordered_by_zone_then_name(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 5)
    roster = owner.get(f"/v1/meshes/{world.id}/roster").json()
    assert [vm["name"] for vm in roster["vms"]] == ["a-1", "a-2", "b-1", "b-2", "c-1"]
    assert [(zone["name"], zone["first"], zone["count"]) for zone in roster["zones"]] == [
        ("a", 0, 2),
        ("b", 2, 2),
        ("c", 4, 1),
    ]
    assert roster["revision"] == owner.get(f"/v1/meshes/{world.id}").json()["revision"]


def test_zones_of_one_name_stay_apart(owner: Member):
    mesh = owner.created("/v1/meshes", {"name": "m"})
    zones = [
        owner.created("/v1/zones", {"provider": provider, "region": "r", "name": "a"}) for provider in ("aws", "gcp")
    ]
    for n in range(4):
        vm = owner.created("/v1/vms", {"name": f"vm-{n}", "zone_id": zones[n % 2]["id"]})
        assert owner.put(f"/v1/meshes/{mesh['id']}/vms/{vm['id']}").status_code == 204
    roster = owner.get(f"/v1/meshes/{mesh['id']}/roster").json()
    assert [zone["count"] for zone in roster["zones"]] == [2, 2]
    assert len({zone["id"] for zone in roster["zones"]}) == 2


def test_joining_and_leaving_by_hand(owner: Member, mesh: MeshWorld):
    other = owner.created("/v1/meshes", {"name": "other"})
    path = f"/v1/meshes/{other['id']}/vms/{mesh.agents[0].vm_id}"
    assert [owner.put(path).status_code for _ in range(2)] == [204, 204]
    assert owner.get(f"/v1/meshes/{other['id']}").json()["vm_count"] == 1
    assert len(mesh.agents[0].get("/v1/agents/self/plan").json()["meshes"]) == 2
    assert [owner.delete(path).status_code for _ in range(2)] == [204, 404]
    assert owner.put(f"/v1/meshes/{other['id']}/vms/{uuid4()}").json()["code"] == "vm_unknown"
    assert owner.put(f"/v1/meshes/{uuid4()}/vms/{mesh.agents[0].vm_id}").json()["code"] == "mesh_unknown"


def test_another_tenants_vm_cannot_join(owner: Member, other_owner: Member, make_mesh: MakeMesh):
    mine, theirs = make_mesh(owner, 1), make_mesh(other_owner, 1)
    assert code_of(owner.put(f"/v1/meshes/{mine.id}/vms/{theirs.agents[0].vm_id}")) == (404, "vm_unknown")


def raise_by(change: str, owner: Member, world: MeshWorld) -> None:
    """Change something a plan or a roster depends on, or (last) something it does not.

    The first VM is removed from the mesh, the second one deleted.
    """
    agent = world.agents[change == "vm deleted"]
    vm = owner.get(f"/v1/vms/{agent.vm_id}").json()
    if change == "vm renamed":
        owner.patch(f"/v1/vms/{agent.vm_id}", json={"name": "z"})
    elif change == "zone renamed":
        owner.patch(f"/v1/zones/{vm['zone']['id']}", json={"name": "z"})
    elif change == "vm moved":
        zone = owner.created("/v1/zones", {"provider": "p", "region": "r", "name": "new"})
        owner.patch(f"/v1/vms/{agent.vm_id}", json={"zone_id": zone["id"]})
    elif change == "address":
        agent.request("PATCH", "/v1/agents/self", json={"probe_address": "10.1.1.1"})
    elif change == "responder":
        owner.patch(f"/v1/vms/{agent.vm_id}", json={"responder": "ieee1588"})
    elif change == "rate":
        owner.patch(f"/v1/meshes/{world.id}", json={"rate_hz": 64})
    elif change == "agent revoked":
        owner.post(f"/v1/agents/{agent.agent_id}/revoke")
    elif change == "vm removed":
        owner.delete(f"/v1/meshes/{world.id}/vms/{agent.vm_id}")
    elif change == "vm deleted":
        owner.delete(f"/v1/vms/{agent.vm_id}")
    elif change == "labels":
        owner.patch(f"/v1/vms/{agent.vm_id}", json={"labels": {"a": "b"}})


def test_whatever_the_plan_depends_on_raises_the_revision(owner: Member, make_mesh: MakeMesh):
    world = make_mesh(owner, 3)
    untouched = make_mesh(owner, 2, name="other")

    def revision(mesh: MeshWorld) -> int:
        return int(owner.get(f"/v1/meshes/{mesh.id}").json()["revision"])

    before, other_before = revision(world), revision(untouched)
    raise_by("labels", owner, world)
    assert revision(world) == before
    for change in (
        *("vm renamed", "zone renamed", "vm moved", "address", "rate"),
        *("agent revoked", "responder", "vm removed", "vm deleted"),
    ):
        raise_by(change, owner, world)
        assert revision(world) > before, change
        if change != "zone renamed":  # both meshes have VMs in it
            assert revision(untouched) == other_before, change
        before, other_before = revision(world), revision(untouched)


def test_the_state_of_a_mesh_for_other_features(owner: Member, mesh: MeshWorld):
    owner.post(f"/v1/agents/{mesh.agents[1].agent_id}/revoke")
    state = call(service.mesh_state, mesh.id, tenant=owner.tenant_id)
    assert (state.key, state.window_s) == (mesh.key, 10)
    assert [(member.name, member.key, member.can_probe) for member in state.members] == [
        ("a-1", mesh.agents[0].vm_key, True),
        ("b-1", mesh.agents[1].vm_key, False),
        ("c-1", mesh.agents[2].vm_key, True),
    ]
