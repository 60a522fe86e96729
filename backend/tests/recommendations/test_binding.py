"""Limits that keep tasks from better VMs are named, with what would help most."""

import re

import pytest
from sqlalchemy import select

from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.kit.db import tenant_session
from tests.api_clients import MeshWorld
from tests.recommendations.asking import NEAR, asked, declared, sized, with_tasks
from tests.recommendations.measured_mesh import measured

# Only c-2 is better for a task on b-1, and only for the task: its root on a-1 has no better VM.
ONE = {("a-1", "c-2"): 30.0, ("a-1", "b-1"): 400.0}
ONE |= {(one, other): 900.0 for one in ("a-1", "b-1") for other in ("a-2", "b-2", "c-1")} | {("b-1", "c-2"): 900.0}


def towards(recommendation: dict, vm: str = "c-2") -> dict:
    """Return what keeps the task from this VM. (A slot beside its root would be better still.)"""
    (found,) = [
        one
        for one in recommendation["result"]["binding"]
        if (one["vm"]["name"], one["task"]["name"]) == (vm, "cache-1")
    ]
    return found


@pytest.mark.parametrize(
    ("declaration", "question", "kind", "relax"),
    [
        ({}, {"moves_max": 0}, "moves_max", "raise moves_max of the request"),
        ({"moves_max": 0}, {}, "moves_max", "raise moves_max of cache"),
        ({"zones": ["a", "b"]}, {}, "zones", "allow cache zone c"),
    ],
)
def test_a_limit_between_a_task_and_a_better_vm_is_named(mesh: MeshWorld, worker, declaration, question, kind, relax):
    declared(mesh, vms=("a-1", "b-1"), **declaration)
    measured(mesh, ONE)
    recommendation = asked(mesh, worker, **question)
    assert recommendation["steps"] == []
    found = towards(recommendation)
    assert [(limit["kind"], limit["relax"]) for limit in found["limits"]] == [(kind, relax)]
    # Relaxed, the same request moves the task and gains what was said.
    application = mesh.owner.get("/v1/applications").json()["items"][0]
    change = {"zones": []} if "zones" in declaration else {key: None for key in declaration}
    if change:
        assert mesh.owner.patch(f"/v1/applications/{application['id']}", json=change).status_code == 200
    again = asked(mesh, worker)
    assert [step["target"]["name"] for step in again["steps"]] == ["c-2"]
    assert again["result"]["total"]["gain"]["mean"] == pytest.approx(found["gain"]["gain"]["mean"], abs=1e-9)
    assert again["result"]["binding"] == []


def test_a_task_stays_in_a_region_of_one_vm_and_what_that_costs_is_named(mesh: MeshWorld, worker):
    application = declared(mesh, vms=("a-1", "b-1"))
    regions = {"a": "near", "c": "near", "b": "alone"}
    with tenant_session(mesh.owner.tenant_id) as session:
        for zone in session.scalars(select(Zone)):
            zone.region = regions[zone.name]
        for vm in mesh.agents:  # b-1 is the only VM of its region
            if vm.name == "b-2":
                session.get_one(Vm, vm.vm_id).zone_id = session.scalars(select(Zone.id).where(Zone.name == "a")).one()
    measured(mesh, ONE)
    recommendation = asked(mesh, worker)
    assert recommendation["steps"] == []
    found = towards(recommendation)
    assert [(limit["kind"], limit["relax"]) for limit in found["limits"]] == [("region", "let cache leave its region")]
    mesh.owner.patch(f"/v1/applications/{application['id']}", json={"leaves_region": True})
    again = asked(mesh, worker)
    assert [step["target"]["name"] for step in again["steps"]] == ["c-2"]
    assert again["result"]["total"]["gain"]["mean"] == pytest.approx(found["gain"]["gain"]["mean"], abs=1e-9)


