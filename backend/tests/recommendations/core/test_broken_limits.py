"""Limits that stay broken are reported with their reason; a placement that keeps all limits has none."""

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from lab.benchmarks.recommending import instances
from sinemora.applications.curves import catalogue
from sinemora.applications.curves.core.library import published
from sinemora.applications.performance import Links, Sensitivity
from sinemora.recommendations.core.broken_limits import broken_limits
from sinemora.recommendations.core.instance import Deployment, Instance, Machine, TaskDemand
from sinemora.recommendations.core.options import Options

CURVE = catalogue.of_published(published("dns"))
ZONES = ("a", "b", "c", "a")
"""Zone of each of the VMs a-1, b-1, c-1 and a-2."""


def machine(place: int, **more) -> Machine:
    fields = {"host": None, "slots": 9, "cpu_millicores": None, "memory_mib": None, "price_per_hour": None}
    name = ("a-1", "b-1", "c-1", "a-2")[place]
    zone = ZONES[place]
    return Machine(UUID(int=place), name, UUID(int=ord(zone)), zone, **(fields | {"stated_slots": 9} | more))


def deployment(name: str, at: list[int], pinned: str = "", zones: str = "", chosen: bool = True, **more) -> Deployment:
    """Return a graph with tasks t0, t1 … on machines; `pinned` has the digits of those that are pinned."""
    tasks = tuple(TaskDemand(UUID(int=n), f"t{n}", str(n) in pinned, 1, 0, 0) for n in range(len(at)))
    nothing = np.empty(0, np.intp)
    links, sensitivity = Links(nothing, nothing, np.empty(0)), Sensitivity(CURVE.curve, CURVE.band, 0.0)
    allowed = np.array([zone in zones for zone in ZONES]) if zones else None
    made = instances.deployment(7, tasks, at, links, sensitivity, name=name, allowed=allowed, **({"root": None} | more))
    return replace(made, chosen=chosen)


def instance(*applications: Deployment, machines: tuple[Machine, ...] | None = None) -> Instance:
    trips, blocks = np.empty((0, 4, 4), np.float32), np.empty(0, np.intp)
    made = machines or tuple(machine(place) for place in range(4))
    return Instance(made, applications, trips, trips, blocks, blocks, gap_s=0)


def found(world: Instance, moves_max: int = 10, after: list[list[int]] | None = None) -> list[str]:
    """Return the broken limits of a placement, by default of the present one."""
    places = [application.at for application in world.applications]
    moved = tuple(np.array(at, np.intp) for at in after) if after else tuple(places)
    return broken_limits(world, moved, Options(moves_max=moves_max))


PAYS = "no move that mends this gains enough: move a task yourself, or relax the limit"


@pytest.mark.parametrize(
    ("application", "words"),
    [
        (deployment("web", [0, 3], zones="a"), []),
        (deployment("web", [0, -1, -2], zones="a"), []),
        (
            deployment("web", [0, 1], "1", zones="ac"),
            ["web/t1 is pinned to b-1 in zone b, which web may not use: unpin it, or allow zone b."],
        ),
        (
            deployment("web", [1, 1], "01", zones="ac"),
            ["web/t0, web/t1 are pinned to b-1 in zone b, which web may not use: unpin them, or allow zone b."],
        ),
        (deployment("web", [0, 1], zones="ac"), [f"web/t1 is on b-1 in zone b, which web may not use; {PAYS}."]),
        (
            deployment("web", [0, 1], zones="z"),
            ["web may use no VM: the mesh has none in its zones. Add one there, or allow another zone."],
        ),
        (deployment("web", [0, 1, 2], per_zone_max=1), []),
        (
            deployment("web", [0, 3, 1], "01", per_zone_max=1),
            ["2 tasks of web are pinned to zone a, and per_zone_max allows 1: unpin 1, or raise it to 2."],
        ),
        (
            deployment("web", [0, 3, 1, 1], per_zone_max=1),
            ["web has 4 tasks, and 3 zones with at most 1 on each hold 3: raise per_zone_max to 2, or add zones."],
        ),
        (
            deployment("web", [0, 0, 0], zones="a", per_vm_max=1),
            ["web has 3 tasks, and 2 VMs with at most 1 on each hold 2: raise per_vm_max to 2, or add VMs."],
        ),
        (deployment("web", [0, 0], per_vm_max=1), [f"web has 2 tasks on a-1, and per_vm_max allows 1; {PAYS}."]),
        (
            deployment("web", [0, 0], per_host_max=1),
            [f"web has 2 tasks on host a-1, and per_host_max allows 1; {PAYS}."],
        ),
        # Not asked about.
        (deployment("web", [1, 1], "01", zones="a", per_vm_max=1, chosen=False), []),
        # A root counts towards no spread limit.
        (deployment("web", [0, 0], root=0, per_vm_max=1), []),
    ],
)  # fmt: skip
def test_one_application(application: Deployment, words: list[str]):
    assert found(instance(application)) == words


def test_a_budget_is_named_where_it_is_used_up():
    web = deployment("web", [1, 1], zones="ac")
    assert found(instance(web), moves_max=0) == [
        "web/t0, web/t1 are on b-1 in zone b, which web may not use; moves_max of the request allows 0 moves: raise it,"
        " or move a task yourself."
    ]
    own = replace(web, moves_max=1)
    assert found(instance(own), after=[[0, 1]]) == [
        "web/t1 is on b-1 in zone b, which web may not use; moves_max of web allows 1 move: raise it, or move a task"
        " yourself."
    ]
    assert found(instance(own), after=[[0, 2]]) == []


def test_applications_that_must_be_apart():
    web = deployment("web", [0, 1], apart_from=frozenset({1}))
    batch = deployment("batch", [1, 2], apart_from=frozenset({0}))
    share = "web and batch share b-1, which apart_from forbids"
    assert found(instance(web, batch)) == [f"{share}; {PAYS}."]
    pinned = (
        deployment("web", [0, 1], "1", apart_from=frozenset({1})),
        deployment("batch", [1], "0", apart_from=frozenset({0})),
    )
    assert found(instance(*pinned)) == [
        f"{share}: both have tasks pinned there. Unpin one of them, or let them share VMs."
    ]
    alone = [replace(one, allowed=np.array([False, True, False, False]), at=np.array([1, 1])) for one in (web, batch)]
    assert found(instance(*alone)) == [f"{share}: they have no second VM. Add one, or let them share VMs."]
    assert found(instance(web, replace(batch, at=np.array([2, 2])))) == []
    # It is reported for the one that was asked about.
    assert found(instance(replace(web, chosen=False), batch)) == [
        f"batch and web share b-1, which apart_from forbids; {PAYS}."
    ]


def test_a_vm_that_is_too_small_for_what_is_pinned_to_it():
    small = (machine(0, stated_slots=1, memory_mib=100), *(machine(place) for place in (1, 2, 3)))
    web = deployment("web", [0, 0, 0], "01")
    assert found(instance(web, machines=small)) == [
        "Tasks pinned to a-1 take 2 slots, and it has 1 slot: unpin some, or correct its capacity."
    ]
    assert found(instance(replace(web, chosen=False), machines=small)) == []
