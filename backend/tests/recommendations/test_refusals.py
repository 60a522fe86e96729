"""Requests that can only fail are refused at once, not by a failed job."""

import time

import pytest

from sinemora.applications.schemas import TASKS_MAX
from tests.api_clients import MeshWorld
from tests.recommendations.asking import NEAR, PATH, asked, declared
from tests.recommendations.measured_mesh import measured

SCHEDULE = "/v1/meshes/{}/recommendation-schedules"


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize(
    ("limits", "question", "code", "pointer", "words"),
    [
        ({}, {"applications": ["cache", "nginx"]}, "application_unknown", "#/applications/1", "nginx"),
        ({"per_vm_max": 1}, {"policy": "nomora"}, "policy_unsupported", "#/policy", "which cache has"),
        ({"zones": ["a"]}, {"policy": "nomora"}, "policy_unsupported", "#/policy", "which cache has"),
        (
            {"apart_from": ["other"]},
            {"policy": "nomora"},
            "policy_unsupported",
            "#/policy",
            "which cache and other have",
        ),
    ],
)
def test_what_can_only_fail_is_refused(mesh: MeshWorld, worker, scheduled, limits, question, code, pointer, words):
    declared(mesh, "other", ("a-2", "b-2"))
    declared(mesh, **limits)
    if scheduled:
        answer = mesh.owner.put(SCHEDULE.format(mesh.id), json=question)
    else:
        answer = mesh.owner.post(PATH, json={"mesh": mesh.name, **question})
    problem = answer.json()
    # An id or name that does not exist is 404 wherever it stands (docs/api/README.md).
    assert (answer.status_code, problem["code"]) == (404 if code.endswith("_unknown") else 422, code)
    assert problem["errors"][0]["pointer"] == pointer
    assert words in problem["errors"][0]["message"]
    assert mesh.owner.get("/v1/jobs").json()["items"] == []


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize(
    ("question", "pointer", "words"),
    [
        ({"bringing_cost": 0.01}, "#/bringing_cost", "without `artifacts`"),
        ({"applications": ["shop"], "risk": "cvar"}, "#/risk", "no selected application is a star"),
    ],
)
def test_an_option_without_effect_is_refused(mesh: MeshWorld, worker, scheduled, question, pointer, words):
    declared(mesh)
    tasks = [{"name": "web", "vm": "a-2"}, {"name": "db", "vm": "b-2"}]
    edges = [{"source": "web", "target": "db"}]
    shop = {"name": "shop", "mesh": mesh.name, "curve": "dns", "tasks": tasks, "edges": edges}
    mesh.owner.created("/v1/applications", shop)
    if scheduled:
        answer = mesh.owner.put(SCHEDULE.format(mesh.id), json=question)
    else:
        answer = mesh.owner.post(PATH, json={"mesh": mesh.name, **question})
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert words in error["message"]
    assert mesh.owner.get("/v1/jobs").json()["items"] == []


def test_options_at_their_defaults_are_accepted(mesh: MeshWorld, worker):
    declared(mesh)
    body = {"mesh": mesh.name, "bringing_cost": 0, "artifacts": {}, "risk": "cvar", "explain": False, "nomora": None}
    assert mesh.owner.post(PATH, json=body).status_code == 202


def test_a_limit_of_an_application_not_asked_about_refuses_nothing(mesh: MeshWorld, worker):
    declared(mesh)
    declared(mesh, "other", ("a-2", "b-2"), per_zone_max=1)
    measured(mesh, NEAR)
    assert asked(mesh, worker, policy="nomora", applications=["cache"])["steps"]
    assert mesh.owner.post(PATH, json={"mesh": mesh.name, "policy": "nomora"}).status_code == 422


def test_a_limit_declared_after_the_request_is_named_by_the_job(mesh: MeshWorld, worker):
    application = declared(mesh)
    measured(mesh, NEAR)
    job = mesh.owner.post(PATH, json={"mesh": mesh.name, "policy": "nomora"}).headers["Location"]
    mesh.owner.patch(f"/v1/applications/{application['id']}", json={"per_vm_max": 1})
    worker()
    problem = mesh.owner.get(job).json()["problem"]
    assert (problem["code"], problem["status"]) == ("policy_unsupported", 409)
    answer = mesh.owner.get(f"{job}/result")
    assert (answer.status_code, answer.json()["code"]) == (409, "policy_unsupported")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"applications": ["cache"] * 1_001}, "#/applications"),
        ({"moves_max": 10_001}, "#/moves_max"),
        ({"moves_max": -1}, "#/moves_max"),
        ({"minutes": 1_441}, "#/minutes"),
        ({"move_cost": 1.01}, "#/move_cost"),
        ({"mesh": "m" * 101}, "#/mesh"),
    ],
)
def test_just_above_the_limits_a_request_is_refused(mesh: MeshWorld, worker, change, pointer):
    declared(mesh)
    answer = mesh.owner.post(PATH, json={"mesh": mesh.name, **change})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert mesh.owner.get("/v1/jobs").json()["items"] == []


def test_the_largest_request_is_answered(mesh: MeshWorld, worker):
    """All limits at once: names of applications, look-back, moves, and an application of the most tasks on few VMs."""
    tasks_of = [{"name": f"task-{at}", "vm": mesh.agents[at % 6].name, "root": at == 0} for at in range(TASKS_MAX)]
    body = {"name": "cache", "mesh": mesh.name, "curve": "memcached-server", "tasks": tasks_of}
    for agent in mesh.agents:
        slots = {"slots": TASKS_MAX // 6 + 100}
        assert mesh.owner.patch(f"/v1/vms/{agent.vm_id}/capacity", json=slots).status_code == 200
    too_many = [*tasks_of, {"name": "one-more", "vm": mesh.agents[0].name}]
    refused = mesh.owner.post("/v1/applications", json={**body, "tasks": too_many})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "#/tasks")
    mesh.owner.created("/v1/applications", body)
    measured(mesh, NEAR)
    began = time.process_time()
    recommendation = asked(mesh, worker, applications=["cache"] * 1_000, minutes=1_440, moves_max=10_000, move_cost=0)
    assert time.process_time() - began < 20
    assert recommendation["steps"]
    assert len(recommendation["steps"]) <= TASKS_MAX
    assert recommendation["result"]["optimality"]["state"] in ("optimal", "bounded")
