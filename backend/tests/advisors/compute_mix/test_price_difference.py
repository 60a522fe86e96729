"""Price bases of applications, and the price difference that each recommendation of moves carries."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.advisors.compute_mix.test_compute_mix_api import OFFER, VM
from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.recommendations.asking import PATH, asked, declared
from tests.recommendations.conftest import mesh, worker
from tests.recommendations.measured_mesh import measured

__all__ = ["mesh", "worker"]

# Two tasks far from the root a-1 and two VMs near it: the slowest path falls from 200 ms to 60 µs.
TRIPS = {("a-1", "c-2"): 30.0, ("a-1", "b-2"): 60.0, ("a-1", "b-1"): 200_000.0, ("a-1", "c-1"): 100_000.0}
BASIS: dict[str, Any] = {
    "load_per_s": 30,
    "target": {"response_ms": 700, "percentile": 95},
    "vm_types": [VM],
    "serverless": OFFER | {"price_per_gb_second": 1e-3},
}


def basis(mesh: MeshWorld, application: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return body_of(mesh.owner.put(f"/v1/applications/{application['id']}/price-basis", json=BASIS | changes))


def difference(owner: Member, recommendation: dict[str, Any]) -> dict[str, Any]:
    return body_of(owner.get(f"{PATH}/{recommendation['id']}/price-difference"))


def mix_on(owner: Member, mesh: MeshWorld, target: str) -> dict[str, Any]:
    """Return the compute mix that the advisor finds for the path from a-1 to a VM."""
    asked_for = BASIS | {"mesh": mesh.name, "paths": [{"source": "a-1", "target": target}]}
    (path,) = owner.post("/v1/advisors/compute-mix", json=asked_for).json()["paths"]
    return dict(path)


def test_moves_to_near_vms_need_fewer_vms(mesh: MeshWorld, worker):
    application = declared(mesh)
    measured(mesh, TRIPS)
    basis(mesh, application)
    recommendation = asked(mesh, worker)
    assert {step["target"]["name"] for step in recommendation["steps"]} == {"b-2", "c-2"}
    read = difference(mesh.owner, recommendation)
    assert read["window"] == recommendation["result"]["evidence"]["window"]
    (row,) = read["applications"]
    assert (row["application"]["name"], row["statistic"], row["reason"]) == ("cache", "p95", None)
    # The slowest of both paths counts, and the advisor asked for it finds the same mix.
    for side, slowest in (("before", "b-1"), ("after", "b-2")):
        mix = mix_on(mesh.owner, mesh, slowest)
        assert slowest in row[side]["path"]
        assert "a-1" in row[side]["path"]
        assert (row[side]["paths"], row[side]["paths_measured"]) == (2, 2)
        assert row[side]["budget_ms"] == pytest.approx(mix["budget_ms"], rel=1e-3)
        assert row[side]["vm"] == mix["best"]
        assert row[side]["split"] == mix["options"][0]["split"]
    assert row["before"]["split"]["vms"] > row["after"]["split"]["vms"]
    costs = [row[side]["split"]["cost_per_hour"] for side in ("before", "after")]
    assert row["difference_per_hour"] == pytest.approx(costs[1] - costs[0])
    assert read["difference_per_hour"] == row["difference_per_hour"] < 0
    # Applied moves keep their difference.
    body_of(mesh.owner.post(f"{PATH}/{recommendation['id']}/apply"))
    assert difference(mesh.owner, recommendation) == read


def test_the_difference_is_shown_in_a_terminal(mesh: MeshWorld, worker, tmp_path: Path, online):
    declared(mesh)
    measured(mesh, TRIPS)
    recommendation = asked(mesh, worker)
    file = tmp_path / "service.yaml"
    file.write_text(yaml.safe_dump(BASIS))
    assert "price of cache: No price basis" in online("recommendations", "show", recommendation["id"])
    assert "p95 700 ms" in online("advise", "price-basis", "set", "cache", str(file))
    shown = online("recommendations", "show", recommendation["id"])
    expected = difference(mesh.owner, recommendation)["difference_per_hour"]
    assert f"price of cache: {expected:+.4g} per hour" in shown
    assert f"Difference {expected:+.4g} per hour" in online("advise", "price-difference", recommendation["id"])
    online("advise", "price-basis", "delete", "cache")
    assert "cache: No price basis" in online("advise", "price-difference", recommendation["id"])


def test_without_a_basis_the_reason_is_given(mesh: MeshWorld, worker):
    application = declared(mesh)
    measured(mesh, TRIPS)
    recommendation = asked(mesh, worker)
    read = difference(mesh.owner, recommendation)
    assert read["difference_per_hour"] is None
    (row,) = read["applications"]
    assert (row["before"], row["after"]) == (None, None)
    assert row["reason"].startswith("No price basis: give the load")
    # A price list that is gone is named, too.
    listed = mesh.owner.created("/v1/price-lists", mesh.owner.get("/v1/price-list-samples").json()[0])
    service = {"price_list_id": listed["id"], "vm_types": [{"name": "c5.large", "service_ms": 100}]}
    basis(mesh, application, **service)
    (row,) = difference(mesh.owner, recommendation)["applications"]
    assert (row["currency"], row["reason"]) == ("USD", None)
    assert mesh.owner.delete(f"/v1/price-lists/{listed['id']}").status_code == 204
    (row,) = difference(mesh.owner, recommendation)["applications"]
    assert row["reason"] == "Unknown price list."


def test_a_target_that_no_mix_keeps_has_no_difference(mesh: MeshWorld, worker):
    application = declared(mesh)
    measured(mesh, TRIPS)
    basis(mesh, application, target={"response_ms": 180, "percentile": None})
    read = difference(mesh.owner, asked(mesh, worker))
    (row,) = read["applications"]
    assert (row["before"]["split"], row["difference_per_hour"], read["difference_per_hour"]) == (None, None, None)
    assert row["before"]["reason"] == "The network alone takes longer than the response target."
    assert row["after"]["split"]["vms"] > 0


def test_a_basis_is_set_read_and_deleted(mesh: MeshWorld):
    application = declared(mesh)
    path = f"/v1/applications/{application['id']}/price-basis"
    assert (mesh.owner.get(path).status_code, mesh.owner.get(path).json()["code"]) == (404, "price_basis_unknown")
    stored = basis(mesh, application)
    assert mesh.owner.get(path).json() == stored
    assert (stored["application"]["name"], stored["service"]["load_per_s"]) == ("cache", 30)
    assert basis(mesh, application, load_per_s=5)["service"]["load_per_s"] == 5
    refused = mesh.owner.put(path, json=BASIS | {"vm_types": [{"name": "x", "service_ms": 1}]})
    assert (refused.status_code, refused.json()["code"]) == (422, "price_missing")
    assert code_of(mesh.owner.put(path, json=BASIS | {"mesh": "a"})) == (422, "request_invalid")
    assert mesh.owner.delete(path).status_code == 204
    assert mesh.owner.get(path).status_code == 404
    # With the application, its basis goes.
    basis(mesh, application)
    assert mesh.owner.delete(f"/v1/applications/{application['id']}", headers={"If-Match": "*"}).status_code == 204
