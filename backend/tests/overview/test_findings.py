"""Findings of the advisors through HTTP: about open incidents, members that share unevenly, retransmission tails."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from sinemora.applications.learning import service as learning
from sinemora.applications.learning.schemas import MetricPointWrite
from sinemora.kit.db import tenant_session
from sinemora.measurements.query.caches.shared_cache import shared_cache
from sinemora.measurements.store.tiers import Tier, floor
from tests.alerts.conftest import Watched, egress, watched  # noqa: F401 (a fixture)
from tests.api_clients import Member, body_of
from tests.measurements.reports import sent, traffic_of, window_start
from tests.measurements.usual import keep_steps, measure
from tests.measurements.worlds import simple


def findings(owner: Member) -> list[dict[str, Any]]:
    return body_of(owner.get("/v1/overview/findings"))


def test_a_calm_mesh_has_no_findings(watched: Watched):  # noqa: F811
    watched.windows(3)
    assert findings(watched.owner) == []


def test_the_transport_of_the_worst_path_of_an_incident_is_a_finding(watched: Watched, other_owner: Member):  # noqa: F811
    for number in (0, 1, 2, 3, 4, 5):
        vm = watched.world.agents[number].vm_id
        assert watched.owner.patch(f"/v1/vms/{vm}/capacity", json={"slots": 2, "host": "rack-1"}).status_code == 200
    watched.windows(2)
    watched.slow = egress(watched, 2)
    watched.windows(3)
    (incident,) = watched.incidents()
    found = [one for one in findings(watched.owner) if one["advisor"] == "transport"]
    finding, inflated = found
    assert inflated["rule"] == "R13: the round trips of VMs are inflated without loss"
    assert "loss 0.00 %" in inflated["measurement"]
    assert (finding["source"], finding["incident_id"]) == ("c-1", incident["id"])
    assert finding["measurement"] == "both VMs are on one host"
    assert finding["rule"] == "R1: source and destination are on one host"
    assert finding["advice"] == "Shared memory or a local socket"
    path = f"/v1/overview/incidents/{incident['id']}/findings"
    assert watched.owner.get(path).json() == found
    assert other_owner.get(path).status_code == 404
    assert findings(other_owner) == []


@pytest.mark.parametrize("is_young", [False, True])
def test_shares_of_vms_are_read_once(is_young: bool, owner: Member, make_mesh, monkeypatch: pytest.MonkeyPatch):
    shared_cache.cache_clear()
    mesh, now = make_mesh(owner, 6), datetime.now(UTC)
    quarter = floor(now, 900)
    monkeypatch.setattr("sinemora.overview.findings.floor", lambda _, step_s: floor(now, step_s))
    # One VM of six is far from all others.
    far = {(n, m): simple(40_000_000, 40_000_000) for n in range(6) for m in range(6) if n != m and 5 in (n, m)}
    if is_young:
        measure(mesh, window_start(), far)
    else:
        for ago in range(1, 5):
            keep_steps(mesh, {quarter - timedelta(minutes=15 * ago): far}, tier=Tier.QUARTER)
    read: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if any(tier.value in statement for tier in Tier):
            read.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        first = findings(owner)
        first_reads = len(read)
        read.clear()
        assert findings(owner) == first
        assert len(read) < first_reads
        assert is_young or read == []
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    (finding,) = first
    assert (finding["advisor"], finding["about"]) == ("fairness", "6 VMs")


def test_uneven_shares_and_a_retransmission_tail_are_findings(watched: Watched):  # noqa: F811
    owner, now = watched.owner, datetime.now(UTC)
    # One VM of six is far from all others.
    watched.slow = {path: 40_000_000 for path in [*egress(watched, 5), *((vm, 5) for vm in range(5))]}
    watched.windows(3)
    body = {"name": "checkout p99", "mesh_id": str(watched.world.id), "metric": "duration", "unit": "ms"}
    vms = [str(agent.vm_id) for agent in watched.world.agents]
    body["paths"] = [{"source_vm_id": vms[0], "target_vm_id": vms[1]}]
    source = owner.created("/v1/metric-sources", body)
    points = [
        MetricPointWrite(at=now - timedelta(minutes=number), value=205.0 if number % 20 == 0 else 3.0 + number % 5)
        for number in range(1, 400)
    ]
    with tenant_session(owner.tenant_id) as session:
        learning.push(session, source["id"], points)
    found = {one["advisor"]: one for one in findings(owner) if one["advisor"] != "transport"}
    assert set(found) == {"fairness", "shaping"}
    assert (found["fairness"]["about"], found["fairness"]["of"]) == ("6 VMs", "vms")
    assert "c-2 has" in found["fairness"]["measurement"]
    assert found["fairness"]["rule"] == "Fairness index below 0.883"
    assert found["fairness"]["advice"] == "Shorter round trips for c-2"
    assert found["shaping"]["about"] == "checkout p99"
    assert "minutes in 195 to 235 ms" in found["shaping"]["measurement"]


def test_a_token_bucket_that_runs_empty_is_a_finding(watched: Watched):  # noqa: F811
    agent, newest = watched.world.agents[1], window_start()
    body = {"rate_mbit": 100, "burst_kb": 125_000}
    assert watched.owner.put(f"/v1/vms/{agent.vm_id}/token-bucket", json=body).status_code == 200
    windows = {newest - 10 * back: 0 if back else 150_000_000 for back in range(4)}
    sent(agent, traffic_of(windows))
    (finding,) = findings(watched.owner)
    assert (finding["advisor"], finding["about"]) == ("shaping", "b-1")
    assert finding["measurement"] == "token bucket empty in 40 s at this rate: 80 % left, sent 120 Mbit/s"
    assert finding["rule"] == "use above the rate of 100 Mbit/s, empty within 10 min"
