"""Cost to bring an artifact to the VM of a move: shown with each move, and a term of its cost."""

import hashlib

import pytest

from tests.api_clients import MeshWorld
from tests.artifacts.test_artifacts import exchange, publish, switch
from tests.recommendations.asking import PATH, asked, declared, declared_near

pytestmark = pytest.mark.usefixtures("secret_key")


@pytest.fixture
def image(mesh: MeshWorld) -> dict:
    """An artifact of 1 MB at 1 Mbit/s, of which every VM but the last holds half: 4 s, and 8 s to the last."""
    switch(mesh.owner, mesh, enabled=True, rate_mbit=1)
    base = publish(mesh.owner, mesh, b"x" * 500_000, name="base")
    made = publish(mesh.owner, mesh, b"x" * 500_000, b"y" * 500_000, name="image")
    for agent in mesh.agents[:-1]:
        exchange(agent, {"artifact_id": base["id"], "state": "complete", "blocks_held": 1})
    return made


def test_each_move_says_what_it_brings(mesh: MeshWorld, worker, image):
    declared_near(mesh)
    last = mesh.agents[-1].name
    steps = asked(mesh, worker, artifacts={"cache": "image"})["steps"]
    assert len(steps) == 2
    for step in steps:
        share, seconds = (1.0, 8) if step["target"]["name"] == last else (0.5, 4)
        assert (step["bringing"]["share"], step["bringing"]["seconds"]) == (share, pytest.approx(seconds))
        assert f"It brings {share:.0%}".replace("%", " %") in step["explanation"]
    assert all(step["bringing"] is None for step in asked(mesh, worker)["steps"])


def test_a_cost_of_bringing_that_prevents_a_move_is_named(mesh: MeshWorld, worker, image):
    declared_near(mesh, move_cost=0.01)
    large = [hashlib.sha256(bytes([n])).digest() * 30_000 for n in range(12)]
    publish(mesh.owner, mesh, *large, name="large")
    prevented = asked(mesh, worker, artifacts={"cache": "large"}, bringing_cost=1)
    assert prevented["steps"] == []
    limits = [limit for one in prevented["result"]["binding"] for limit in one["limits"]]
    costs = [limit for limit in limits if limit["kind"] == "bringing_cost"]
    assert costs, prevented["result"]
    assert all("bringing the artifact of cache to " in limit["limit"] for limit in costs)
    assert all(limit["relax"].startswith("lower bringing_cost, or copy the artifact to ") for limit in costs)
    # What is called too much is not called a move cost.
    assert not any(limit["kind"] == "move_cost" for limit in limits)
    # The relaxation does what it says.
    assert asked(mesh, worker, artifacts={"cache": "large"}, bringing_cost=0)["steps"] != []


@pytest.mark.parametrize(
    ("artifacts", "code", "named"),
    [({"none": "image"}, "application_unknown", "artifacts: none"), ({"cache": "none"}, "artifact_unknown", "none")],
)
def test_unknown_names_are_refused_at_once(mesh: MeshWorld, image, artifacts, code, named):
    declared(mesh)
    answer = mesh.owner.post(PATH, json={"mesh": mesh.name, "artifacts": artifacts})
    assert (answer.status_code, answer.json()["code"]) == (404, code)
    assert named in answer.json()["detail"]


def test_the_artifact_of_an_application_that_is_not_selected_is_refused(mesh: MeshWorld, image):
    declared(mesh)
    declared(mesh, "other", ("a-2", "b-2"))
    body = {"mesh": mesh.name, "applications": ["other"], "artifacts": {"cache": "image"}}
    answer = mesh.owner.post(PATH, json=body)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert (error["pointer"], "cache is not among" in error["message"]) == ("#/artifacts/cache", True)
    assert mesh.owner.post(PATH, json=body | {"applications": ["other", "cache"]}).status_code == 202
