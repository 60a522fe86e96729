"""Traffic by service in reports: counted once, of tenants that ask for it alone; VMs that are gone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sinemora.measurements.store import traffic_edges
from tests.api_clients import MakeMesh, Member, MeshWorld
from tests.measurements.reports import golden, sent, services_of, window_start
from tests.statements import call, rows

pytestmark = pytest.mark.agents(3)


@pytest.fixture
def asked(mesh: MeshWorld) -> MeshWorld:
    """The mesh of a tenant that asks for traffic by service."""
    answer = mesh.owner.put(f"/v1/tenants/{mesh.owner.tenant_id}", json={"service_traffic": True})
    assert (answer.status_code, answer.json()["service_traffic"]) == (200, True)
    return mesh


def edges(mesh: MeshWorld) -> list[Any]:
    return rows(
        "SELECT c.key, s.key, port, reported_by, sum(connections), sum(bytes_to_server), sum(bytes_to_client),"
        " sum(windows), extract(epoch FROM min(first_at))::bigint, extract(epoch FROM max(last_at))::bigint"
        " FROM traffic_edges e JOIN vms c ON c.id = client_vm_id JOIN vms s ON s.id = server_vm_id"
        " GROUP BY c.key, s.key, port, reported_by ORDER BY c.key, s.key, port, reported_by",
        tenant=mesh.owner.tenant_id,
    )


def days(mesh: MeshWorld) -> list[Any]:
    names = ("bit_count(seen)", "other_connections", "other_bytes_sent", "other_bytes_received", "connections_left_out")
    sums = ", ".join(f"sum({name})" for name in names)
    return rows(f"SELECT {sums} FROM traffic_days GROUP BY vm_id ORDER BY 1", tenant=mesh.owner.tenant_id)


def test_windows_count_once_whoever_sends_them_how_often(asked: MeshWorld):
    client, server, _ = asked.agents
    late, at = window_start(3, 30), window_start(1, 30)
    report = services_of({at: [(0, 0, False, 4, 70, 7), (server.vm_key, 11_211, False, 2, 100, 9_000)]})
    report.services[0].connections_left_out = 8
    report.services.add().CopyFrom(report.services[0])  # twice in one report, and the report twice
    for _ in range(2):
        sent(client, report)
    sent(client, services_of({late: [(server.vm_key, 11_211, False, 1, 10, 500)]}))
    sent(server, services_of({at: [(client.vm_key, 11_211, True, 2, 8_900, 99)]}))
    ends = (client.vm_key, server.vm_key, 11_211)
    assert edges(asked) == [
        (*ends, "client", 3, 110, 9_500, 2, late, at + 30),
        (*ends, "server", 2, 99, 8_900, 1, at, at + 30),
    ]
    assert days(asked) == [(1, 0, 0, 0, 0), (2, 4, 70, 7, 8)]


def test_vms_of_others_and_those_that_are_gone_have_no_rows(asked: MeshWorld, make_mesh: MakeMesh, other_owner: Member):
    client, server, gone = asked.agents
    strange = make_mesh(other_owner, 1).agents[0]
    at = window_start(1, 30)
    peers = [(key, 80, False, 1, 5, 5) for key in (server.vm_key, gone.vm_key, strange.vm_key)]
    sent(client, services_of({at: [*peers, (client.vm_key, 80, False, 1, 5, 5)]}))
    assert [row[:2] for row in edges(asked)] == [(client.vm_key, key) for key in (server.vm_key, gone.vm_key)]
    assert asked.owner.delete(f"/v1/vms/{gone.vm_id}", headers={"If-Match": "*"}).status_code == 204
    sent(client, services_of({at - 30: peers}))
    assert [(row[1], row[7]) for row in edges(asked)] == [(server.vm_key, 2)]


def test_a_tenant_that_does_not_ask_has_no_rows_and_its_plans_say_so(mesh: MeshWorld):
    agent = mesh.agents[0]
    settings = f"/v1/tenants/{mesh.owner.tenant_id}"

    def plan() -> Any:
        return agent.get("/v1/agents/self/plan").json()

    off = plan()
    assert off["service_traffic"] is None
    sent(agent, services_of({window_start(1, 30): [(mesh.agents[1].vm_key, 80, False, 1, 5, 5)]}))
    assert (edges(mesh), days(mesh)) == ([], [])
    mesh.owner.put(settings, json={"service_traffic": True})
    asks = plan()
    assert sorted(asks["service_traffic"].values()) == sorted(one.vm_key for one in mesh.agents[1:])
    assert asks["revision"] != off["revision"]
    mesh.owner.put(settings, json={"service_traffic": False})
    assert plan()["revision"] == off["revision"]
    entries = mesh.owner.get("/v1/audit-entries?action=tenant.updated").json()["items"]
    assert [entry["detail"] for entry in entries] == [{"service_traffic": False}, {"service_traffic": True}]


def test_days_are_kept_for_thirty_days_and_a_backlog_is_stored(asked: MeshWorld):
    client, server, _ = asked.agents
    week = window_start(7 * 2_880, 30)
    sent(
        client,
        services_of({at: [(server.vm_key, 80, False, 1, 5, 5)] for at in (week - 30, week, window_start(1, 30))}),
    )
    assert [row[7] for row in edges(asked)] == [3]
    assert call(traffic_edges.delete_old, datetime.now(UTC) + timedelta(days=24)) >= 1
    assert [row[7] for row in edges(asked)] == [1]


def test_the_golden_report_of_the_agent_is_read(asked: MeshWorld):
    report = golden("services")
    for number, window in enumerate(report.services):
        window.started_at_s = window_start(2 - number, 30)
    sent(asked.agents[0], report)
    assert [row for row in days(asked) if row[0]] == [(2, 5, 52_000, 910, 90_000)]
