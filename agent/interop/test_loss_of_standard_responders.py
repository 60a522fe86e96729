"""Tests of loss towards standard responders with several clients: nothing is lost here, so nothing is reported lost."""

import time

import pytest

import daemons
import stock_loss
from agents import Fleet, peer
from laboratory import Lab, wait_until
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
    assert sums.sent > 0.8 * RATE_HZ * (sums.windows - sums.unknown)
    assert sums.unknown <= sums.windows // 5


def test_a_responder_of_another_domain_has_no_service_and_loses_nothing() -> None:
    with Lab() as lab:
        fleet = Fleet(lab)
        client, other = fleet.agent(lab.host("client")), fleet.agent(lab.host("other"))
        host = lab.host("ptp4l")
        daemons.ptp4l_master(host, domainNumber=24)
        other.follow([client.peer("responder")], RATE_HZ)
        silent = peer(11, host.address, "client", protocol="ieee1588")
        client.follow([silent, other.peer("client")], RATE_HZ)
        wait_until("the reason in the log", lambda: bool(stock_loss.without_service(client)))
        windows = client.await_windows(3, time.time() - 8)
        assert {key for window in windows for key in window.peer_keys} == {other.key}
        (line,) = stock_loss.without_service(client)
        assert host.address in line
        assert "domain is 0" in line


def test_a_responder_cannot_answer_an_agent_on_other_ports_and_the_agent_reports_it() -> None:
    with Lab() as lab:
        fleet = Fleet(lab)
        client, host = fleet.agent(lab.host("client"), event_port=10319), lab.host("ptp4l")
        daemons.ptp4l_master(host)
        client.follow([peer(11, host.address, "client", protocol="ieee1588")], RATE_HZ)
        wait_until("the reason in the log", lambda: bool(stock_loss.without_service(client)))
        assert "event_port = 319" in stock_loss.without_service(client)[0]
        assert client.windows() == []
