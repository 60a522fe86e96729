"""Requests that can only fail are refused at once, not by a failed job."""

import pytest

from tests.callers import MeshWorld
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
    assert (answer.status_code, problem["code"]) == (422, code)
    assert problem["errors"][0]["pointer"] == pointer
    assert words in problem["errors"][0]["message"]
    assert mesh.owner.get("/v1/jobs").json()["items"] == []


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
