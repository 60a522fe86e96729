"""Recommendations through HTTP, on round trips whose truth is known."""

from uuid import UUID

import numpy as np
import pytest

from sinemora.applications.curves.core.library import published
from sinemora.jobs import service as jobs
from sinemora.recommendations import explanation, tasks
from tests.api_clients import Member, MeshWorld, code_of
from tests.recommendations.asking import NEAR, PATH, asked, declared, declared_near, sized, with_tasks
from tests.recommendations.measured_mesh import measured

CURVE = published("memcached-server").curve


def test_it_finds_the_moves_a_person_would(mesh: MeshWorld, worker):
    declared_near(mesh)
    recommendation = asked(mesh, worker)
    steps = {(step["task"]["name"], step["source"]["name"], step["target"]["name"]) for step in recommendation["steps"]}
    assert {(source, target) for _, source, target in steps} <= {
        ("b-1", "c-2"),
        ("b-1", "b-2"),
        ("c-1", "c-2"),
        ("c-1", "b-2"),
    }
    assert len(steps) == 2
    total = recommendation["result"]["total"]
    truth = [np.mean([float(CURVE(us)) for us in pair]) for pair in ((400, 250), (30, 60))]
    assert total["before"]["mean"] == pytest.approx(truth[0], abs=0.01)
    assert total["after"]["mean"] == pytest.approx(truth[1], abs=0.01)
    assert total["gain"]["low"] <= truth[1] - truth[0] + 0.01
    # Never certain.
    assert 0.97 < total["probability"] <= 0.99
    # Published on other hardware: the same round trips gain more or less.
    assert total["gain"]["high"] - total["gain"]["low"] > 0.05
    proof = recommendation["result"]["optimality"]
    assert (proof["state"], proof["gap"]) == ("optimal", 0)
    assert proof["words"].startswith("Optimal in mean performance over tasks, less the price of moves: no placement")
    assert recommendation["result"]["certificate"] is None
    evidence = recommendation["result"]["evidence"]
    assert (evidence["chosen_on"], evidence["judged_on"], evidence["paths_assumed"]) == (4, 6, 0)
    assert (evidence["gap_s"], evidence["blocks"], evidence["shortage"]) == (134, 6, None)
    assert 0 <= evidence["age_s"] < 60
    for step in recommendation["steps"]:
        assert "instead of" in step["explanation"]
        # The other of the two sources, or a VM nobody uses; never the root's, nor where the plan has the other task.
        known = {("a-1", one): us for (_, one), us in NEAR.items()}
        here, other = (known.get(("a-1", vm["name"]), 300.0) for vm in (step["target"], step["runner_up"]["vm"]))
        assert step["runner_up"]["vm"]["name"] not in {"a-1", *(target for _, _, target in steps)}
        assert step["runner_up"]["worse_by"] == pytest.approx(float(CURVE(here) - CURVE(other)), abs=0.02)
        back = min(other, known["a-1", step["source"]["name"]])
        assert step["slack_us"] == pytest.approx(back - here, abs=15)
        assert step["rollback"].startswith("Move cache-")
    assert [point["moves"] for point in recommendation["result"]["pareto_front"]] == [1, 2]


def test_nothing_moves_when_nothing_is_gained(mesh: MeshWorld, worker):
    declared(mesh)
    measured(mesh, {}, noise_us=40)
    recommendation = asked(mesh, worker)
    assert (recommendation["steps"], recommendation["result"]["total"]) == ([], None)
    assert recommendation["moves"] == 0
    assert code_of(mesh.owner.post(f"{PATH}/{recommendation['id']}/apply")) == (409, "moves_none")


