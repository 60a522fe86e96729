"""Retransmission timeouts of connections: judgement, HTTP, terminal, and the finding of the overview."""

from typing import Any

import pytest

from sinemora.advisors.shaping.core.connections import judged
from tests.api_clients import Member, MeshWorld
from tests.measurements.reports import connections_of, sent, window_start


@pytest.mark.parametrize(
    ("timeouts", "in_band", "found"),
    [(0, 0, False), (2, 2, False), (3, 3, True), (6, 3, True), (7, 3, False), (100, 90, True)],
)
def test_the_signature_is_some_timeouts_in_the_band_and_not_fewer_than_others(timeouts: int, in_band: int, found: bool):
    assert judged(10_000, 2 * timeouts, timeouts, in_band, 0).found is found


def test_the_evidence_has_the_mean_wait_and_the_share():
    result = judged(10_000, 9, 4, 4, 840)
    assert (result.stall_ms, result.share) == (210, 0.0004)
    assert result.evidence == "4 timeouts, 4 of 195 to 235 ms; 9 of 10000 segments sent again"
    assert (judged(0, 0, 0, 0, 0).stall_ms, judged(0, 0, 0, 0, 0).share) == (None, None)


def test_timeouts_by_peer(owner: Member, make_mesh: Any, online: Any):
    mesh: MeshWorld = make_mesh(owner, 2)
    path = f"/v1/meshes/{mesh.id}/connection-timeouts"
    agent, peer = mesh.agents
    empty = owner.get(path).json()
    assert (empty["vms"], empty["vms_reporting"], empty["items"]) == (2, 0, [])
    older, newer = window_start(2, 60), window_start(1, 60)
    sent(agent, connections_of({older: {peer.vm_key: (500, 2, 2)}, newer: {0: (80, 1, 0), peer.vm_key: (500, 3, 3)}}))
    read = owner.get(path).json()
    assert (read["vms_reporting"], len(read["items"])) == (1, 2)
    first, second = read["items"]
    assert (first["peer_vm_id"], first["timeouts"], first["found"]) == (str(peer.vm_id), 5, True)
    assert (first["rto_ms"], first["stall_ms"], first["segments_sent"], first["connections"]) == (204, 210, 1_000, 2)
    assert (second["peer_vm_id"], second["peer_vm_name"], second["found"]) == (None, None, False)
    found = [one for one in owner.get("/v1/overview/findings").json() if one["advisor"] == "shaping"]
    assert [one["about"] for one in found] == [f"{first['vm_name']} → {first['peer_vm_name']}"]
    printed = online("advise", "connection-timeouts", "--mesh", mesh.name)
    assert "5 timeouts, 5 of 195 to 235 ms; 10 of 1000 segments sent again" in printed
