"""Several clients at once: two tenants, two users of one of them, searches and options, on two solvers."""

import threading
from concurrent.futures import ThreadPoolExecutor
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


def test_a_search_that_is_cancelled_while_it_runs_stores_nothing(mesh: MeshWorld, worker) -> None:
    measured(mesh, NEAR)
    declared(mesh)
    job = mesh.owner.post(PATH, json={"mesh": mesh.name}).json()
    runs = threading.Thread(target=worker)
    runs.start()
    cancelled = mesh.owner.post(f"/v1/jobs/{job['id']}/cancel")
    runs.join(WAIT_MOST_S)
    now = mesh.owner.get(f"/v1/jobs/{job['id']}").json()
    # It may end before the cancel arrives; then its result stays.
    assert cancelled.status_code == 200
    assert now["state"] in ("cancelled", "succeeded")
    stored = mesh.owner.get(PATH).json()["items"]
    assert len(stored) == (1 if now["state"] == "succeeded" else 0)
    again = mesh.owner.post(f"/v1/jobs/{job['id']}/cancel").json()
    assert again["state"] == now["state"]


def together(*requests: tuple[Member, str, str, dict]) -> list[int]:
    """Return the status codes of requests made at once."""
    with ThreadPoolExecutor(len(requests)) as pool:
        calls = [
            pool.submit(client.request, method, path, json=body, headers={"If-Match": "*"})
            for client, method, path, body in requests
        ]
        return [call.result().status_code for call in calls]


def test_two_owners_never_wait_for_each_other_in_a_circle(mesh: MeshWorld, worker) -> None:
    """Moves, constraints of both sides and deletions, two at once: no answer is a failure of ours."""
    measured(mesh, NEAR)
    colleague = join(mesh.owner, "editor")
    codes = []
    for number in range(4):
        mine, other = (declared(mesh, name=f"{name}-{number}") for name in ("mine", "other"))
        job = mesh.owner.post(PATH, json={"mesh": mesh.name, "applications": [mine["name"]]}).json()
        worker()
        found = mesh.owner.get(f"/v1/jobs/{job['id']}").json()["result"]["recommendation_id"]
        tasks = {
            "tasks": [{"name": one["name"], "vm": one["vm"]["name"], "root": one["root"]} for one in mine["tasks"]]
        }
        path, others = (f"/v1/applications/{one['id']}" for one in (mine, other))
        codes += together((mesh.owner, "POST", f"{PATH}/{found}/apply", {}), (colleague, "PATCH", path, tasks))
        codes += together(
            (mesh.owner, "PATCH", path, {"apart_from": [other["name"]]}),
            (colleague, "PATCH", others, {"apart_from": [mine["name"]]}),
        )
        codes += together((mesh.owner, "PATCH", path, tasks), (colleague, "DELETE", path, {}))
    assert max(codes) < 500, codes
