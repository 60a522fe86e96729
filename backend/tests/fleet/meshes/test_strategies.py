from typing import Any

import pytest

from sinemora.fleet.meshes import service
from tests.api_clients import Member, MeshWorld, body_of
from tests.statements import call


def turns_of(world: MeshWorld, agent: int) -> dict[str, list[int] | None]:
    """Return the turns of each peer of an agent by its name."""
    (mesh,) = world.agents[agent].get("/v1/agents/self/plan").json()["meshes"]
    return {peer["name"]: peer["turns"] for peer in mesh["peers"]}


def test_a_sparse_mesh_gives_both_ends_of_a_pair_the_same_turns(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 5, strategy="sparse", period_windows=3)
    (mesh,) = world.agents[0].get("/v1/agents/self/plan").json()["meshes"]
    assert mesh["period_windows"] == 3
    names = [agent.name for agent in world.agents]
    plans = [turns_of(world, agent) for agent in range(5)]
    for one in range(5):
        assert plans[one].keys() == set(names) - {names[one]}
        for other in range(5):
            if one != other:
                assert plans[one][names[other]] == plans[other][names[one]]
    some = [turns for plan in plans for turns in plan.values() if turns is not None]
    assert some
    assert all(turns == sorted(set(turns)) and set(turns) < {0, 1, 2} for turns in some)


def test_agents_follow_a_change_of_strategy(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 5)
    before = world.agents[0].get("/v1/agents/self/plan").headers["ETag"]
    changed = owner.patch(f"/v1/meshes/{world.id}", json={"strategy": "zones", "representatives": 1})
    assert (changed.json()["strategy"], changed.json()["representatives"]) == ("zones", 1)
    assert world.agents[0].get("/v1/agents/self/plan", headers={"If-None-Match": before}).status_code == 200
    assert any(turns for turns in turns_of(world, 0).values())


def test_pairs_in_focus_are_measured_in_every_window_until_the_strategy_changes(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 6, strategy="event", period_windows=5)
    names = [agent.name for agent in world.agents]
    pair = world.agents[0].vm_key, world.agents[1].vm_key
    revision = world.agents[0].get("/v1/agents/self/plan").json()["revision"]

    def focus() -> str:
        """Focus on the pair; return the revision of the plan."""
        state = call(service.mesh_state, world.id, tenant=owner.tenant_id)
        call(service.set_focus, state, [pair], tenant=owner.tenant_id)
        return world.agents[0].get("/v1/agents/self/plan").json()["revision"]

    assert revision != focus() == focus()  # the same pairs again: no new plan
    assert turns_of(world, 0)[names[1]] is None
    owner.patch(f"/v1/meshes/{world.id}", json={"strategy": "sparse"})
    assert turns_of(world, 0)[names[1]] is not None


def test_a_preview_compares_the_strategies_and_changes_nothing(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 9)
    preview = body_of(owner.post(f"/v1/meshes/{world.id}/plan-previews", json={"period_windows": 4, "rate_hz": 16}))
    assert (preview["vms"], preview["prices"]) == (9, [])  # the provider of the test has no list price
    items = {item["strategy"]: item for item in preview["items"]}
    assert list(items) == ["full", "zones", "sparse", "event"]
    assert items["full"]["cost"]["pairs_per_window"] == 36
    assert items["full"]["cost"]["packets_per_s"] == 36 * 16 * 2
    assert (items["full"]["period_s"], items["sparse"]["period_s"]) == (10, 40)
    assert items["sparse"]["cost"]["packets_per_s"] < items["full"]["cost"]["packets_per_s"] / 3
    assert (items["sparse"]["measured"], items["sparse"]["detection"]["path"]["never"]) == (1, 0)
    assert items["zones"]["measured"] <= 1
    assert {item["cost"]["usd_per_day"] for item in preview["items"]} == {None}
    assert owner.get(f"/v1/meshes/{world.id}").json()["strategy"] == "full"


def test_a_user_can_enter_the_own_prices(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 6)
    path = f"/v1/meshes/{world.id}/plan-previews"
    dear, cheap = (
        owner.post(path, json={"prices": {"between_zones": price, "between_regions": 0}}).json()["items"][0]["cost"]
        for price in (0.04, 0.01)
    )
    assert dear["usd_per_day"] == pytest.approx(4 * cheap["usd_per_day"])
    assert cheap["usd_per_day"] == pytest.approx(cheap["traffic"]["between_zones_bytes_per_day"] / 2**30 * 0.01)
    refused = owner.post(path, json={"prices": {"between_zones": -1, "between_regions": 0}})
    assert (refused.status_code, refused.json()["code"]) == (422, "request_invalid")


def test_a_mesh_without_members_has_a_preview(owner: Member):
    mesh = owner.created("/v1/meshes", {"name": "empty"})
    items = owner.post(f"/v1/meshes/{mesh['id']}/plan-previews", json={}).json()["items"]
    assert [item["cost"]["packets_per_s"] for item in items] == [0, 0, 0, 0]


def test_agents_that_name_the_newest_plan_follow_it(owner: Member, mesh: MeshWorld):

    def adoption() -> tuple[int, int, int, list[str]]:
        found = owner.get(f"/v1/meshes/{mesh.id}/plan-followers").json()
        assert found["agents"] == 3
        return found["following"], found["behind"], found["unknown"], found["first_behind"]

    names = [agent.name for agent in mesh.agents]
    tags = [agent.get("/v1/agents/self/plan").headers["ETag"] for agent in mesh.agents]
    assert adoption() == (0, 0, 3, names)  # the plan was sent; whether it is in force is not known yet
    for agent, tag in zip(mesh.agents[:2], tags[:2], strict=True):
        assert agent.get("/v1/agents/self/plan", headers={"If-None-Match": tag}).status_code == 304
    assert adoption() == (2, 0, 1, names[2:])
    owner.patch(f"/v1/meshes/{mesh.id}", json={"strategy": "sparse"})
    assert adoption() == (0, 2, 1, names)
    tag = mesh.agents[1].get("/v1/agents/self/plan", headers={"If-None-Match": tags[1]}).headers["ETag"]
    assert adoption() == (0, 2, 1, names)
    mesh.agents[1].get("/v1/agents/self/plan", headers={"If-None-Match": tag})
    assert adoption() == (1, 1, 1, [names[0], names[2]])


def test_usage_counts_the_windows_of_a_sparse_mesh(owner: Member, make_mesh: Any):
    world: MeshWorld = make_mesh(owner, 6)

    def windows_per_s() -> float:
        items = owner.get("/v1/usage").json()["items"]
        return next(item["used"] for item in items if item["resource"] == "windows_per_s")

    assert windows_per_s() == pytest.approx(30 / 10)
    owner.patch(f"/v1/meshes/{world.id}", json={"strategy": "sparse", "period_windows": 5})
    assert windows_per_s() == pytest.approx(30 / 50)
