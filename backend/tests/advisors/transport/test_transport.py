"""Transport advisor: a fixture for every rule, measured evidence over HTTP."""

from typing import Any

import pytest

from lab.benchmarks.advising import transport
from sinemora.advisors.transport.core.evidence import routes_of
from tests.callers import Member, MeshWorld
from tests.recommendations.measured_mesh import measured


def test_every_rule_and_its_precedence():
    assert transport.wrong() == []


@pytest.mark.parametrize(
    ("minimums_us", "routes"),
    [([], 0), ([50], 1), ([50, 51, 52.5], 1), ([50, 58], 2), ([50, 51, 70, 71, 90], 3), ([1000, 1030, 1060], 1)],
)
def test_routes_by_smallest_delays(minimums_us: list[float], routes: int):
    assert routes_of([round(1e3 * delay) for delay in minimums_us]) == routes


@pytest.fixture
def mesh(owner: Member, make_mesh) -> MeshWorld:
    """Two agents, measured at 80 µs."""
    world = make_mesh(owner, 2)
    measured(world, {("a-1", "b-1"): 80.0})
    return world


def asked(owner: Member, **body: Any) -> dict[str, Any]:
    answer = owner.post("/v1/advisors/transports", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def winners(read: dict[str, Any]) -> dict[str, str]:
    return {fired["part"]: fired["rule"] for fired in read["fired"] if fired["overridden_by"] is None}


def test_measured_evidence_fires_rules(owner: Member, mesh: MeshWorld):
    path = {"mesh": mesh.name, "source": "a-1", "target": "b-1"}
    read = asked(owner, **path, fan_in=20)
    assert read["evidence"]["round_trip_us"] == pytest.approx(80, rel=0.05)
    assert {"round_trip_us", "min_round_trip_us", "loss"} <= set(read["evidence"]["measured"])
    assert winners(read) == {"transport": "R15", "schedule": "R10"}
    incast = next(fired for fired in read["fired"] if fired["rule"] == "R10")
    assert incast["measurement"].startswith("20 senders at once, round trip ")
    # What is given takes precedence over what is measured.
    read = asked(owner, **path, fan_in=20, round_trip_us=5000)
    assert (winners(read), "round_trip_us" in read["evidence"]["measured"]) == ({"transport": "R15"}, False)


def test_vms_of_one_host_need_no_network(owner: Member, mesh: MeshWorld):
    vms = owner.get("/v1/vms").json()["items"]
    for vm in vms:
        answer = owner.patch(f"/v1/vms/{vm['id']}/capacity", json={"host": "h1"})
        assert answer.status_code == 200, answer.text
    read = asked(owner, mesh=mesh.name, source="a-1", target="b-1", ecn="marked")
    assert winners(read) == {"transport": "R1"}
    assert [(fired["rule"], fired["overridden_by"]) for fired in read["fired"]] == [("R1", None), ("R2", "R1")]


def test_the_effect_on_the_job_is_the_share_of_transfers(owner: Member):
    (fired,) = asked(owner, ecn="marked", transfer_share=0.6, available=["cubic", "reno"])["fired"]
    assert (fired["rule"], fired["transfer_saved"], fired["is_available"]) == ("R2", 0.2, False)
    assert fired["job_saved"] == pytest.approx(0.12)
    assert asked(owner, ecn="marked")["fired"][0]["is_available"] is None


def test_half_a_path_is_refused(owner: Member, mesh: MeshWorld):
    for body, code in (
        ({"mesh": mesh.name, "source": "a-1"}, "request_invalid"),
        ({"mesh": mesh.name, "source": "a-1", "target": "z"}, "vm_not_in_mesh"),
        ({"mesh": "z", "source": "a-1", "target": "b-1"}, "mesh_unknown"),
        ({"ecn": "perhaps"}, "request_invalid"),
    ):
        answer = owner.post("/v1/advisors/transports", json=body)
        assert (answer.status_code, answer.json()["code"]) == (404 if code.endswith("_unknown") else 422, code)
