"""Tests of loss towards standard responders with several clients: nothing is lost here, so nothing is reported lost."""

import sys

import pytest

import daemons
import stock_loss
from agents import Agent, fleet_in_lab, peer
from laboratory import wait_until
from stock_loss import Reported

CLIENTS, RATE_HZ = 3, 16


@pytest.fixture(scope="module")
def reported() -> dict[str, dict[str, Reported]]:
    return stock_loss.measure(CLIENTS, RATE_HZ)


@pytest.mark.parametrize("name", stock_loss.DAEMONS)
@pytest.mark.parametrize("direction", ["inbound", "round_trip"])
def test_no_loss_is_invented_with_several_clients(
    reported: dict[str, dict[str, Reported]], name: str, direction: str
) -> None:
    sums = reported[name][direction]
    assert sums.lost == 0
    # Not the rate of the responder, which a busy machine slows: there is something that could have been lost.
    assert sums.sent > RATE_HZ * (sums.windows - sums.unknown) / 4
    assert sums.unknown <= sums.windows // 5


def await_reason(client: Agent) -> str:
    """Return the message that names the reason; only one is printed for a reason."""
    wait_until("the reason in the log", lambda: bool(stock_loss.without_service(client)))
    (line,) = stock_loss.without_service(client)
    return line


def test_a_responder_of_another_domain_has_no_service_until_the_plan_names_its_domain() -> None:
    with fleet_in_lab() as (lab, fleet):
        client, other = fleet.agent(lab.host("client")), fleet.agent(lab.host("other"))
        host = lab.host("ptp4l")
        daemons.ptp4l_master(host, domainNumber=24)
        other.follow([client.peer("responder")], RATE_HZ)
        silent = peer(11, host.address, "client", protocol="ieee1588")
        client.follow([silent, other.peer("client")], RATE_HZ)
        line = await_reason(client)
        assert host.address in line
        assert "answers in PTP domain 24 and the plan has domain 0" in line
        windows = client.await_windows(3, client.await_answers([other.key]))
        assert {key for window in windows for key in window.peer_keys} == {other.key}
        client.follow([{**silent, "domain": 24}, other.peer("client")], RATE_HZ)
        windows = client.await_windows(5, client.await_answers([11, other.key]))
        places = [list(window.peer_keys).index(11) for window in windows]
        assert all(window.round_trip.count[at] > 0 for window, at in zip(windows, places, strict=True))
        assert all(window.round_trip.lost[at] == 0 for window, at in zip(windows, places, strict=True))


def test_standard_clients_are_served_each_in_its_domain() -> None:
    with fleet_in_lab() as (lab, fleet):
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        clients = [
            daemons.ptp4l_client(lab.host(f"ptp4l-{domain}"), responder.host.address, -3, domainNumber=domain)
            for domain in (44, 127)
        ]
        wait_until("delays measured by each", lambda: all(len(client.raw_delays_ns()) >= 3 for client in clients))


# A responder that denies every grant: the TLV of each request, answered with a duration of 0.
_REFUSING = """
import socket, struct
general = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
general.bind(("0.0.0.0", 320))
print("refusing", flush=True)
while True:
    request, client = general.recvfrom(512)
    if request[0] & 0xf == 0xc:
        body = request[20:30] + struct.pack("!HHBbIBB", 5, 8, request[48], 0, 0, 0, 0)
        head = bytes([0xc, 0x12]) + struct.pack("!H", 34 + len(body)) + request[4:6] + b"\\x04\\x00" + bytes(12)
        general.sendto(head + b"\\x02" + bytes(8) + b"\\x01" + bytes(2) + b"\\x05\\x7f" + body, client)
"""


def test_a_responder_that_cannot_serve_has_no_service_with_the_reason() -> None:
    with fleet_in_lab() as (lab, fleet):
        client, hybrid = fleet.agent(lab.host("client")), lab.host("hybrid")
        closed, refusing = lab.host("closed"), lab.host("refusing")
        # Announce and Sync by multicast, which clouds do not forward; it answers Delay_Req by unicast.
        daemons.ptp4l_master(hybrid, unicast_listen=0, inhibit_multicast_service=0, hybrid_e2e=1)
        refusing.start([sys.executable, "-c", _REFUSING], "refusing").require("the responder", "refusing")
        absent = "10.77.9.9"
        reasons = {
            closed.address: "no program listens on its general port",
            refusing.address: "refuses the grants",
            hybrid.address: "answers no request in any PTP domain",
            absent: "no host answers at its address",
        }
        peers = [peer(11 + nth, at, "client", protocol="ieee1588") for nth, at in enumerate(reasons)]
        client.follow(peers, RATE_HZ)
        wait_until("all reasons in the log", lambda: len(stock_loss.without_service(client)) >= len(reasons))
        lines = stock_loss.without_service(client)
        assert {
            at: [line for line in lines if f"{at}:" in line and why in line] != [] for at, why in reasons.items()
        } == (dict.fromkeys(reasons, True))
        assert client.windows() == []


def test_a_responder_cannot_answer_an_agent_on_other_ports_and_the_agent_reports_it() -> None:
    with fleet_in_lab() as (lab, fleet):
        client, host = fleet.agent(lab.host("client"), event_port=10319), lab.host("ptp4l")
        daemons.ptp4l_master(host)
        client.follow([peer(11, host.address, "client", protocol="ieee1588")], RATE_HZ)
        assert "event_port = 319" in await_reason(client)
        assert client.windows() == []