@pytest.mark.parametrize("of_request", [False, True])
def test_a_move_cost_above_the_gain_is_named_with_a_cost_below_it(mesh: MeshWorld, worker, of_request: bool):
    application = declared(mesh, vms=("a-1", "b-1"), **({} if of_request else {"move_cost": 0.9}))
    measured(mesh, ONE)
    recommendation = asked(mesh, worker, **({"move_cost": 0.9} if of_request else {}))
    assert recommendation["steps"] == []
    found = towards(recommendation)
    (limit,) = found["limits"]
    gain, low = (100 * found["gain"]["gain"][key] for key in ("mean", "low"))
    assert limit["kind"] == "move_cost"
    assert limit["limit"].startswith("a move of cache must gain 90.0 % for its task (move_cost), and this one gains ")
    assert f"gains {gain:.1f} %" in limit["limit"]
    words = re.fullmatch(r"lower move_cost of (the request|cache) to ([\d.]+) % or less", limit["relax"])
    assert words is not None
    assert words[1] == ("the request" if of_request else "cache")
    enough = float(words[2])
    assert 0 < enough <= low
    if not of_request:
        change = {"move_cost": enough / 100}
        assert mesh.owner.patch(f"/v1/applications/{application['id']}", json=change).status_code == 200
    again = asked(mesh, worker, **({"move_cost": enough / 100} if of_request else {}))
    assert [step["target"]["name"] for step in again["steps"]] == ["c-2"]
    assert again["result"]["binding"] == []


def test_a_move_cost_is_not_blamed_for_what_noise_explains(mesh: MeshWorld, worker):
    declared(mesh, vms=("a-1", "b-1"), move_cost=0.9)
    measured(mesh, {}, noise_us=60)
    # A slot on the VM of its root would be better for sure.
    assert {one["vm"]["name"] for one in asked(mesh, worker)["result"]["binding"]} == {"a-1"}


PINNED_ROOT = {"name": "cache-0", "vm": "a-1", "root": True, "pinned": True}


@pytest.mark.parametrize(
    ("slots", "pinned", "apart_from", "kind", "relax"),
    [
        (1, False, [], "slot", "add 1 slot to c-2"),
        (2, False, ["other"], "apart_from", "let cache and other share VMs"),
        (2, True, [], "pin", "unpin cache/cache-1"),
    ],
)
def test_what_else_keeps_a_task_away_is_named(mesh: MeshWorld, worker, slots, pinned, apart_from, kind, relax):
    declared(mesh, "other", ("c-2", "b-2"))
    sized(mesh, "c-2", slots=slots)
    tasks_of = [PINNED_ROOT, {"name": "cache-1", "vm": "b-1", "pinned": pinned}]
    with_tasks(mesh, "cache", tasks_of, apart_from=apart_from)
    measured(mesh, ONE)
    recommendation = asked(mesh, worker, applications=["cache"])
    assert [(limit["kind"], limit["relax"]) for limit in towards(recommendation)["limits"]] == [(kind, relax)]
    assert any("pinned task" in words for words in recommendation["result"]["constraints"])


def test_a_spread_limit_is_named(mesh: MeshWorld, worker):
    declared(mesh, vms=("a-1", "c-1", "b-1"), per_zone_max=1)
    measured(mesh, {("a-1", "c-1"): 60.0, ("a-1", "c-2"): 30.0, ("a-1", "b-1"): 400.0, ("a-1", "b-2"): 900.0})
    kinds = [
        [limit["kind"] for limit in one["limits"]] for one in asked(mesh, worker, moves_max=0)["result"]["binding"]
    ]
    assert ["per_zone_max"] in kinds or ["moves_max", "per_zone_max"] in kinds


def test_the_best_relaxation_comes_first_and_asks_for_no_more_than_it_needs(mesh: MeshWorld, worker):
    declared(mesh)
    declared(mesh, "other", ("c-2", "a-2"))
    measured(mesh, NEAR)
    found = asked(mesh, worker, applications=["cache"], moves_max=0)["result"]["binding"]
    limits = [{limit["relax"] for limit in one["limits"]} for one in found]
    gains = [one["gain"]["gain"]["mean"] for one in found]
    assert gains == sorted(gains, reverse=True)
    assert {"raise moves_max of the request"} in limits
    for place, one in enumerate(limits):
        assert not any(before < one for before in limits[:place])
