"""Requests that can only fail are refused at once, not by a failed job."""

import time

import pytest
from httpx2 import Response

from sinemora.applications.schemas import TASKS_MAX
from tests.api_clients import MeshWorld, code_of
from tests.recommendations.asking import NEAR, PATH, asked, declared, declared_near, sized, with_tasks
from tests.recommendations.measured_mesh import measured

SCHEDULE = "/v1/meshes/{}/recommendation-schedules"


def both_ways(mesh: MeshWorld, question: dict) -> list[Response]:
    """Return the answers to a question that is asked at once, and to one that is to be asked on a schedule."""
    return [
        mesh.owner.post(PATH, json={"mesh": mesh.name, **question}),
        mesh.owner.put(SCHEDULE.format(mesh.id), json=question),
    ]


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
        ({}, {"policy": "nomora", "risk": "cvar"}, "request_invalid", "#", ""),
        ({}, {"policy": "nomora", "objective": "fair"}, "request_invalid", "#", ""),
        ({}, {"policy": "best", "explain": True}, "request_invalid", "#", ""),
        ({}, {"nomora": {"p_m": 105}}, "request_invalid", "#", ""),
        ({}, {"policy": "nomora", "nomora": {"gamma": 1000}}, "request_invalid", "#/nomora/gamma", ""),
        ({}, {"policy": "nomora", "nomora": {"q": 1}}, "request_invalid", "#/nomora/q", ""),
        ({}, {"bringing_cost": 0.01}, "request_invalid", "#/bringing_cost", "without `artifacts`"),
        (
            {},
            {"applications": ["shop"], "risk": "cvar"},
            "request_invalid",
            "#/risk",
            "no selected application is a star",
        ),
    ],
)
def test_what_can_only_fail_is_refused(mesh: MeshWorld, worker, limits, question, code, pointer, words):
    declared(mesh, "other", ("a-2", "b-2"))
    tasks = [{"name": "web", "vm": "c-2"}, {"name": "db"}]
    with_tasks(mesh, "shop", tasks, edges=[{"source": "web", "target": "db"}])
    declared(mesh, **limits)
    for answer in both_ways(mesh, question):
        problem = answer.json()
        # An id or name that does not exist is 404 wherever it stands (docs/api/README.md).
        assert (answer.status_code, problem["code"]) == (404 if code.endswith("_unknown") else 422, code)
        assert problem["errors"][0]["pointer"] == pointer
        assert words in problem["errors"][0]["message"]
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
    application = declared_near(mesh)
    job = mesh.owner.post(PATH, json={"mesh": mesh.name, "policy": "nomora"}).headers["Location"]
    mesh.owner.patch(f"/v1/applications/{application['id']}", json={"per_vm_max": 1})
    worker()
    problem = mesh.owner.get(job).json()["problem"]
    assert (problem["code"], problem["status"]) == ("policy_unsupported", 409)
    assert code_of(mesh.owner.get(f"{job}/result")) == (409, "policy_unsupported")


def test_the_largest_request_is_answered(mesh: MeshWorld, worker):
    """All limits at once: names of applications, look-back, moves, and an application of the most tasks on few VMs."""
    tasks_of = [{"name": f"task-{at}", "vm": mesh.agents[at % 6].name, "root": at == 0} for at in range(TASKS_MAX)]
    for agent in mesh.agents:
        sized(mesh, agent.name, slots=TASKS_MAX // 6 + 100)
    with_tasks(mesh, "cache", tasks_of)
    measured(mesh, NEAR)
    began = time.process_time()
    recommendation = asked(mesh, worker, applications=["cache"] * 1_000, minutes=1_440, moves_max=10_000, move_cost=0)
    assert time.process_time() - began < 20
    assert recommendation["steps"]
    assert len(recommendation["steps"]) <= TASKS_MAX
    assert recommendation["result"]["optimality"]["state"] in ("optimal", "bounded")
