"""Recommendations that brute force cannot beat: limits of several applications, thresholds of curves, neighbours."""

from typing import Any

from tests.api_clients import MeshWorld
from tests.recommendations.asking import asked, declared
from tests.recommendations.measured_mesh import measured


def graph(mesh: MeshWorld, name: str, vms: tuple[str, str], **limits: Any) -> None:
    """Declare two tasks that communicate, without a root."""
    body = {
        "name": name,
        "mesh": mesh.name,
        "curve": "memcached-server",
        "reference_us": 0,
        "tasks": [{"name": "one", "vm": vms[0]}, {"name": "two", "vm": vms[1]}],
        "edges": [{"source": "one", "target": "two"}],
        **limits,
    }
    mesh.owner.created("/v1/applications", body)


def sized(mesh: MeshWorld, name: str, **capacity: int) -> None:
    vm = next(agent for agent in mesh.agents if agent.name == name).vm_id
    assert mesh.owner.patch(f"/v1/vms/{vm}/capacity", json=capacity).status_code == 200


def moved(recommendation: dict) -> set[tuple[str, str, str]]:
    return {
        (step["application"]["name"], step["task"]["name"], step["target"]["name"]) for step in recommendation["steps"]
    }


def test_a_limit_of_one_application_does_not_hold_another(mesh: MeshWorld, worker):
    graph(mesh, "held", ("a-1", "b-1"), moves_max=0)
    graph(mesh, "free", ("c-1", "a-2"), moves_max=1)
    measured(mesh, {("c-1", "c-2"): 30.0, ("a-2", "b-2"): 250.0, ("a-1", "b-2"): 30.0})
    recommendation = asked(mesh, worker)
    assert moved(recommendation) == {("free", "two", "c-2")}
    assert recommendation["result"]["optimality"]["state"] == "optimal"


def test_thresholds_of_curves_are_exact(mesh: MeshWorld, worker):
    """The curve falls at 40 µs; in steps of 10 µs both round trips would be 40 µs."""
    tasks_of = [
        {"name": "server", "vm": "a-1", "root": True, "pinned": True},
        {"name": "client", "vm": "b-1"},
    ]
    body = {"name": "cache", "mesh": mesh.name, "curve": "memcached-client", "tasks": tasks_of, "move_cost": 0}
    mesh.owner.created("/v1/applications", body)
    measured(mesh, {("a-1", "b-1"): 44.5, ("a-1", "c-2"): 36.0}, noise_us=0)
    recommendation = asked(mesh, worker)
    assert moved(recommendation) == {("cache", "client", "c-2")}
    assert recommendation["result"]["optimality"]["state"] == "optimal"


def test_a_task_does_not_go_beside_the_root_it_must_stay_apart_from(mesh: MeshWorld, worker):
    sized(mesh, "c-2", slots=2)
    declared(mesh, "other", ("c-2", "c-1"))
    declared(mesh, vms=("a-1", "b-1"), apart_from=["other"])
    measured(mesh, {("a-1", "c-2"): 60.0, ("a-1", "b-2"): 200.0, ("a-1", "b-1"): 700.0, ("c-1", "c-2"): 20.0})
    recommendation = asked(mesh, worker, applications=["cache"])
    assert moved(recommendation) == {("cache", "cache-1", "b-2")}
    assert recommendation["result"]["rejected"] == []


def test_a_pinned_root_keeps_its_vm_and_its_task_moves(mesh: MeshWorld, worker):
    far = {("a-1", one): 700.0 for one in ("b-1", "c-1", "a-2")}
    near = {(one, other): 50.0 for one in ("b-1", "c-1") for other in ("c-1", "a-2") if one != other}
    declared(mesh)
    measured(mesh, far | near | {("a-1", "b-2"): 300.0, ("a-1", "c-2"): 650.0})
    recommendation = asked(mesh, worker)
    assert {step["task"]["name"] for step in recommendation["steps"]} <= {"cache-1", "cache-2"}
    assert "b-2" in {step["target"]["name"] for step in recommendation["steps"]}


def test_a_swap_that_finds_no_order_does_not_keep_a_task_from_its_start(mesh: MeshWorld, worker):
    sized(mesh, "c-1", slots=3)
    sized(mesh, "a-2", slots=2)
    for name, root, vm in (("east", "a-1", "c-1"), ("west", "b-1", "a-2")):
        wide = [{"name": "root", "vm": root, "root": True, "pinned": True}, {"name": "wide", "vm": vm, "slots": 2}]
        body = {"name": name, "mesh": mesh.name, "curve": "memcached-server", "reference_us": 0, "tasks": wide}
        mesh.owner.created("/v1/applications", body)
    tasks_of = [{"name": "root", "vm": "b-2", "root": True, "pinned": True}, {"name": "new"}]
    body = {"name": "late", "mesh": mesh.name, "curve": "memcached-server", "reference_us": 0, "tasks": tasks_of}
    mesh.owner.created("/v1/applications", body)
    near = {("a-1", "a-2"): 30.0, ("b-1", "c-1"): 30.0, ("b-2", "c-1"): 30.0}
    measured(mesh, near | {("a-1", "c-1"): 400.0, ("b-1", "a-2"): 400.0})
    recommendation = asked(mesh, worker)
    assert moved(recommendation) == {("late", "new", "c-1")}
    assert "without a spare slot" in " ".join(recommendation["result"]["rejected"])
    assert "rejected afterwards" in recommendation["result"]["optimality"]["words"]
