"""What-if questions, scenarios and options through HTTP, on round trips whose truth is known."""

from uuid import uuid4

import numpy as np
import pytest

from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.applications.predicted import predicted
from tests.recommendations.measured_mesh import measured

CURVE = predicted()
FAR = {("a-1", "b-1"): 400.0, ("a-1", "c-1"): 250.0, ("a-1", "c-2"): 30.0, ("a-1", "b-2"): 60.0}


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Six agents: a-1, b-1, c-1, a-2, b-2, c-2, measured, with a cache on the first three."""
    world = make_mesh(owner, 6)
    owner.created("/v1/applications", cache_on(world))
    measured(world, FAR)
    return world


def cache_on(world: MeshWorld) -> dict:
    """Return a cache whose server is on a-1, its clients on b-1 and c-1."""
    tasks = [{"name": f"cache-{at}", "vm": vm, "root": at == 0} for at, vm in enumerate(("a-1", "b-1", "c-1"))]
    return {"name": "cache", "mesh": world.name, "curve": "memcached-server", "tasks": tasks, "objective": 0.5}


def evaluate(mesh: MeshWorld, *changes: dict, **more) -> dict:
    return body_of(mesh.owner.post("/v1/what-if", json={"mesh": mesh.name, "changes": list(changes), **more}))


def kept(*round_trips_us: float) -> float:
    return float(np.mean([float(CURVE(us)) for us in round_trips_us]))


def test_performance_now_is_that_of_the_application_page(owner: Member, make_mesh):
    """The newest window differs from those before it: the default counts that one, a look-back the mean of all."""
    world = make_mesh(owner, 3)
    application = owner.created("/v1/applications", cache_on(world))
    measured(world, FAR, ago=2)
    measured(world, {pair: 5 * delay for pair, delay in FAR.items()}, windows=1)
    page = owner.get(f"/v1/applications/{application['id']}/performance").json()
    result = evaluate(world)
    (now,) = result["applications"]
    assert (result["statistic"], result["minutes"], result["windows"]) == ("p50", None, 1)
    assert result["window"] == page["window"]
    for field, end in (("performance", "mean"), ("low", "low"), ("high", "high")):
        assert now["before"][end] == pytest.approx(page[field], abs=1e-6)
    assert now["before"]["mean"] == pytest.approx(kept(2_000, 1_250), abs=0.01)
    (mean,) = evaluate(world, minutes=30)["applications"]
    assert mean["before"]["mean"] > now["before"]["mean"] + 0.05


def test_a_path_that_is_not_measured_counts_in_neither_place(owner: Member, make_mesh):
    world = make_mesh(owner, 3)
    application = owner.created("/v1/applications", cache_on(world))
    measured(world, FAR, without=("c-1",))
    page = owner.get(f"/v1/applications/{application['id']}/performance").json()
    (now,) = evaluate(world)["applications"]
    assert (page["measured"], page["links"]) == (1, 2)
    assert now["before"]["mean"] == now["after"]["mean"] == pytest.approx(page["performance"], abs=1e-6)
    onto_silent = {"kind": "task", "application": "cache", "task": "cache-1", "vm": "c-1"}
    (moved,) = evaluate(world, onto_silent)["applications"]
    assert (moved["after"], moved["gain"]) == (None, None)


def test_a_mesh_without_windows_says_so(owner: Member, make_mesh):
    world = make_mesh(owner, 2)
    for minutes in (None, 30):
        answer = owner.post("/v1/what-if", json={"mesh": world.name, "minutes": minutes})
        assert (answer.status_code, answer.json()["code"]) == (409, "matrix_missing")


def test_without_changes_all_stays(mesh: MeshWorld):
    result = evaluate(mesh)
    (fate,) = result["applications"]
    assert fate["before"] == fate["after"]
    assert fate["before"]["mean"] == pytest.approx(kept(400, 250), abs=0.01)
    assert (fate["waiting"], fate["beyond"], result["broken"], result["placed"]) == (0, 0, [], [])
    trips = result["trips"]
    assert (trips["by"], len(trips["names"])) == ("vm", 6)
    assert trips["before_ns"] == trips["after_ns"]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"kind": "task", "application": "cache", "task": "cache-1", "vm": "c-2"}, kept(30, 250)),
        ({"kind": "task", "application": "cache", "task": "cache-1", "vm": None}, kept(250) / 2),
        ({"kind": "latency", "zones": ["a", "b"], "added_us": 200}, kept(600, 250)),
        ({"kind": "latency", "zones": ["b", "a"], "added_us": -5_000}, kept(0, 250)),
        ({"kind": "drop_zone", "zone": "b"}, kept(250) / 2),
        # Made anew in c, b-1 is as c-1 and c-2 are towards a-1: 250 and 30 µs, in the middle 140.
        ({"kind": "vm", "vm": "b-1", "zone": "c"}, kept(140, 250)),
    ],
)
def test_each_change_does_what_it_says(mesh: MeshWorld, change: dict, after: float):
    (fate,) = evaluate(mesh, change)["applications"]
    assert fate["after"]["mean"] == pytest.approx(after, abs=0.012)
    assert fate["before"]["mean"] == pytest.approx(kept(400, 250), abs=0.01)
    assert fate["gain"]["gain"]["mean"] == pytest.approx(after - kept(400, 250), abs=0.02)
    assert fate["below_objective"] == (after < 0.5)


def test_another_curve_counts_from_there_on(mesh: MeshWorld):
    other = predicted("dns")
    (fate,) = evaluate(mesh, {"kind": "curve", "application": "cache", "curve": "dns"})["applications"]
    expected = float(np.mean([float(other(us)) for us in (400, 250)]))
    assert fate["after"]["mean"] == pytest.approx(expected, abs=0.02)


def test_links_beyond_the_domain_of_the_curve_are_counted(mesh: MeshWorld):
    slower = {"kind": "latency", "zones": ["a", "b"], "added_us": 50_000}
    (fate,) = evaluate(mesh, slower)["applications"]
    assert fate["beyond"] == 1
    assert fate["after"]["low"] < fate["after"]["mean"]


def test_tasks_of_a_dropped_zone_find_other_vms(mesh: MeshWorld):
    result = evaluate(mesh, {"kind": "drop_zone", "zone": "b"}, place_waiting=True)
    assert [(one["task"]["name"], one["vm"]["name"]) for one in result["placed"]] == [("cache-1", "c-2")]
    (fate,) = result["applications"]
    assert fate["after"]["mean"] == pytest.approx(kept(30, 250), abs=0.01)
    dropped = [name.startswith("b") for name in result["trips"]["names"]]
    for row, gone in zip(result["trips"]["after_ns"], dropped, strict=True):
        assert all(value is None for value, away in zip(row, dropped, strict=True) if gone or away)


def test_limits_that_would_not_hold_are_named(mesh: MeshWorld):
    result = evaluate(mesh, {"kind": "task", "application": "cache", "task": "cache-1", "vm": "c-1"})
    assert result["broken"] == ["Capacity exceeded on c-1: 2 slots needed, 1 available"]


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"kind": "task", "application": "cache", "task": "cache-1", "vm": "z-9"}, "vm_unknown", "#/changes/0/vm"),
        ({"kind": "task", "application": "cahce", "task": "x", "vm": None}, "application_unknown", None),
        ({"kind": "task", "application": "cache", "task": "x", "vm": None}, "task_unknown", "#/changes/0/task"),
        ({"kind": "latency", "zones": ["a", "z"], "added_us": 1}, "zone_unknown", "#/changes/0/zones/1"),
        ({"kind": "curve", "application": "cache", "curve": "no"}, "curve_unknown", "#/changes/0/curve"),
        ({"kind": "flood", "zone": "a"}, "request_invalid", None),
    ],
)
def test_what_does_not_exist_is_named(mesh: MeshWorld, change: dict, code: str, pointer: str | None):
    answer = mesh.owner.post("/v1/what-if", json={"mesh": mesh.name, "changes": [change]})
    assert (answer.status_code, answer.json()["code"]) == (404 if code.endswith("_unknown") else 422, code)
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer


def test_scenarios_are_kept_changed_and_forgotten(mesh: MeshWorld, other_owner: Member):
    change = {"kind": "drop_zone", "zone": "b"}
    scenario = mesh.owner.created("/v1/scenarios", {"name": "b gone", "mesh": mesh.name, "changes": [change]})
    path = f"/v1/scenarios/{scenario['id']}"
    assert scenario["request"]["changes"] == [change]
    taken = mesh.owner.post("/v1/scenarios", json={"name": "b gone", "mesh": mesh.name})
    assert (taken.status_code, taken.json()["code"]) == (409, "scenario_name_taken")
    old = mesh.owner.get(path).headers["ETag"]
    renamed = mesh.owner.patch(path, json={"name": "b away", "minutes": 10}, headers={"If-Match": old}).json()
    assert (renamed["name"], renamed["request"]["minutes"]) == ("b away", 10)
    assert renamed["request"]["changes"] == [change]
    newest = mesh.owner.patch(path, json={"minutes": None}, headers={"If-Match": mesh.owner.get(path).headers["ETag"]})
    assert newest.json()["request"]["minutes"] is None
    assert code_of(mesh.owner.patch(path, json={"minutes": 5}, headers={"If-Match": old})) == (412, "version_changed")
    assert [item["name"] for item in mesh.owner.get("/v1/scenarios").json()["items"]] == ["b away"]
    for method in ("GET", "DELETE"):
        for caller, where in ((other_owner, path), (mesh.owner, f"/v1/scenarios/{uuid4()}")):
            assert caller.request(method, where).json()["code"] == "scenario_unknown"
    assert other_owner.get("/v1/scenarios").json()["items"] == []
    assert mesh.owner.delete(path).status_code == 204
    assert mesh.owner.get("/v1/scenarios").json()["items"] == []


def test_options_name_what_to_rent_and_what_it_brings(mesh: MeshWorld):
    vms = {vm["name"]: vm["id"] for vm in mesh.owner.get("/v1/vms").json()["items"]}
    for name in vms:
        price = {"a": 0.1, "b": 0.2, "c": 0.3}[name[0]]
        assert mesh.owner.patch(f"/v1/vms/{vms[name]}/capacity", json={"price_per_hour": price}).status_code == 200
    application = mesh.owner.get("/v1/applications").json()["items"][0]
    rows = mesh.owner.get(f"/v1/applications/{application['id']}/options").json()["options"]
    gains = [one["gain"]["gain"]["mean"] for one in rows]
    assert gains == sorted(gains, reverse=True)
    of = {(one["kind"], one["tasks"][0]["name"], one["zone"], one["count"]): one for one in rows}
    # b-1 made anew in c: of the VMs there c-1 is its own neighbour's, so c-2 alone stands in, 30 µs away.
    anew = of["recreate", "cache-1", "c", 1]
    assert anew["draws"] == 1
    assert anew["gain"]["after"]["mean"] == pytest.approx(kept(30, 250), abs=0.01)
    assert "too few for an interval" in anew["words"]
    assert anew["price_change_per_hour"] == pytest.approx(0.1)
    # Two more in c: c-1 and c-2 stand in, with 250 and 30 µs.
    more = of["over_allocate", "cache-1", "c", 2]
    assert more["price_once"] == pytest.approx(0.6)
    assert more["gain"]["gain"]["low"] >= 0
    draws = [kept(250, 250), kept(30, 250), kept(30, 250), kept(30, 30)]
    assert more["gain"]["after"]["mean"] == pytest.approx(np.mean(draws), abs=0.02)
    # All other pairs are 300 µs apart: the root on c-1 would have 250 and 300 instead of 400 and 250.
    swap = next(one for one in rows if one["kind"] == "swap")
    assert {task["name"] for task in swap["tasks"]} == {"cache-0", "cache-2"}
    assert swap["gain"]["after"]["mean"] == pytest.approx(kept(250, 300), abs=0.01)