def test_two_applications_change_places(mesh: MeshWorld, worker):
    declared(mesh, "east", ("a-1", "b-2"))
    declared(mesh, "west", ("b-1", "a-2"))
    measured(mesh, {("a-1", "a-2"): 30.0, ("b-1", "b-2"): 30.0, ("a-1", "b-2"): 400.0, ("b-1", "a-2"): 400.0})
    recommendation = asked(mesh, worker)
    moved = {
        (step["application"]["name"], step["source"]["name"], step["target"]["name"])
        for step in recommendation["steps"]
    }
    assert moved == {("east", "b-2", "a-2"), ("west", "a-2", "b-2")}
    # A circle between full machines borrows a slot from one that is free.
    assert [step["via"] is not None for step in recommendation["steps"]] == [True, False]
    assert {application["application"]["name"] for application in recommendation["result"]["applications"]} == {
        "east",
        "west",
    }


SLOW_US = 900.0


@pytest.mark.parametrize(
    ("risk", "truth"),
    [
        ("mean", lambda us, slow: (7 * CURVE(us) + CURVE(slow)) / 8),
        ("cvar", lambda us, slow: CURVE(slow)),
    ],
)
def test_bad_moments_of_a_path_count_when_asked(mesh: MeshWorld, worker, risk, truth):
    declared(mesh, vms=("a-1", "b-1"))
    trips = {("a-1", "c-2"): 30.0, ("a-1", "b-2"): 45.0, ("a-1", "b-1"): 400.0}
    measured(mesh, trips, one_in_eight_us={("a-1", "c-2"): SLOW_US})
    (plain,) = asked(mesh, worker)["steps"]
    assert plain["target"]["name"] == "c-2"  # by its median the nearest
    recommendation = asked(mesh, worker, risk=risk)
    (step,) = recommendation["steps"]
    assert step["target"]["name"] == "b-2"
    # What it promises, and what the runner-up lacks, is missed of the whole distribution too.
    after, other = float(truth(45, 45)), float(truth(30, SLOW_US))
    assert step["gain"]["after"]["mean"] == pytest.approx(after, abs=0.02)
    assert step["gain"]["before"]["mean"] == pytest.approx(float(truth(400, 400)), abs=0.02)
    known = {"c-2": other}
    rival = known.get(step["runner_up"]["vm"]["name"], float(CURVE(300)))
    assert step["runner_up"]["worse_by"] == pytest.approx(after - rival, abs=0.03)
    assert "exchanges)" in step["explanation"]
    assert recommendation["result"]["optimality"]["state"] == "optimal"


WAITING = [{"name": "server", "vm": "a-1", "root": True}, {"name": "near", "vm": "c-2"}, {"name": "new"}]


@pytest.mark.parametrize("risk", [None, "cvar"])
def test_waiting_tasks_get_the_nearest_vm(mesh: MeshWorld, worker, risk):
    with_tasks(mesh, "cache", WAITING)
    measured(mesh, NEAR)
    recommendation = asked(mesh, worker, risk=risk, moves_max=0)
    (step,) = recommendation["steps"]
    assert (step["task"]["name"], step["source"], step["target"]["name"]) == ("new", None, "b-2")
    assert step["round_trip_before_ns"] is None
    assert "It is waiting now" in step["explanation"]
    assert step["rollback"].startswith("Stop new on b-2")
    assert step["gain"]["before"]["mean"] == 0
    # Judged by its slowest exchanges, noise makes a path a little longer.
    assert step["gain"]["after"]["mean"] == pytest.approx(float(CURVE(60)), abs=0.03 if risk else 0.01)
    applied = mesh.owner.post(f"{PATH}/{recommendation['id']}/apply").json()
    assert applied["state"] == "applied"
    tasks_now = mesh.owner.get("/v1/applications").json()["items"][0]["tasks"]
    assert {task["name"]: task["vm"]["name"] for task in tasks_now}["new"] == "b-2"


def refused(mesh: MeshWorld, worker, **more) -> dict:
    """Return the error of a request without a recommendation."""
    answer = mesh.owner.post(PATH, json={"mesh": mesh.name, **more})
    worker()
    job = mesh.owner.get(answer.headers["Location"]).json()
    assert job["state"] == "failed"
    return job["problem"]


