"""Several clients at once: two tenants, two users of one of them, searches and options, on two solvers."""

import threading
from datetime import datetime

import pytest

from sinemora.jobs import executor
from sinemora.jobs.models import Queue
from tests.api_clients import Member, MeshWorld, join
from tests.recommendations.asking import NEAR, PATH, declared
from tests.recommendations.measured_mesh import measured
from tests.waits import WAIT_MOST_S

pytestmark = pytest.mark.whole_store


def solver() -> None:
    """Take jobs as a worker with one slot does, one more than there are."""
    for _ in range(8):
        executor.run_next(Queue.solve)


def test_tenants_and_users_solve_at_once(mesh: MeshWorld, make_mesh, other_owner: Member, worker) -> None:
    assert worker  # messages are not sent; this test runs the jobs
    theirs = make_mesh(other_owner, 6)
    colleague = join(mesh.owner, "editor")
    for world in (mesh, theirs):
        measured(world, NEAR)
    mine, application = declared(mesh), declared(theirs)
    question = {"mesh": mesh.name}
    asked = [client.post(PATH, json=question).json() for client in (mesh.owner, colleague, mesh.owner, colleague)]
    options = mesh.owner.get(f"/v1/applications/{mine['id']}/options", headers={"Prefer": "respond-async"}).json()
    late = other_owner.post(PATH, json={"mesh": theirs.name}).json()
    threads = [threading.Thread(target=solver) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_MOST_S)
    ended = {}
    for client, job in [*((mesh.owner, job) for job in [*asked, options]), (other_owner, late)]:
        now = client.get(f"/v1/jobs/{job['id']}").json()
        assert now["state"] == "succeeded", now["problem"]
        ended[job["id"]] = datetime.fromisoformat(now["started_at"])
    # The other tenant asked last, and does not wait for the five jobs before.
    assert ended[late["id"]] < max(ended[job["id"]] for job in [*asked, options])
    assert sum(start < ended[late["id"]] for start in ended.values()) <= 2
    answers = [mesh.owner.get(mesh.owner.get(f"/v1/jobs/{job['id']}").json()["result_href"]).json() for job in asked]
    assert len({answer["id"] for answer in answers}) == 4
    assert len({str([step["target"]["name"] for step in answer["steps"]]) for answer in answers}) == 1
    for answer in answers:
        assert other_owner.get(f"{PATH}/{answer['id']}").status_code == 404
    assert other_owner.get(PATH).json()["items"][0]["mesh"]["name"] == theirs.name
    assert application["mesh"]["name"] == theirs.name
