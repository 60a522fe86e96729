"""Options of large applications: as a job that can be watched and cancelled, with bounded work."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import Star, Tenant
from sinemora.recommendations.core.holdout import performance_series
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.what_if import next_vms, options, options_job
from tests.api_clients import MeshWorld, code_of
from tests.recommendations.asking import NEAR, declared, moved
from tests.recommendations.conftest import mesh, worker
from tests.recommendations.measured_mesh import measured

assert mesh
assert worker
ASYNC = {"Prefer": "respond-async"}


def star_of(tasks: int, vms: int) -> Instance:
    """Return a star with a task on each of the first VMs, under round trips drawn at random."""
    drawn = np.random.default_rng(tasks).uniform(20, 900, (vms, vms))
    trips = np.triu(drawn, 1) + np.triu(drawn, 1).T
    at, nothing = [*range(tasks)], [(1, 0)] * tasks
    links = [(0, task, 1.0) for task in range(1, tasks)]
    application = Star(
        "cache", "memcached-server", True, at, [False] * tasks, nothing, links, (), (None, None), None, None
    )
    return instance_of(Tenant([2] * vms, [None] * vms, trips, [application], "loss", 10))


def path_of(application: dict) -> str:
    return f"/v1/applications/{application['id']}/options"


def test_a_job_finds_the_options_that_a_request_finds(mesh: MeshWorld, worker) -> None:
    measured(mesh, NEAR)
    path = path_of(declared(mesh))
    at_once = mesh.owner.get(path)
    assert at_once.status_code == 200
    accepted = mesh.owner.get(path, headers=ASYNC)
    assert accepted.status_code == 202
    again = mesh.owner.get(path, headers=ASYNC)
    assert again.json()["id"] == accepted.json()["id"]
    worker()
    job = mesh.owner.get(accepted.headers["Location"], params={"wait_s": 5}).json()
    assert (job["state"], job["result"]["options"]) == ("succeeded", len(at_once.json()["options"]))
    found = mesh.owner.get(job["result_href"]).json()
    assert found["options"] == at_once.json()["options"]
    assert found["untried"] == []


def test_a_large_application_is_answered_by_a_job(mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(mesh, NEAR)
    path = path_of(declared(mesh))
    monkeypatch.setattr(options_job, "AT_ONCE_MOST", 17)  # three tasks, six VMs
    job = mesh.owner.get(path)
    assert job.status_code == 202
    assert mesh.owner.post(f"/v1/jobs/{job.json()['id']}/cancel").json()["state"] == "cancelled"
    # A new request starts a new job.
    assert mesh.owner.get(path).json()["id"] != job.json()["id"]


def test_the_next_vm_goes_to_the_fastest_zone_and_idle_vms_are_ranked(mesh: MeshWorld) -> None:
    measured(mesh, NEAR)
    application = declared(mesh, "cache", ("a-1", "b-1"))
    path = f"/v1/applications/{application['id']}/next-vms"
    answer = mesh.owner.get(path, params={"vms": 1, "trial_max": 2, "price_per_hour": 0.5}).json()
    # From a-1 to c-1 and c-2 250 and 30 µs, to b-1 and b-2 400 and 60, to a-2 300.
    assert [place["zone"] for place in answer["places"]] == ["c", "b", "a"]
    first, last = answer["places"][0], answer["places"][-1]
    assert first["rent"] > 1
    assert first["performance"]["mean"] > first["first"]
    assert first["trial_price"] == 0.5 * (first["rent"] - 1)
    assert first["words"].startswith(
        f"Rent {first['rent']} in c, measure for an hour, keep the best 1; estimated from 2 V"
    )
    assert (last["rent"], last["performance"]["low"], last["performance"]["high"]) == (1, 0.0, 1.0)
    assert "too few for an interval" in last["words"]
    assert [one["vm"]["name"] for one in answer["idle"]] == ["c-2", "b-2", "c-1", "a-2"]
    assert answer["untried"] == []
    assert code_of(mesh.owner.get(path, params={"task": "nobody"})) == (404, "task_unknown")


def test_a_task_whose_peers_have_no_vm_gets_a_sentence(mesh: MeshWorld) -> None:
    measured(mesh, NEAR)
    application = moved(mesh, declared(mesh, "cache", ("a-1", "b-1")), {"cache-0": None})
    answer = mesh.owner.get(f"/v1/applications/{application['id']}/next-vms").json()
    assert answer["places"] == []
    assert {one["performance"] for one in answer["idle"]} == {None}
    assert answer["untried"] == ["Tasks that cache-1 talks to have no VM in this mesh: place them first."]


@pytest.mark.parametrize("root", [True, False])
def test_a_vm_without_a_measured_path_is_estimated_with_a_wider_interval(root: bool) -> None:
    world = star_of(3, 24)
    for trips in (world.training, world.holdout):
        trips[:, 0, 20] = trips[:, 20, 0] = np.nan
    application = world.applications[0]
    if not root:
        application = replace(application, root=None)
    _, idle = next_vms.advise(world, application, next_vms.usual_task(application), 1, 0, None)
    found = {one.machine: one.performance for one in idle}
    width = {at: one.high - one.low for at, one in found.items() if one is not None}
    assert set(width) == set(range(3, 24))
    assert width[20] > np.median([width[at] for at in range(3, 20)])


def test_links_of_other_tasks_need_not_be_computed_again() -> None:
    world = star_of(6, 12)
    application = world.applications[0]
    touched = (application.links.sources == 2) | (application.links.targets == 2)
    at = application.at.copy()
    at[2] = 11
    rest = options._part(world, application, application.at, ~touched)
    moved = options._part(world, application, at, touched)
    assert moved is not None
    parts = options._sum(rest, moved)
    whole = performance_series(application.links, at, world.holdout, application.sensitivity)
    np.testing.assert_allclose(parts.performance, whole.performance, atol=1e-12)
    np.testing.assert_allclose(parts.draws, whole.draws, atol=1e-12)


def test_the_largest_application_takes_bounded_time_and_says_what_is_untried() -> None:
    world = star_of(1_000, 1_000)
    (words,) = options.untried(world, 0)
    assert words == "Of 1000 VMs, only the 50 whose tasks lose most performance were tried elsewhere."
    reports: list[tuple[float, float]] = []
    options.options(world, 0, 10, 0.0, lambda share, step: reports.append((share, time.process_time())))
    shares, times = zip(*reports, strict=True)
    assert list(shares) == sorted(shares)
    assert times[-1] - times[0] < 30  # processor seconds; some 3 of them
    assert max(np.diff(times)) < 4  # from one look at whether to stop to the next
