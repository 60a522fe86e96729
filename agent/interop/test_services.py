"""TCP connections and bytes by peer and listening port: what real agents send, field by field, and what they do not."""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from sinemora.measurements.ingest.agent_pb2 import Report, ServicePeer, ServiceWindow

from agents import Agent, fleet_in_lab
from laboratory import wait_until

DOCS = Path(__file__).parents[2] / "docs" / "agent-measurements.md"
SECRET = b"contents-of-a-request"
STRANGER_KEY = 77
# A server on two ports: it answers each request with ten times its bytes, or ends the connection.
SERVER = """
import socket, sys, threading
def serve(listener):
    while True:
        one = listener.accept()[0]
        threading.Thread(target=echo, args=(one,), daemon=True).start()
def echo(one):
    while content := one.recv(4096):
        one.sendall(10 * content)
    one.close()
for port in (8080, 11211):
    threading.Thread(target=serve, args=(socket.create_server(("", port)),)).start()
"""
# One connection that lasts to the first port, five short ones a second to the second; and a scan of 2,000 ports.
CLIENT = """
import socket, sys, time
address, secret = sys.argv[1], sys.argv[2].encode()
lasting = socket.create_connection((address, 8080))
while True:
    lasting.sendall(secret)
    lasting.recv(1 << 16)
    for _ in range(5):
        with socket.create_connection((address, 11211)) as short:
            short.sendall(b"x")
            short.recv(100)
    for port in range(20_000, 22_000) if len(sys.argv) > 3 else ():
        with socket.socket() as scan:
            scan.connect_ex((address, port))
    time.sleep(1)
"""


@dataclass
class Scene:
    """Agents after two windows: of a client, of a server, of a VM that says no, and of another tenant on the client."""

    client: Agent
    server: Agent
    refusing: Agent
    neighbour: Agent


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with fleet_in_lab() as (lab, fleet):
        hosts = {name: lab.host(name) for name in ("client", "server", "refusing", "stranger")}
        for name in ("server", "stranger"):
            hosts[name].start([sys.executable, "-c", SERVER], "server")
        agents = {name: fleet.agent(hosts[name]) for name in ("client", "server")}
        refusing = fleet.agent(hosts["refusing"], service_traffic="false")
        # Of another tenant, on the same VM: its plan has the address of the stranger alone.
        neighbour = fleet.agent(hosts["client"], event_port=419, metrics_listen="off")
        vms = {hosts[name].address: agent.key for name, agent in agents.items()}
        for agent in (*agents.values(), refusing):
            agent.follow([], 1, service_traffic=vms)
        neighbour.follow([], 1, service_traffic={hosts["stranger"].address: STRANGER_KEY})
        for name in ("client", "refusing"):
            for to in ("server", "stranger"):
                scans = ["scan"] if name == "client" else []
                address = hosts[to].address
                hosts[name].start([sys.executable, "-c", CLIENT, address, SECRET.decode(), *scans], f"to-{to}")
        since_s = time.time() + 10
        found = Scene(agents["client"], agents["server"], refusing, neighbour)
        reporting = (found.client, found.server, neighbour)
        for agent in reporting:
            wait_until("two windows of services", lambda agent=agent: len(windows(agent, since_s)) >= 2, 120)
        yield found


def windows(agent: Agent, since_s: float = 0.0) -> list[ServiceWindow]:
    found = [window for report in agent.reports() for window in report.services]
    return [window for window in found if window.started_at_s >= since_s]


def rows(agent: Agent) -> dict[tuple[int, int, bool], ServicePeer]:
    return {(row.vm_key, row.port, row.serves): row for row in windows(agent)[-1].peers}


def test_both_ends_count_the_connections_and_bytes_of_a_port(scene: Scene) -> None:
    sent, received = rows(scene.client), rows(scene.server)
    lasting, served = sent[scene.server.key, 8080, False], received[scene.client.key, 8080, True]
    assert 20 * len(SECRET) <= lasting.bytes_sent <= 32 * len(SECRET)
    assert lasting.bytes_received == pytest.approx(10 * lasting.bytes_sent, rel=0.15)
    assert served.bytes_received == pytest.approx(lasting.bytes_sent, rel=0.2)
    # The client ends the short ones, so that it alone has seen each.
    assert 100 <= sent[scene.server.key, 11_211, False].connections <= 160
    # Another key is that of nobody; neither agent has a row of the scanned ports.
    assert {key[:2] for key in sent} == {(0, 0), (scene.server.key, 8080), (scene.server.key, 11_211)}
    assert sent[0, 0, False].bytes_sent > lasting.bytes_sent


def test_a_vm_may_say_no_and_a_neighbour_knows_only_its_own_vms(scene: Scene) -> None:
    assert scene.refusing.reports()
    assert windows(scene.refusing) == []
    assert {key[0] for key in rows(scene.neighbour)} == {0, STRANGER_KEY}


def test_what_is_on_the_wire_is_what_the_documentation_lists(scene: Scene) -> None:
    section = DOCS.read_text("utf-8").split("## Traffic by service\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE))))
    found: Counter[str] = Counter()
    addresses = [host.address for host in (scene.client.host, scene.server.host)]
    hidden = [SECRET, b"python", *(address.encode() for address in addresses)]
    hidden += [bytes(map(int, address.split("."))) for address in addresses]
    for agent in (scene.client, scene.server):
        for report in agent.reports():
            for window in report.services:
                content = window.SerializeToString()
                assert not any(word in content for word in hidden)
                for message in (window, *window.peers):
                    assert len(UnknownFieldSet(message)) == 0
                    found.update(field.name for field, _ in message.ListFields())
    declared = (ServiceWindow.DESCRIPTOR, ServicePeer.DESCRIPTOR)
    assert documented == {field.name for one in declared for field in one.fields} - {"peers"}
    # Nothing was left out here.
    assert set(found) == documented - {"connections_left_out"} | {"peers"}
    assert Report.DESCRIPTOR.fields_by_name["services"].number == 8
