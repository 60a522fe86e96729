"""Recommendations that brute force cannot beat: thresholds of curves, and starts beside a swap."""

from tests.api_clients import MeshWorld
from tests.recommendations.asking import asked, sized, with_tasks
from tests.recommendations.measured_mesh import measured


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
