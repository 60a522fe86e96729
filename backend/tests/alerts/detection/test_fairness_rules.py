"""Rules about fairness: from reports of agents to an incident with its shares, its notification, and a back-test."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sinemora.fleet.meshes.plan import is_client
from tests.alerts.conftest import Watched, egress
from tests.alerts.detection.test_backtest import back_test, question
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import Raw, simple

QUIET_NS = 200_000
EVEN = [200_000] * 4
UNEVEN = [200_000, 210_000, 190_000, 4_000_000]


def add_rule(watched: Watched, among: str, **fields: Any) -> dict[str, Any]:
    return watched.add_rule(f"Uneven {among}", {"kind": "fairness", "among": among, "below": 0.883}, **fields)


def report_flows(watched: Watched, trips_ns: list[int], count: int = 8) -> int:
    """Report a window in which the flows between the first two VMs take these round trips; return its end (Unix s)."""
    first, second = watched.world.agents[:2]
    client, target = (first, second) if is_client(first.vm_key, second.vm_key) else (second, first)
    delays = [trip // 2 for trip in trips_ns for _ in range(count)]
    several = Raw((delays, delays, [2 * one for one in delays]), (len(delays),) * 3, (0,) * 3, flows=len(trips_ns))
    start = watched.started_at_s
    for agent in watched.world.agents:
        keys = [other.vm_key for other in watched.world.agents if other is not agent]
        peers = {key: simple(QUIET_NS, QUIET_NS) for key in keys if is_client(agent.vm_key, key)}
        if agent is client:
            peers[target.vm_key] = several
        report = report_of(watched.world.key, peers, start)
        if agent is client:
            window = report.windows[0]
            for columns in (window.outbound_flows, window.inbound_flows):
                for key in sorted(peers):
                    rows = [(count, trip // 2) for trip in trips_ns] if key == target.vm_key else [(8, QUIET_NS)]
                    columns.count.extend([row[0] for row in rows])
                    columns.min_ns.extend([row[1] for row in rows])
                    columns.p50_ns.extend([row[1] for row in rows])
        if peers:
            sent(agent, report)
    watched.started_at_s += 10
    return watched.started_at_s


def evaluated(watched: Watched, ended_s: int) -> None:
    watched.evaluate(ended_s, datetime.fromtimestamp(ended_s, UTC))


def test_an_unlucky_flow_is_an_incident_with_the_shares_of_its_path(watched: Watched):
    add_rule(watched, "flows")
    for trips, count in [(UNEVEN, 4)] * 3 + [(EVEN, 8), (UNEVEN, 8), (UNEVEN, 8)]:
        assert watched.incidents() == []  # four exchanges of a flow are too few
        evaluated(watched, report_flows(watched, trips, count))
    # The mean delay of the path is below a millisecond: the other rule does not fire.
    incident = watched.incident()
    assert (incident["title"], incident["paths"]) == ("shares of the flows of a path: uneven", 2)
    assert incident["culprit"] == {
        "suspect": "flow_shares", "at": None, "other": None, "words": "shares of the flows of a path",
    }  # fmt: skip
    evidence = incident["evidence"]["fairness"]
    shares = [1e9 / trip for trip in UNEVEN]
    assert evidence["index"] == pytest.approx(sum(shares) ** 2 / (4 * sum(one * one for one in shares)), rel=0.02)
    assert (evidence["among"], evidence["below"], evidence["count"]) == ("flows", 0.883, 4)
    assert sorted(evidence["path"]) == ["a-1", "b-1"]
    assert [member["name"] for member in evidence["members"]] == ["port 3", "port 1", "port 0", "port 2"]
    assert evidence["members"][0]["relative"] == pytest.approx(shares[3] / (sum(shares) / 4), rel=0.02)
    verdict = incident["verdict"]
    assert (verdict["kind"], verdict["reasons"][0]["code"]) == ("fairness", "shares_uneven")


def test_a_slow_vm_gets_less_than_the_others(watched: Watched):
    add_rule(watched, "vms")
    watched.slow = egress(watched, 2)
    for _ in range(3):
        evaluated(watched, watched.report())
    found = {one["culprit"]["suspect"]: one for one in watched.incidents()}
    assert set(found) == {"egress", "vm_shares"}  # where the delay is, and what it does to the shares
    read = watched.whole(found["vm_shares"])
    fairness = watched.owner.get(f"/v1/meshes/{watched.world.id}/fairness", params={"of": "vms", "minutes": 60}).json()
    evidence = read["evidence"]["fairness"]
    assert (evidence["members"][0]["name"], evidence["count"], evidence["path"]) == ("c-1", 6, None)
    assert evidence["index"] == pytest.approx(fairness["index"], rel=0.02)
    assert read["applications"] == []
    assert [reason["code"] for reason in read["verdict"]["reasons"]] == ["shares_uneven"]


def test_an_application_that_gets_less_is_an_incident(watched: Watched):
    watched.add_application("near", "a-1", "b-1")
    watched.add_application("far", "a-1", "c-1")
    add_rule(watched, "applications")
    watched.slow = egress(watched, 2)
    for _ in range(3):
        evaluated(watched, watched.report())
    found = {one["culprit"]["suspect"]: one for one in watched.incidents()}
    evidence = watched.whole(found["application_shares"])["evidence"]["fairness"]
    assert ([one["name"] for one in evidence["members"]], evidence["index"] < 0.883) == (["far", "near"], True)
    assert found["application_shares"]["title"] == "shares of the applications: uneven"


def test_a_back_test_finds_what_evaluation_would_have(watched: Watched):
    flows, vms, few = (
        question(watched, {"kind": "fairness", "among": one, "below": 0.883})
        for one in ("flows", "vms", "applications")
    )
    assert back_test(watched.owner, flows)["notes"] == [
        "This mesh measures one flow per path: a rule among flows cannot fire."
    ]
    assert back_test(watched.owner, few)["notes"] == [
        "This mesh has fewer than two applications: a rule among applications cannot fire."
    ]
    for _ in range(3):
        report_flows(watched, UNEVEN)
    (found,) = back_test(watched.owner, flows)["found"]
    assert (found["culprit"]["suspect"], found["paths"]) == ("flow_shares", 2)
    watched.report(3, slow=egress(watched, 2))
    assert [one["culprit"]["suspect"] for one in back_test(watched.owner, vms)["found"]] == ["vm_shares"]
