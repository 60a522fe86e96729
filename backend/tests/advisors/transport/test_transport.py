"""Transport advisor: a fixture for every rule, measured evidence over HTTP."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sinemora.advisors.transport.core.evidence import Ecn, Evidence, ecn_of, routes_of
from sinemora.advisors.transport.core.rules import RULES, advise, job_saving
from tests.api_clients import Member, MeshWorld, body_of, code_of
from tests.measurements.reports import report_of, sent
from tests.recommendations.measured_mesh import measured

CASES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_every_rule_and_its_precedence(name: str):
    evidence = TypeAdapter(Evidence).validate_python(CASES[name]["evidence"])
    winners = {fired.rule.part: fired.rule.id for fired in advise(evidence) if fired.overridden_by is None}
    assert winners == CASES[name]["winners"]


def test_every_rule_has_a_case():
    assert {rule for case in CASES.values() for rule in case["winners"].values()} == {rule.id for rule in RULES}


@pytest.mark.parametrize(("rule", "share", "saved"), [("R2", 0.5, 0.10), ("R2", 0.6, 0.12), ("R4", 0.5, 0.045)])
def test_the_savings_of_the_source(rule: str, share: float, saved: float):
    """By the share of a job's time that it spends in transfers."""
    effect = next(one.effect for one in RULES if one.id == rule)
    assert job_saving(share, effect.saved or 0) == pytest.approx(saved, abs=1e-12)


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
    return body_of(owner.post("/v1/advisors/transports", json=body))


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


def probed(owner: Member, mesh: MeshWorld, source: int = 0, **exchanges: list[Any]) -> None:
    """Measure the path of two agents on demand with both probes; the agents report these exchanges of one second."""
    ends = [mesh.agents[source], mesh.agents[1 - source]]
    for agent in ends:
        description = {"features": ["on_demand", "path_probes"]}
        agent.patch("/v1/agents/self", json={"agent_version": "0.2", "description": description})
        sent(agent, report_of(mesh.key, {}))
    body = {"mesh_id": str(mesh.id), "source_vm_id": str(ends[0].vm_id), "target_vm_id": str(ends[1].vm_id)}
    made = owner.created("/v1/on-demand-measurements", body | {"ecn": True, "reordering": True})
    (entry,) = ends[0].get("/v1/agents/self/plan").json()["on_demand"]
    count = len(next(iter(exchanges.values())))
    second = {"key": entry["key"], "started_at_s": entry["starts_at_ns"] // 10**9, "ports": [319]}
    second |= {"at_ns": [4_000_000 * at for at in range(count)], "flow": [0] * count}
    second |= {name: [40_000] * count for name in ("outbound_ns", "inbound_ns")}
    second |= {name: [False] * count for name in ("outbound_lost", "inbound_lost")}
    second |= exchanges | {"clock_error_ns": 40, "by_hardware": False}
    assert ends[0].post("/v1/agents/self/on-demand-windows", json=second).status_code == 204
    assert owner.post(f"/v1/on-demand-measurements/{made['id']}/stop").status_code == 200


def test_probes_of_the_agents_fire_rules(owner: Member, mesh: MeshWorld):
    path = {"mesh": mesh.name, "source": "a-1", "target": "b-1"}
    ends = {agent.name: place for place, agent in enumerate(mesh.agents)}
    assert asked(owner, **path)["evidence"]["probed_at"] is None
    # Packets of the direction of the question count, whichever end measured.
    probed(owner, mesh, ends["b-1"], inbound_ecn=[2] * 110 + [3] * 10, outbound_ecn=[2] * 120)
    read = asked(owner, **path)
    assert (winners(read)["transport"], read["evidence"]["ecn"]) == ("R2", "marked")
    assert {"ecn"} <= set(read["evidence"]["measured"])
    assert read["evidence"]["probed_at"] is not None
    back = asked(owner, mesh=mesh.name, source="b-1", target="a-1")
    assert (winners(back)["transport"], back["evidence"]["ecn"]) == ("R15", None)
    # The newest counts: now a hop clears the field, and packets overtake each other.
    order: list[bool | None] = [None, False] * 118 + [None, True] * 2
    probed(owner, mesh, ends["a-1"], outbound_ecn=[0] * 240, outbound_reversed=order)
    read = asked(owner, **path)
    assert (winners(read)["transport"], read["evidence"]["ecn"]) == ("R12", "bleached")
    assert read["evidence"]["reordering"] == pytest.approx(2 / 120)
    # What is given takes precedence.
    assert "ecn" not in asked(owner, **path, ecn="marked")["evidence"]["measured"]


@pytest.mark.parametrize(
    ("known", "ce", "cleared", "ecn"),
    [(99, 50, 0, None), (1000, 0, 0, None), (1000, 1, 0, Ecn.MARKED), (1000, 5, 10, Ecn.BLEACHED), (1000, 0, 9, None)],
)
def test_marks_and_cleared_fields_are_judged(known: int, ce: int, cleared: int, ecn: Ecn | None):
    assert ecn_of(known, ce, cleared) is ecn


def test_vms_of_one_host_need_no_network(owner: Member, mesh: MeshWorld):
    vms = owner.get("/v1/vms").json()["items"]
    for vm in vms:
        body_of(owner.patch(f"/v1/vms/{vm['id']}/capacity", json={"host": "h1"}))
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
    ):
        assert code_of(owner.post("/v1/advisors/transports", json=body)) == (422, code)
