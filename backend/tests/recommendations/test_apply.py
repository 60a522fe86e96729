"""Moves are applied to the world they were recommended for, or not at all."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api_clients import Caller, MeshWorld, join
from tests.recommendations.asking import PATH, asked, declared, declared_near, moved
from tests.recommendations.measured_mesh import measured


def places(mesh: MeshWorld, application: dict) -> dict[str, str | None]:
    """Return the VM of each task, by names."""
    read = mesh.owner.get(f"/v1/applications/{application['id']}").json()
    return {task["name"]: task["vm"] and task["vm"]["name"] for task in read["tasks"]}


def vm_id(mesh: MeshWorld, name: str) -> str:
    return str(next(agent.vm_id for agent in mesh.agents if agent.name == name))


def test_applied_moves_are_recorded(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    path = f"{PATH}/{recommendation['id']}"
    stale = mesh.owner.get(f"/v1/applications/{application['id']}").headers["ETag"]
    assert mesh.owner.post(f"{path}/accept").json()["state"] == "accepted"
    assert mesh.owner.post(f"{path}/apply").json()["state"] == "applied"
    targets = {step["task"]["name"]: step["target"]["name"] for step in recommendation["steps"]}
    assert places(mesh, application) == {"cache-0": "a-1"} | targets
    # A form that was opened before the moves must not undo them.
    tasks_of = [{"name": task["name"], "root": task["root"]} for task in application["tasks"]]
    answer = mesh.owner.patch(
        f"/v1/applications/{application['id']}", json={"tasks": tasks_of}, headers={"If-Match": stale}
    )
    assert answer.json()["code"] == "version_changed"


def _moved_elsewhere(mesh: MeshWorld, application: dict) -> str:
    moved(mesh, application, {"cache-1": "a-2"})
    return "it is on a-2 now"


def _deleted_vm(mesh: MeshWorld, application: dict) -> str:
    assert mesh.owner.delete(f"/v1/vms/{vm_id(mesh, 'b-1')}").status_code == 204
    return "the task waits for a VM"


def _deleted_task(mesh: MeshWorld, application: dict) -> str:
    tasks_of = [{"name": "cache-0", "vm": "a-1", "root": True}, {"name": "other", "vm": "b-1"}]
    assert mesh.owner.patch(f"/v1/applications/{application['id']}", json={"tasks": tasks_of}).status_code == 200
    return "the task was deleted"


def _pinned(mesh: MeshWorld, application: dict) -> str:
    moved(mesh, {**application, "tasks": [{**task, "pinned": True} for task in application["tasks"]]}, {})
    return "the task is pinned now"


def _left_mesh(mesh: MeshWorld, application: dict) -> str:
    answer = mesh.owner.delete(f"/v1/meshes/{mesh.id}/vms/{vm_id(mesh, 'c-2')}")
    assert answer.status_code == 204, answer.text
    return "c-2 is no longer in the mesh"


def _full(mesh: MeshWorld, application: dict) -> str:
    declared(mesh, "other", ("a-2", "c-2"))
    return "capacity exceeded on c-2: 2 slots needed, 1 available"


def _no_cpu(mesh: MeshWorld, application: dict) -> str:
    tasks_of = [{**task, "cpu_millicores": 600} for task in application["tasks"]]
    moved(mesh, {**application, "tasks": tasks_of}, {})
    mesh.owner.patch(f"/v1/vms/{vm_id(mesh, 'c-2')}/capacity", json={"cpu_millicores": 500})
    return "capacity exceeded on c-2: 600 millicores needed, 500 available"


def _other_zone(mesh: MeshWorld, application: dict) -> str:
    assert mesh.owner.patch(f"/v1/applications/{application['id']}", json={"zones": ["a", "b"]}).status_code == 200
    return "cache may not use the zone of c-2"


@pytest.mark.parametrize(
    "change", [_moved_elsewhere, _deleted_vm, _deleted_task, _pinned, _left_mesh, _full, _no_cpu, _other_zone]
)
def test_a_changed_world_is_named_and_nothing_is_applied(mesh: MeshWorld, worker, change):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    assert "c-2" in {step["target"]["name"] for step in recommendation["steps"]}
    words = change(mesh, application)
    before = places(mesh, application)
    answer = mesh.owner.post(f"{PATH}/{recommendation['id']}/apply")
    assert (answer.status_code, answer.json()["code"]) == (409, "recommendation_outdated"), answer.text
    named = [error["message"] for error in answer.json()["errors"] if words in error["message"]]
    assert named
    assert all(message.startswith("cache/cache-") for message in named)
    assert answer.json()["errors"][0]["pointer"].startswith("#/steps/")
    assert places(mesh, application) == before
    assert mesh.owner.get(f"{PATH}/{recommendation['id']}").json()["state"] == "proposed"


def test_moves_that_are_made_already_are_applied_with_the_rest(mesh: MeshWorld, worker):
    application = declared_near(mesh)
    recommendation = asked(mesh, worker)
    first = recommendation["steps"][0]
    moved(mesh, application, {first["task"]["name"]: first["target"]["name"]})
    assert mesh.owner.post(f"{PATH}/{recommendation['id']}/apply").json()["state"] == "applied"


def test_of_two_at_once_one_is_applied(mesh: MeshWorld, worker):
    # Both want the one slot of c-2.
    east, west = declared(mesh, "east", ("a-1", "b-1")), declared(mesh, "west", ("a-2", "b-2"))
    measured(mesh, {("a-1", "c-2"): 30.0, ("a-2", "c-2"): 30.0, ("a-1", "b-1"): 400.0, ("a-2", "b-2"): 400.0})
    wanted = [asked(mesh, worker, applications=[name], moves_max=1) for name in ("east", "west")]
    assert [[step["target"]["name"] for step in one["steps"]] for one in wanted] == [["c-2"], ["c-2"]]
    caller = Caller(mesh.owner.http, mesh.owner.headers, mesh.owner.cookies)
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda one: caller.post(f"{PATH}/{one['id']}/apply"), wanted))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    refused = next(answer.json() for answer in answers if answer.status_code == 409)
    assert refused["code"] == "recommendation_outdated"
    assert "c-2" in refused["detail"]
    on_it = [place for one in (east, west) for place in places(mesh, one).values() if place == "c-2"]
    assert on_it == ["c-2"]


@pytest.mark.parametrize(("decision", "state"), [("accept", "accepted"), ("apply", "applied")])
def test_of_four_who_decide_at_once_one_does(mesh: MeshWorld, worker, decision: str, state: str):
    declared_near(mesh)
    path = f"{PATH}/{asked(mesh, worker)['id']}"
    colleague = join(mesh.owner, "editor")
    callers = [Caller(one.http, one.headers, one.cookies) for one in (mesh.owner, colleague, mesh.owner, colleague)]
    with ThreadPoolExecutor(4) as all_at_once:
        answers = list(all_at_once.map(lambda caller: caller.post(f"{path}/{decision}"), callers))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {answer.json().get("code") for answer in answers} == {None, "recommendation_decided"}
    log = mesh.owner.get("/v1/audit-entries", params={"limit": 100}).json()["items"]
    assert [entry["action"] for entry in log].count(f"recommendation.{state}") == 1
