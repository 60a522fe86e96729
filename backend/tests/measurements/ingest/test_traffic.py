"""Traffic of VMs in reports: stored once, confined to its tenant, dropped by retention."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.ingest.validation import TRAFFIC_MAX
from sinemora.measurements.store import partitions
from tests.api_clients import MeshWorld
from tests.measurements.reports import add_traffic, report_of, send, sent, traffic_of, window_start, window_starts
from tests.measurements.worlds import simple

pytestmark = pytest.mark.agents(2)


def rows(mesh: MeshWorld) -> list[Any]:
    with tenant_session(mesh.owner.tenant_id) as session:
        columns = "vm_key, extract(epoch FROM started_at)::bigint AS at, window_s, elapsed_ms, interface, bytes_sent,"
        columns += " packets_sent, bytes_received, packets_received"
        return list(session.execute(text(f"SELECT {columns} FROM vm_traffic ORDER BY started_at")).all())


def test_traffic_is_stored_with_the_windows_of_its_report_and_once(mesh: MeshWorld):
    agent, other = mesh.agents
    report = report_of(mesh.key, {other.vm_key: simple(50_000)})
    at = window_start()
    add_traffic(report, at, 4_500_000_000, 1_000, elapsed_s=10.0034)
    for _ in range(2):
        sent(agent, report)
    (row,) = rows(mesh)
    assert tuple(row) == (agent.vm_key, at, 10, 10_003, "eth0", 4_500_000_000, 4_500_000, 1_000, 1)


def test_an_agent_without_peers_reports_its_traffic(mesh: MeshWorld):
    first, second = window_starts([2, 1])
    sent(mesh.agents[0], traffic_of({first: 1_000, second: 0}))
    assert [(row.at, row.bytes_sent) for row in rows(mesh)] == [(first, 1_000), (second, 0)]


def test_windows_are_bounded_and_not_of_the_future(mesh: MeshWorld):
    many = send(mesh.agents[0], traffic_of(dict.fromkeys(window_starts(range(TRAFFIC_MAX + 1)), 1)))
    assert "at most 1,000 windows of traffic" in many.json()["detail"]
    assert send(mesh.agents[0], traffic_of({window_start(-6): 1})).json()["code"] == "window_in_future"


def test_a_window_beyond_the_retention_is_left_out(mesh: MeshWorld):
    old, new = window_start(10 * 8_640), window_start()
    sent(mesh.agents[0], traffic_of({old: 1, new: 2}))
    assert [row.bytes_sent for row in rows(mesh)] == [2]


def test_a_shorter_retention_of_a_tenant_deletes_rows(mesh: MeshWorld):
    older, newer = window_starts([3, 1])
    sent(mesh.agents[0], traffic_of({older: 1, newer: 2}))
    with system_session() as session:
        before = datetime.fromtimestamp(newer, UTC)
        assert partitions.delete_windows_before(session, "vm_traffic", mesh.owner.tenant_id, before) == 1
    assert [row.bytes_sent for row in rows(mesh)] == [2]
