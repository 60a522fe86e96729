"""Paths that lose many packets are listed with the unusual ones, whatever their delay."""

import pytest

from sinemora.fleet.meshes.plan import is_client
from tests.api_clients import MeshWorld
from tests.measurements import usual
from tests.measurements.reports import window_start
from tests.measurements.usual import USUAL_NS
from tests.measurements.worlds import Raw, silent, simple

pytestmark = pytest.mark.agents(4)


def measure(mesh: MeshWorld, first: Raw) -> list[str]:
    """Send a window in which the first pair of the mesh has other measurements; return its names, client first."""
    usual.measure(mesh, window_start(), {(0, 1): first, (1, 0): first})
    one, other = mesh.agents[:2]
    return [one.name, other.name] if is_client(one.vm_key, other.vm_key) else [other.name, one.name]


def losses(mesh: MeshWorld) -> tuple[int, list[tuple[str, str, float]]]:
    found = mesh.owner.get(f"/v1/meshes/{mesh.id}/deviations").json()
    assert found["items"] == []
    return found["losing"], [(one["source"]["name"], one["target"]["name"], one["loss"]) for one in found["losses"]]


def test_a_path_that_loses_packets_is_listed_with_its_share(mesh):
    client, server = measure(mesh, simple(USUAL_NS, count=6, lost=4))
    assert losses(mesh) == (1, [(client, server, pytest.approx(0.4))])


def test_one_lost_packet_is_no_loss_worth_a_row(mesh):
    measure(mesh, simple(USUAL_NS, count=9, lost=1))
    assert losses(mesh) == (0, [])


def test_a_pair_without_any_response_is_listed_although_it_has_no_delay(mesh):
    client, server = measure(mesh, silent())
    count, listed = losses(mesh)
    assert count == 2
    assert {(source, target) for source, target, _ in listed} == {(client, server), (server, client)}
    assert {loss for *_, loss in listed} == {1.0}
