"""Clock errors of a VM over time through HTTP, from windows with known clock errors."""

from datetime import datetime
from typing import Any

import pytest

from tests.api_clients import MeshWorld, bare_vm, body_of
from tests.measurements import usual
from tests.measurements.matrices import span
from tests.measurements.reports import window_starts
from tests.measurements.worlds import silent, simple

pytestmark = pytest.mark.agents(4)


def measure(mesh: MeshWorld, started_at_s: int, errors_ns: dict[int, int | None]) -> None:
    """Send a window: the clock error between the first VM and each other, by position; None: nothing returned."""
    changes: usual.Changes = {}
    for other, error_ns in errors_ns.items():
        raw = silent() if error_ns is None else simple(200_000, clock_error_ns=error_ns)
        changes[0, other] = changes[other, 0] = raw
    usual.measure(mesh, started_at_s, changes)


def clocks(mesh: MeshWorld, **params: Any) -> dict:
    (found,) = body_of(mesh.owner.get(f"/v1/vms/{mesh.agents[0].vm_id}/clock-errors", params=params))["meshes"]
    return found


def test_each_step_has_the_median_and_the_largest_error_of_the_outbound_paths(mesh: MeshWorld):
    older, missing, newer = window_starts([3, 2, 1])
    measure(mesh, older, {1: 500, 2: 900, 3: 2_000})
    measure(mesh, newer, {1: 600, 2: None, 3: 800})
    found = clocks(mesh, **span(older, newer + 10))
    assert (found["mesh"]["name"], found["resolution_s"]) == ("demo", 10)
    times = [datetime.fromisoformat(at).timestamp() for at in found["points_at"]]
    assert times == [older, missing, newer]
    assert found["paths"] == [3, 0, 2]
    assert found["median_ns"] == [900, None, 700]
    assert found["largest_ns"] == [2_000, None, 800]


def test_without_measurements_every_step_is_empty(mesh: MeshWorld):
    found = clocks(mesh, points=60)
    assert set(found["paths"]) == {0}
    assert set(found["median_ns"]) == set(found["largest_ns"]) == {None}


def test_a_vm_in_no_mesh_has_neither_paths_nor_clock_errors(owner):
    vm = bare_vm(owner)["id"]
    assert owner.get(f"/v1/vms/{vm}/paths").json() == {"vm_id": vm, "meshes": []}
    assert owner.get(f"/v1/vms/{vm}/clock-errors").json()["meshes"] == []
