"""Constraints that no placement can keep together are refused when they are declared, whichever of them comes last."""

from typing import Any

import pytest

from tests.api_clients import MeshWorld, place_of

pytestmark = pytest.mark.agents(6)

PATH = "/v1/applications"


def star(*vms: str, pinned: str = "", name: str = "cache", **more: Any) -> dict[str, Any]:
    """Return a star with a task on each VM, the root on the first; `pinned` has the digits of pinned tasks."""
    tasks = [{"name": f"t{n}", "vm": vm, "root": n == 0, "pinned": str(n) in pinned} for n, vm in enumerate(vms)]
    return {"name": name, "mesh": "demo", "curve": "dns", "tasks": tasks, **more}


CONTRADICTIONS = [
    (star("a-1", "b-1", pinned="1", zones=["a", "c"]), "#/tasks/1/vm", "in zone b, and cache may only use a, c"),
    (star("a-1", "b-1", pinned="0", zones=["b"]), "#/tasks/0/vm", "t0 is pinned to a-1"),
    (star("a-1", "b-1", "b-1", pinned="12", per_vm_max=1), "#/per_vm_max", "2 tasks are pinned to b-1"),
    (star("a-1", "b-1", "b-2", pinned="12", per_zone_max=1), "#/per_zone_max", "Raise it to 2, or unpin 1"),
    (
        star("a-1", "b-1", "b-2", "c-1", "c-2", "b-1", zones=["b", "c"], per_zone_max=2),
        "#/per_zone_max",
        "5 tasks, and 2 zones with at most 2 in each have room for 4. Raise per_zone_max to 3",
    ),
    (
        star("a-1", "b-1", pinned="1", apart_from=["held"]),
        "#/tasks/1/vm",
        "t1 and held/t1 are pinned to b-1, and cache and held must not share a VM",
    ),
]


@pytest.mark.parametrize(("body", "pointer", "words"), CONTRADICTIONS)
def test_a_contradiction_is_refused_with_its_remedy(mesh: MeshWorld, body: dict[str, Any], pointer: str, words: str):
    mesh.owner.created(PATH, star("a-1", "b-1", pinned="1", name="held"))
    answer = mesh.owner.post(PATH, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "constraints_contradict"), answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert words in error["message"]
    assert words in answer.json()["detail"]
    assert [one["name"] for one in mesh.owner.get(PATH).json()["items"]] == ["held"]


@pytest.mark.parametrize(
    "body",
    [
        star("a-1", "b-1", zones=["a", "c"]),  # it may move
        star("a-1", "b-1", pinned="01", zones=["a", "b"]),
        star("b-1", "b-1", "b-2", pinned="012", per_vm_max=1, per_zone_max=2),  # a root counts towards no spread limit
        star("a-1", "b-1", "b-2", zones=["b"], per_zone_max=2),
        star("a-1", "b-2", pinned="01", apart_from=["held"]),
        star("a-1", "b-1", apart_from=["held"]),
    ],
)
def test_what_some_placement_keeps_is_accepted(mesh: MeshWorld, body: dict[str, Any]):
    mesh.owner.created(PATH, star("a-1", "b-1", pinned="1", name="held"))
    mesh.owner.created(PATH, body)


@pytest.mark.parametrize(
    ("declared", "change", "pointer"),
    [
        (star("a-1", "b-1", pinned="1"), {"zones": ["a"]}, "#/zones"),
        (star("a-1", "b-1", "b-1", pinned="12"), {"per_vm_max": 1}, "#/per_vm_max"),
        (star("a-1", "b-1", "b-2", zones=["a", "b"], per_zone_max=1), {"zones": ["a"]}, "#/zones"),
        (star("a-1", "b-1", pinned="1"), {"apart_from": ["held"]}, "#/apart_from"),
        (star("a-1", "c-1", zones=["a", "c"]), {"tasks": star("a-1", "b-1", pinned="1")["tasks"]}, "#/tasks/1/vm"),
    ],
)
def test_a_change_that_contradicts_is_refused_and_changes_nothing(
    mesh: MeshWorld, declared: dict[str, Any], change: dict[str, Any], pointer: str
):
    mesh.owner.created(PATH, star("a-1", "b-1", pinned="1", name="held"))
    before = mesh.owner.created(PATH, declared)
    path = f"{PATH}/{before['id']}"
    assert place_of(mesh.owner.patch(path, json=change)) == (422, "constraints_contradict", pointer)
    assert mesh.owner.get(path).json() == before


def test_the_application_that_declares_no_separation_is_held_to_it(mesh: MeshWorld):
    mesh.owner.created(PATH, star("a-1", "b-1", name="other"))
    mesh.owner.created(PATH, star("a-1", "b-1", pinned="1", apart_from=["other"]))
    other = mesh.owner.get(PATH).json()["items"][1]
    tasks = star("a-1", "b-1", pinned="1")["tasks"]
    answer = mesh.owner.patch(f"{PATH}/{other['id']}", json={"tasks": tasks})
    assert answer.json()["code"] == "constraints_contradict"
    assert "t1 and cache/t1 are pinned to b-1" in answer.json()["detail"]


def test_a_zone_that_changes_afterwards_does_not_prevent_other_changes(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star("a-1", "b-1", pinned="1", zones=["a", "b"]))
    zones = {zone["name"]: zone["id"] for zone in mesh.owner.get("/v1/zones").json()["items"]}
    moved = mesh.owner.patch(f"/v1/vms/{mesh.agents[1].vm_id}", json={"zone_id": zones["c"]})
    assert moved.status_code == 200, moved.text
    path = f"{PATH}/{application['id']}"
    assert mesh.owner.patch(path, json={"objective": 0.5, "name": "renamed"}).status_code == 200
    assert mesh.owner.patch(path, json={"zones": ["a", "b"]}).json()["code"] == "constraints_contradict"
    assert mesh.owner.patch(path, json={"zones": ["a", "c"]}).status_code == 200


def test_a_manifest_points_to_the_contradiction(mesh: MeshWorld):
    manifest = """
applications:
- {name: one, mesh: demo, curve: dns, tasks: [{vm: a-1, root: true}, {vm: b-1}]}
- {name: two, mesh: demo, curve: dns, zones: [a], tasks: [{vm: a-1, root: true}, {vm: b-1, pinned: true}]}
"""
    answer = mesh.owner.post(f"{PATH}/manifest", content=manifest, headers={"Content-Type": "application/yaml"})
    assert place_of(answer) == (422, "constraints_contradict", "#/applications/1/tasks/1/vm")
    assert mesh.owner.get(PATH).json()["items"] == []


def test_an_application_is_not_apart_from_itself(mesh: MeshWorld):
    application = mesh.owner.created(PATH, star("a-1", "b-1"))
    answer = mesh.owner.patch(f"{PATH}/{application['id']}", json={"apart_from": ["cache"]})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/apart_from/0"), answer.text
