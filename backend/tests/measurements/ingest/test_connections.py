"""TCP connections of VMs in reports: stored once, confined to their tenant, dropped by retention."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.ingest.validation import CONNECTION_WINDOWS_MAX
from sinemora.measurements.store import partitions
from tests.api_clients import MeshWorld
from tests.measurements.reports import connections_of, send, sent, window_start

pytestmark = pytest.mark.agents(2)


def rows(mesh: MeshWorld) -> list[Any]:
    with tenant_session(mesh.owner.tenant_id) as session:
        columns = "vm_key, peer_key, extract(epoch FROM started_at)::bigint AS at, segments_sent, timeouts, rto_us"
        return list(session.execute(text(f"SELECT {columns} FROM vm_connections ORDER BY started_at, peer_key")).all())


def test_connections_are_stored_once(mesh: MeshWorld):
    agent, other = mesh.agents
    at = window_start(1, 60)
    report = connections_of({at: {0: (900, 0, 0), other.vm_key: (1_000, 3, 2)}})
    for _ in range(2):
        sent(agent, report)
    assert [tuple(row) for row in rows(mesh)] == [
        (agent.vm_key, 0, at, 900, 0, 0),
        (agent.vm_key, other.vm_key, at, 1_000, 3, 204_000),
    ]


def test_windows_and_peers_are_bounded(mesh: MeshWorld):
    at = window_start(1, 60)
    many = connections_of({at - 60 * ago: {0: (1, 0, 0)} for ago in range(CONNECTION_WINDOWS_MAX + 1)})
    assert "at most 400 windows of connections" in send(mesh.agents[0], many).json()["detail"]
    wide = connections_of({at: {key: (1, 0, 0) for key in range(66)}})
    assert "connections[0].peers: at most 65 peers" in send(mesh.agents[0], wide).json()["detail"]
    ahead = connections_of({window_start(-6, 60): {0: (1, 0, 0)}})
    assert send(mesh.agents[0], ahead).json()["code"] == "window_in_future"


def test_old_windows_are_left_out_and_a_shorter_retention_deletes(mesh: MeshWorld):
    older, newer = window_start(3, 60), window_start(1, 60)
    sent(mesh.agents[0], connections_of({at: {0: (1, 0, 0)} for at in (window_start(10 * 1_440, 60), older, newer)}))
    assert [row.at for row in rows(mesh)] == [older, newer]
    with system_session() as session:
        assert (
            partitions.delete_windows_before(
                session, "vm_connections", mesh.owner.tenant_id, datetime.fromtimestamp(newer, UTC)
            )
            == 1
        )
    assert [row.at for row in rows(mesh)] == [newer]