def test_what_is_missing_is_named_by_the_job(mesh: MeshWorld, worker, monkeypatch: pytest.MonkeyPatch):
    application = declared(mesh)
    assert refused(mesh, worker)["code"] == "matrix_missing"
    measured(mesh, NEAR)
    monkeypatch.setattr(explanation, "ARCS_MAX", 3)
    assert refused(mesh, worker, policy="nomora", explain=True)["code"] == "network_too_large"
    assert mesh.owner.delete(f"/v1/applications/{application['id']}").status_code == 204
    assert refused(mesh, worker)["code"] == "applications_missing"


PINNED_SERVER = {"name": "server", "vm": "a-1", "root": True, "pinned": True}


@pytest.mark.parametrize(
    ("near", "limit", "taken", "relax"),
    [
        ("a-2", {"zones": ["a", "c"]}, ("c-1", "c-2"), ["allow cache more zones"]),
        (
            "b-2",
            {"per_zone_max": 1},
            ("a-2", "c-1", "c-2"),
            ["unpin tasks of cache", "let cache have more than 1 in one zone"],
        ),
    ],
)
def test_what_finds_no_place_names_the_limit_to_relax(mesh: MeshWorld, worker, near, limit, taken, relax):
    with_tasks(mesh, "cache", [PINNED_SERVER, {"name": "near", "vm": near}, {"name": "new"}], **limit)
    declared(mesh, "other", taken)
    measured(mesh, NEAR)
    error = refused(mesh, worker, risk="cvar", applications=["cache"], moves_max=0)
    assert error["code"] == "placement_impossible"
    assert "1 task unplaced (cache)" in error["detail"]
    assert error["relax"] == relax


@pytest.mark.parametrize(
    ("moves_max", "own", "words"),
    [
        (0, None, "below its objective of 99.0 %, no moves allowed: raise moves_max of the request, lower"),
        (10, 0, "below its objective of 99.0 %, no moves allowed: raise moves_max of cache, lower"),
        (1, None, "below its objective of 99.0 %, with at most 1 move: lower the objective, relax a limit"),
    ],
)
def test_the_reason_of_a_missed_objective_names_the_budget_of_moves(mesh: MeshWorld, worker, moves_max, own, words):
    declared_near(mesh, objective=0.99, moves_max=own)
    answer = asked(mesh, worker, moves_max=moves_max)["result"]
    assert words in " ".join(answer["rejected"])
    assert answer["constraints"][-1] == {0: "no moves allowed", 1: "at most 1 move", 10: "at most 10 moves"}[moves_max]
    assert "feasible moves" not in str(answer)


def test_a_pin_that_keeps_others_out_is_named(mesh: MeshWorld, worker):
    pinned = [{"name": "server", "vm": "a-1", "root": True}, {"name": "client", "vm": "c-2", "pinned": True}]
    with_tasks(mesh, "cache", pinned)
    declared(mesh, "other", ("c-1", "b-2"))
    late = [{"name": "late-0", "vm": "b-1", "root": True, "pinned": True}, {"name": "new"}]
    with_tasks(mesh, "late", late, zones=["b", "c"])
    measured(mesh, NEAR)
    error = refused(mesh, worker, applications=["cache", "late"])
    # Without its pin, the client of cache would have to move for the gain of late, which cache does not consent to.
    assert error["relax"] == ["allow late more zones"]


@pytest.mark.parametrize("policy", ["best", "nomora"])
def test_too_few_slots_are_counted(owner: Member, make_mesh, worker, policy):
    mesh = make_mesh(owner, 2)
    tasks_of = [{"name": "server", "vm": "a-1", "root": True}, {"name": "one", "vm": "b-1"}, {"name": "two"}]
    with_tasks(mesh, "cache", tasks_of)
    measured(mesh, {})
    assert refused(mesh, worker, policy=policy)["relax"] == ["add 1 slot to a-1"]


