"""Nonsense in what agents report besides windows of paths is refused with its field."""

import re
from typing import Any

import pytest

from sinemora.measurements.ingest.agent_pb2 import Report
from tests.api_clients import MeshWorld
from tests.measurements.reports import connections_of, host_of, send, services_of, traffic_of, window_start
from tests.statements import scalar

pytestmark = pytest.mark.agents(2)

MAKE = {
    "traffic": lambda: traffic_of({window_start(): 1_000}),
    "host": lambda: host_of({window_start(): 1_000}),
    "connections": lambda: connections_of({window_start(1, 60): {0: (1, 0, 0), 9: (1_000, 3, 2)}}),
    "services": lambda: services_of({window_start(2, 60): [(9, 80, False, 1, 5, 5)]}),
}
NONSENSE = [
    ("traffic[0].window_s", 0, "traffic[0].window_s: a window lasts 1 to 60 s, not 0"),
    ("traffic[0].started_at_s", 1_700_000_005, ".started_at_s: 1700000005 is not a multiple of the window's 10 s"),
    ("traffic[0].elapsed_ns", 0, "traffic[0].elapsed_ns: a window is counted over less than twice its length"),
    ("traffic[0].elapsed_ns", 20_000_000_000, "[0].elapsed_ns: a window is counted over less than twice its length"),
    ("traffic[0].interface", "", "traffic[0].interface: the name of a network interface"),
    ("traffic[0].interface", "e\n", "traffic[0].interface: at most 64 printable characters"),
    ("traffic[0].bytes_sent", 2**63, "traffic[0].bytes_sent: more than 2^63 - 1"),
    ("traffic[0].packets_received", 2**64 - 1, "traffic[0].packets_received: more than 2^63 - 1"),
    ("host[0].window_s", 0, "host[0].window_s: a window lasts 1 to 60 s, not 0"),
    ("host[0].elapsed_ns", 0, "host[0].elapsed_ns: a window is counted over at most an hour"),
    ("host[0].elapsed_ns", 3_600_000_000_001, "host[0].elapsed_ns: a window is counted over at most an hour"),
    ("host[0].stall_us", [1], "host[0].stall_us: at most 32, one for each of stall_at_us"),
    ("host[0].steal_ms", 2**63, "host[0].steal_ms: more than 2^63 - 1"),
    ("connections[0].window_s", 0, "connections[0].window_s: a window lasts 1 to 60 s, not 0"),
    ("connections[0].started_at_s", 1_700_000_005, "[0].started_at_s: 1700000005 is not a multiple of the window's"),
    ("connections[0].peers[1].vm_key", 0, "connections[0].peers: keys of VMs, strictly ascending"),
    ("connections[0].peers[1].vm_key", 2**31, "connections[0].peers: keys of VMs, strictly ascending"),
    ("connections[0].peers[1].segments_sent", 2**63, "connections[0].peers[1].segments_sent: more than"),
    ("connections[0].peers[1].timeouts", 2**31, "connections[0].peers[1].timeouts: more than"),
    ("connections[0].peers[1].timeouts_in_band", 4, "[0].peers[1].timeouts_in_band: more than all timeouts"),
    ("services[0].window_s", 60, "services[0].window_s: a window of services lasts 30 s"),
    ("services[0].peers[0].vm_key", 2**31, "services[0].peers: keys of VMs, ports and sides, strictly ascending"),
    ("services[0].peers[0].vm_key", 0, "services[0].peers: a port from 1 to 65535 for each peer"),
    ("services[0].peers[0].port", 0, "services[0].peers: a port from 1 to 65535 for each peer"),
    ("services[0].peers[0].port", 65_536, "services[0].peers: a port from 1 to 65535 for each peer"),
    ("services[0].peers[0].bytes_sent", 2**43, "services[0].peers: more than"),
]


def write(report: Report, path: str, value: Any) -> None:
    """Set a field of a report, such as `connections[0].peers[1].timeouts`."""
    *places, name = re.findall(r"\w+", path)
    message: Any = report
    for place in places:
        message = message[int(place)] if place.isdigit() else getattr(message, place)
    if isinstance(value, list):
        getattr(message, name).extend(value)
    else:
        setattr(message, name, value)


def test_nonsense_is_refused_with_its_field(mesh: MeshWorld):
    for path, value, said in NONSENSE:
        report = MAKE[path.partition("[")[0]]()
        write(report, path, value)
        answer = send(mesh.agents[0], report)
        assert (answer.status_code, answer.json()["code"]) == (422, "malformed_report"), path
        assert said in answer.json()["detail"]
    stored = "SELECT (SELECT count(*) FROM vm_traffic WHERE {0}) + (SELECT count(*) FROM vm_connections WHERE {0})"
    assert scalar(stored.format(f"tenant_key = {mesh.owner.tenant_key}")) == 0
