"""Tests of SPTP (Meta's Simple PTP): facebook/time's sptp measures the agent, and the agent measures its ptp4u."""

import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

import boxes
import daemons
import stock_loss
from agents import Agent, Fleet, fleet_in_lab, peer, quantiles_ns
from laboratory import Host, Lab, Process, wait_until

RATE_HZ, WINDOWS, SETTLED_S = 16, 6, 3
KEY = 11
OUTBOUND_NS, INBOUND_NS = 700_000, 300_000
# Latest arrival of the packets that a box releases, medians, on a machine that runs other tests.
LATE_NS = 150_000


@dataclass
class SptpClient:
    """A running sptp and what it measures."""

    process: Process

    def exchanges(self) -> list[tuple[int, int]]:
        """Return the exchanges that it completed: offset of the server and mean path delay, ns."""
        found = re.findall(r"CF2 \S+\] offset (\S+) delay ([0-9.a-zµ]+)", self.process.output())
        return [(_go_duration_ns(offset), _go_duration_ns(delay)) for offset, delay in found]


def sptp(host: Host, server: str, interval_s: float = 0.1, interface: str = "e0") -> SptpClient:
    """Start an sptp that measures `server` and leaves the clock alone."""
    config = host.lab.folder / f"sptp-{host.name}.yaml"
    config.write_text(
        f"iface: {interface}\ntimestamping: software\nfreerunning: true\ninterval: {round(interval_s * 1000)}ms\n"
        f"exchangetimeout: {round(interval_s * 800)}ms\nmonitoringport: 4269\nlistenaddress: 0.0.0.0\n"
        f"servers:\n  {server}: 0\nmaxclockclass: 58\nmaxclockaccuracy: 0x31\n",
        "utf-8",
    )
    return SptpClient(host.start([daemons.brought("ptp4u", "sptp"), "-verbose", "-config", str(config)], "sptp"))


def _go_duration_ns(text: str) -> int:
    """Return a duration as Go prints it (`1.5ms`, `-2m3.5s`), in ns."""
    units = {"h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "us": 1e3, "ns": 1}
    parts = re.findall(r"([0-9.]+)(h|ms|m|s|µs|us|ns)", text)
    return round(sum(float(number) * units[unit] for number, unit in parts)) * (-1 if text.startswith("-") else 1)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Agent, SptpClient]]:
    """An agent, and an sptp that measures it."""
    with Lab() as lab:
        agent = Fleet(lab).agent(lab.host("agent"), standard_clients="10.77.0.0/16")
        agent.follow([], RATE_HZ)
        client = sptp(lab.host("sptp"), agent.host.address)
        wait_until("exchanges of sptp", lambda: len(client.exchanges()) > 40)
        yield agent, client


def test_sptp_measures_the_agent_whose_clock_is_its_own(served: tuple[Agent, SptpClient]) -> None:
    exchanges = served[1].exchanges()
    # All hosts share a clock.
    assert abs(statistics.median(offset for offset, _ in exchanges)) < 1e6
    assert 0 < statistics.median(delay for _, delay in exchanges) < 1e6


def test_about_every_second_request_of_sptp_is_answered(served: tuple[Agent, SptpClient]) -> None:
    # An answer has more than twice the octets of a request that proves nothing.
    agent, client = served
    before, exchanges = agent.metrics(), len(client.exchanges())
    time.sleep(5)
    after, answered = agent.metrics(), len(client.exchanges()) - exchanges
    received = after["sinemora_agent_packets_received_total"] - before["sinemora_agent_packets_received_total"]
    assert 0.3 < answered / received < 0.55


@pytest.fixture(scope="module")
def measured() -> Iterator[list[MeshWindow]]:
    """The windows of an agent that measures a ptp4u by SPTP, at other ports than those of the standard."""
    with fleet_in_lab() as (lab, fleet):
        client, server = fleet.agent(lab.host("client"), event_port=10319), lab.host("server")
        daemons.ptp4u(server)
        client.follow([peer(KEY, server.address, "client", protocol="sptp")], RATE_HZ)
        yield client.await_windows(WINDOWS, client.await_answers([KEY]) + SETTLED_S)


def test_the_agent_measures_ptp4u_at_the_rate_of_the_mesh_without_loss(measured: list[MeshWindow]) -> None:
    assert sum(window.round_trip.sent[0] for window in measured) >= 0.9 * RATE_HZ * WINDOWS
    for columns in ("outbound", "inbound", "round_trip"):
        lost = [getattr(window, columns).lost[0] for window in measured]
        assert sum(lost) == 0, (columns, lost)
    # A window's timestamps are the kernel's: veth has no card that takes any.
    assert {window.timestamp_source for window in measured} == {2}


def test_the_clock_of_ptp4u_is_ours_though_it_announces_tai(measured: list[MeshWindow]) -> None:
    offsets_ns = [window.offset_from_peer_ns[0] for window in measured if window.offset_from_peer_ns]
    assert offsets_ns
    assert max(map(abs, offsets_ns)) < 1e7


def test_delays_injected_on_the_path_are_measured_within_their_bound() -> None:
    settings = [f"--outbound=delay={OUTBOUND_NS // 1000}us", f"--inbound=delay={INBOUND_NS // 1000}us"]
    with fleet_in_lab() as (lab, fleet):
        left, right = lab.host("left"), lab.host("right")
        path = boxes.join(lab, left, right, settings)
        client = fleet.agent(left, listen_address=path.addresses[0])
        daemons.ptp4u(right, boxes.interface(right, path.addresses[1]), path.addresses[1])
        client.follow([peer(KEY, path.addresses[1], "client", protocol="sptp")], RATE_HZ)
        windows = client.await_windows(WINDOWS, client.await_answers([KEY]) + SETTLED_S)
        injected = {"outbound": OUTBOUND_NS, "inbound": INBOUND_NS, "round_trip": OUTBOUND_NS + INBOUND_NS}
        for columns, delay_ns in injected.items():
            bound = statistics.median(getattr(window, columns).clock_error_ns[0] for window in windows)
            measured = quantiles_ns([getattr(window, columns) for window in windows], 0.5)[0]
            late = LATE_NS * (2 if columns == "round_trip" else 1)
            assert delay_ns - bound <= measured <= delay_ns + bound + late, (columns, measured, bound)


def test_a_server_without_sptp_has_no_service_and_no_loss() -> None:
    with fleet_in_lab() as (lab, fleet):
        client, nobody = fleet.agent(lab.host("client")), lab.host("nobody")
        client.follow([peer(KEY, nobody.address, "client", protocol="sptp")], RATE_HZ)
        wait_until("the reason in the log", lambda: stock_loss.without_service(client), 60)
        (line,) = stock_loss.without_service(client)
        assert f"{nobody.address}:319" in line
        assert "no program listens on its event port" in line
        assert client.windows() == []