def test_the_published_network_is_returned_arc_by_arc(mesh: MeshWorld, worker):
    declared_near(mesh)
    answer = asked(mesh, worker, policy="nomora", explain=True)["result"]
    arcs = answer["network"]
    assert sum(arc["cost"] * arc["flow"] for arc in arcs) == answer["certificate"]["primal"]
    assert {arc["tail"][0] for arc in arcs} == {"T", "U", "X", "R", "M"}
    nodes = {arc["head"] for arc in arcs} - {"S"}
    for node in nodes:  # what flows in flows out
        assert sum(arc["flow"] * ((arc["head"] == node) - (arc["tail"] == node)) for arc in arcs) == 0, node
    assert sum(arc["flow"] for arc in arcs if arc["head"] == "S") == 2  # both tasks; the root's place is its own
    assert asked(mesh, worker, policy="nomora")["result"]["network"] is None


def test_a_graph_moves_as_a_whole_to_where_its_edges_are_short(mesh: MeshWorld, worker):
    tasks_of = [{"name": name, "vm": vm} for name, vm in (("web", "a-1"), ("db", "b-1"), ("queue", "c-1"))]
    edges = [{"source": "web", "target": "db", "weight": 3}, {"source": "db", "target": "queue"}]
    with_tasks(mesh, "shop", tasks_of, edges=edges)
    # Between b-2, c-2 and a-2 all is near; elsewhere it is 300 µs.
    measured(mesh, {("a-2", "b-2"): 60.0, ("b-2", "c-2"): 30.0, ("a-2", "c-2"): 90.0})
    recommendation = asked(mesh, worker)
    at = {step["task"]["name"]: step["target"]["name"] for step in recommendation["steps"]}
    # The heavy edge gets the shortest path, the light one the next.
    assert at == {"web": "c-2", "db": "b-2", "queue": "a-2"}
    assert len({step["group"] for step in recommendation["steps"]}) == 1
    words = {step["task"]["name"]: step["explanation"] for step in recommendation["steps"]}
    for task, other, share in (("web", "db", "75.0 %"), ("db", "web", "75.0 %"), ("queue", "db", "25.0 %")):
        assert f"It helps the link with {other} most, which has {share} of the weight: " in words[task]
    assert recommendation["result"]["optimality"]["state"] == "optimal"
    # Nothing is certain: a hundredth is left to what no block has seen.
    assert 0.98 < recommendation["result"]["total"]["probability"] <= 0.99
    assert all(step["runner_up"] is not None for step in recommendation["steps"])


def test_a_task_moves_where_its_slots_and_cpu_are_free(mesh: MeshWorld, worker):
    # c-2 is nearest, but has not enough CPU for a client of two slots.
    sized(mesh, "b-1", slots=2)
    sized(mesh, "b-2", slots=2)
    sized(mesh, "c-2", slots=2, cpu_millicores=500)
    with_tasks(mesh, "cache", [PINNED_SERVER, {"name": "client", "vm": "b-1", "slots": 2, "cpu_millicores": 1_000}])
    measured(mesh, NEAR)
    published = asked(mesh, worker, policy="nomora", objective="slowdown")
    assert published["result"]["optimality"]["state"] == "heuristic"
    (step,) = asked(mesh, worker)["steps"]
    assert step["target"]["name"] == "b-2"


@pytest.mark.parametrize(("risk", "objective"), [("cvar", "fair"), (None, "worst_first")])
def test_objectives_are_chosen_by_name(mesh: MeshWorld, worker, risk, objective):
    declared_near(mesh)
    recommendation = asked(mesh, worker, risk=risk, objective=objective)
    assert {step["target"]["name"] for step in recommendation["steps"]} == {"b-2", "c-2"}
    assert (recommendation["policy"], recommendation["result"]["objective"]) == ("best", objective)
    state = recommendation["result"]["optimality"]["state"]
    assert state == ("heuristic" if objective == "worst_first" else "optimal")


