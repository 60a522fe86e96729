"""Cost of counting connections by peer and listening port: processor time of the thread that reads, and bytes sent."""

import sys

import zstandard
from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import Report

from agents import Agent, fleet_in_lab
from laboratory import cpu_percent, wait_until

CONNECTIONS, MANY, PORTS = 1_000, 100_000, 10
SECONDS = 60.0
_FIRST_PORT = 7_000
# Both ends of the connections to one port. Every second nine of them, or more, carry a request and an answer.
_ENDS = """
import resource, selectors, socket, sys, time
role, address, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
if role == "client":
    ends = [socket.create_connection((address, port)) for _ in range(count)]
    print("ready", flush=True)
    while True:
        for one in ends[:: count // 9]:
            one.sendall(b"x" * 100)
        time.sleep(1)
events = selectors.DefaultSelector()
events.register(socket.create_server((address, port), backlog=1024), selectors.EVENT_READ, True)
print("ready", flush=True)
while True:
    for key, _ in events.select():
        if key.data:
            events.register(key.fileobj.accept()[0], selectors.EVENT_READ, False)
        else:
            key.fileobj.send(key.fileobj.recv(4096))
"""


def run() -> None:
    """Measure the reading thread of an agent whose VM has 1,000 connections, then very many."""
    _measure(CONNECTIONS, "traffic_agent_cpu_percent")
    _measure(MANY, "traffic_agent_cpu_percent_many")


def _measure(connections: int, figure: str) -> None:
    with fleet_in_lab() as (lab, fleet):
        server, client = lab.host("server"), lab.host("client")
        agent = fleet.agent(client)
        for number in range(PORTS):
            ends = [server.address, str(_FIRST_PORT + number), str(connections // PORTS)]
            for role, host in (("server", server), ("client", client)):
                host.start([sys.executable, "-I", "-c", _ENDS, role, *ends], role).require("its end", "ready", 300)
        agent.follow([], 1, service_traffic={server.address: 2})
        counted = min(connections, 10_000)
        wait_until("a window after the first reading", lambda: len(_reports(agent)) >= 2, 150)
        (share,) = cpu_percent([agent.process], SECONDS, "connections")
        newest = _reports(agent)[-1]
        left_out = newest.services[-1].connections_left_out
        assert left_out >= connections - counted, f"{left_out} connections were left out"
        figures.report(figure, share, connections=connections, left_out=left_out)
        if connections == CONNECTIONS:
            windows_a_minute = 60 / newest.services[-1].window_s
            rows = len(newest.services[-1].peers)
            figures.report("traffic_bytes_per_vm_minute", windows_a_minute * _bytes(newest), rows=rows)


def _reports(agent: Agent) -> list[Report]:
    return [report for report in agent.reports() if report.services]


def _bytes(report: Report) -> int:
    """Return the compressed bytes that the window of services adds to a report."""
    packed = zstandard.ZstdCompressor(level=3).compress
    without = Report.FromString(report.SerializeToString())
    del without.services[:]
    return len(packed(report.SerializeToString())) - len(packed(without.SerializeToString()))
