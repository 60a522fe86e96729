"""Traffic and TCP connections of VMs in reports: stored once, confined to their tenant, dropped by retention."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.measurements.ingest.validation import CONNECTION_WINDOWS_MAX, TRAFFIC_MAX
from sinemora.measurements.store import partitions
from tests import statements
from tests.api_clients import MeshWorld
from tests.measurements.reports import (
    add_traffic,
    connections_of,
    report_of,
    send,
    sent,
    traffic_of,
    window_start,
)
from tests.measurements.worlds import simple

pytestmark = pytest.mark.agents(2)

Make = Callable[[Iterable[int]], Report]
KINDS: dict[str, tuple[Make, int, int, str]] = {
    "vm_traffic": (lambda at: traffic_of(dict.fromkeys(at, 1)), 10, TRAFFIC_MAX, "1,000 windows of traffic"),
    "vm_connections": (
        lambda at: connections_of({start: {0: (1, 0, 0)} for start in at}),
        60,
        CONNECTION_WINDOWS_MAX,
        "400 windows of connections",
    ),
}
"""By table: how a report of windows with these starts is made, their length in s, and the most of a report."""


def rows(mesh: MeshWorld, table: str, columns: str = "") -> list[Any]:
    """Return the starts of the rows of a table, after other columns."""
    order = "started_at" if table == "vm_traffic" else "started_at, peer_key"
    sql = f"SELECT {columns} extract(epoch FROM started_at)::bigint AS at FROM {table} ORDER BY {order}"
    return statements.rows(sql, tenant=mesh.owner.tenant_id)


def test_traffic_is_stored_with_the_windows_of_its_report_and_once(mesh: MeshWorld):
    agent, other = mesh.agents
    report = report_of(mesh.key, {other.vm_key: simple(50_000)})
    at = window_start()
    add_traffic(report, at, 4_500_000_000, 1_000, elapsed_s=10.0034)
    for _ in range(2):
        sent(agent, report)
    columns = "vm_key, window_s, elapsed_ms, interface, bytes_sent, packets_sent, bytes_received, packets_received,"
    expected = (agent.vm_key, 10, 10_003, "eth0", 4_500_000_000, 4_500_000, 1_000, 1, at)
    assert rows(mesh, "vm_traffic", columns) == [expected]


def test_connections_are_stored_once(mesh: MeshWorld):
    agent, other = mesh.agents
    at = window_start(1, 60)
    report = connections_of({at: {0: (900, 0, 0), other.vm_key: (1_000, 3, 2)}})
    for _ in range(2):
        sent(agent, report)
    assert rows(mesh, "vm_connections", "vm_key, peer_key, segments_sent, timeouts, rto_us,") == [
        (agent.vm_key, 0, 900, 0, 0, at),
        (agent.vm_key, other.vm_key, 1_000, 3, 204_000, at),
    ]
    wide = connections_of({at: {key: (1, 0, 0) for key in range(66)}})
    assert "connections[0].peers: at most 65 peers" in send(agent, wide).json()["detail"]


@pytest.mark.parametrize("table", KINDS)
def test_windows_are_bounded_and_not_of_the_future(mesh: MeshWorld, table: str):
    make, window_s, most, said = KINDS[table]
    many = make(window_start(ago, window_s) for ago in range(most + 1))
    assert f"at most {said}" in send(mesh.agents[0], many).json()["detail"]
    assert send(mesh.agents[0], make([window_start(-6, window_s)])).json()["code"] == "window_in_future"


@pytest.mark.parametrize("table", KINDS)
def test_old_windows_are_left_out_and_a_shorter_retention_deletes(mesh: MeshWorld, table: str):
    make, window_s, *_ = KINDS[table]
    old, older, newer = (window_start(ago, window_s) for ago in (10 * 86_400 // window_s, 3, 1))
    sent(mesh.agents[0], make([old, older, newer]))
    assert rows(mesh, table) == [(older,), (newer,)]
    before = datetime.fromtimestamp(newer, UTC)
    assert statements.call(partitions.delete_windows_before, table, mesh.owner.tenant_id, before) == 1
    assert rows(mesh, table) == [(newer,)]