def test_decisions_are_made_once(mesh: MeshWorld, worker):
    declared_near(mesh)
    path = f"{PATH}/{asked(mesh, worker)['id']}"
    seen = mesh.owner.get(path).headers["ETag"]
    dismissed = mesh.owner.post(f"{path}/dismiss", json={"reason": "maintenance"}, headers={"If-Match": seen}).json()
    assert (dismissed["state"], dismissed["reason"]) == ("dismissed", "maintenance")
    assert code_of(mesh.owner.post(f"{path}/accept")) == (409, "recommendation_decided")
    assert [item["state"] for item in mesh.owner.get(PATH, params={"state": "dismissed"}).json()["items"]] == [
        "dismissed"
    ]


def test_too_few_windows_to_evaluate_say_how_many_are_needed(mesh: MeshWorld, worker):
    declared(mesh)
    measured(mesh, NEAR, windows=5)
    words = "5 over 4.2 minutes, 1 more window is needed, one every 60 s"
    recommendation = asked(mesh, worker)
    assert recommendation["steps"] == []
    assert words in recommendation["result"]["evidence"]["shortage"]
    assert words in " ".join(recommendation["result"]["rejected"])


def test_a_target_that_turned_bad_in_the_newest_minutes_is_not_recommended(mesh: MeshWorld, worker):
    declared(mesh, vms=("a-1", "b-1"))
    measured(mesh, NEAR | {("a-1", "b-2"): 300.0}, windows=23, ago=13)
    measured(mesh, NEAR | {("a-1", "c-2"): 900.0, ("a-1", "b-2"): 300.0}, windows=2)
    recommendation = asked(mesh, worker)
    # The search goes on without it: the next best VM is still nearer than the present one.
    assert [step["target"]["name"] for step in recommendation["steps"]] == ["c-1"]
    (rejected,) = [line for line in recommendation["result"]["rejected"] if " to c-2" in line]
    assert "in the newest 2 minutes" in rejected


def test_stale_measurements_are_refused_and_older_ones_dated(mesh: MeshWorld, worker):
    declared(mesh)
    measured(mesh, NEAR, ago=6 * 16)
    problem = refused(mesh, worker, minutes=120)
    assert problem["code"] == "measurements_stale"
    assert "ended 16 minutes ago, at most 15 are allowed" in problem["detail"]
    measured(mesh, NEAR, ago=6 * 12)
    evidence = asked(mesh, worker, minutes=120)["result"]["evidence"]
    assert 650 < evidence["age_s"] < 800


@pytest.mark.whole_store
def test_it_asks_by_itself(mesh: MeshWorld, worker):
    declared_near(mesh, objective=0.99)
    tasks.ask()
    worker()
    assert [item["trigger"] for item in mesh.owner.get(PATH).json()["items"]] == ["objective"]
    tasks.ask()
    worker()
    assert len(mesh.owner.get(PATH).json()["items"]) == 1
    schedule = f"/v1/meshes/{mesh.id}/recommendation-schedules"
    assert mesh.owner.get(schedule).json()["code"] == "schedule_unknown"
    assert mesh.owner.put(schedule, json={"every_h": 24, "moves_max": 3}).json()["request"]["moves_max"] == 3
    for _ in range(2):
        tasks.ask()
        worker()
    assert [item["trigger"] for item in mesh.owner.get(PATH).json()["items"]] == ["scheduled", "objective"]
    assert mesh.owner.delete(schedule).status_code == 204


@pytest.mark.whole_store
@pytest.mark.parametrize("full", [0, 1])
def test_a_tenant_with_too_many_jobs_does_not_keep_others_from_asking(
    mesh: MeshWorld, worker, make_mesh, other_owner: Member, monkeypatch: pytest.MonkeyPatch, full: int
):
    worlds = [mesh, make_mesh(other_owner, 2)]
    monkeypatch.setattr(jobs, "OPEN_MAX", 1)
    for world in worlds:
        declared(world, vms=tuple(vm.name for vm in world.agents[:2]))
        body = {"every_h": 24}
        assert world.owner.put(f"/v1/meshes/{world.id}/recommendation-schedules", json=body).status_code == 200
    assert worlds[full].owner.post(PATH, json={"mesh": worlds[full].name}).status_code == 202
    tasks.ask()
    titles = [[job["title"] for job in world.owner.get("/v1/jobs").json()["items"]] for world in worlds]
    assert [len(one) for one in titles] == [1, 1], titles


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "request_invalid", "#"),
        ({"mesh": "{name}", "mesh_id": "{id}"}, "request_invalid", "#"),
        ({"mesh": "unknown"}, "mesh_unknown", "#/mesh"),
        ({"mesh_id": str(UUID(int=1))}, "mesh_unknown", "#/mesh_id"),
    ],
)
def test_a_request_names_exactly_one_known_mesh(mesh: MeshWorld, body: dict[str, str], code: str, pointer: str):
    filled = {field: value.format(name=mesh.name, id=mesh.id) for field, value in body.items()}
    answer = mesh.owner.post(PATH, json=filled)
    assert (answer.status_code, answer.json()["code"]) == (404 if code.endswith("_unknown") else 422, code)
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    by_id = mesh.owner.post(PATH, json={"mesh_id": str(mesh.id)})
    assert by_id.json()["params"]["mesh_id"] == str(mesh.id)


def test_limits_that_contradict_the_inventory_are_reported(mesh: MeshWorld, worker):
    """A VM has fewer slots than are pinned to it."""
    declared(mesh)
    declared(mesh, "other", ("a-1", "b-2"))
    with_tasks(mesh, "pinned", [PINNED_SERVER, {"name": "client", "vm": "c-1", "pinned": True}])
    measured(mesh, NEAR)
    assert asked(mesh, worker, applications=["cache"])["result"]["broken"] == [
        "Tasks pinned to a-1 take 3 slots, and it has 1 slot: unpin some, or correct its capacity."
    ]
    sized(mesh, "a-1", slots=3)
    assert asked(mesh, worker)["result"]["broken"] == []


def moved(recommendation: dict) -> set[tuple[str, str, str]]:
    return {
        (step["application"]["name"], step["task"]["name"], step["target"]["name"]) for step in recommendation["steps"]
    }


def test_thresholds_of_curves_are_exact(mesh: MeshWorld, worker):
    """The curve falls at 40 µs; in steps of 10 µs both round trips would be 40 µs."""
    tasks_of = [
        {"name": "server", "vm": "a-1", "root": True, "pinned": True},
        {"name": "client", "vm": "b-1"},
    ]
    with_tasks(mesh, "cache", tasks_of, curve="memcached-client", move_cost=0)
    measured(mesh, {("a-1", "b-1"): 44.5, ("a-1", "c-2"): 36.0}, noise_us=0)
    recommendation = asked(mesh, worker)
    assert moved(recommendation) == {("cache", "client", "c-2")}
    assert recommendation["result"]["optimality"]["state"] == "optimal"


def test_a_swap_that_finds_no_order_does_not_keep_a_task_from_its_start(mesh: MeshWorld, worker):
    sized(mesh, "c-1", slots=3)
    sized(mesh, "a-2", slots=2)
    for name, root, vm in (("east", "a-1", "c-1"), ("west", "b-1", "a-2")):
        wide = [{"name": "root", "vm": root, "root": True, "pinned": True}, {"name": "wide", "vm": vm, "slots": 2}]
        with_tasks(mesh, name, wide)
    with_tasks(mesh, "late", [{"name": "root", "vm": "b-2", "root": True, "pinned": True}, {"name": "new"}])
    near = {("a-1", "a-2"): 30.0, ("b-1", "c-1"): 30.0, ("b-2", "c-1"): 30.0}
    measured(mesh, near | {("a-1", "c-1"): 400.0, ("b-1", "a-2"): 400.0})
    recommendation = asked(mesh, worker)
    assert moved(recommendation) == {("late", "new", "c-1")}
    assert "without a spare slot" in " ".join(recommendation["result"]["rejected"])
    assert "rejected afterwards" in recommendation["result"]["optimality"]["words"]
