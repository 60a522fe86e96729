"""Tests of the agent near stock clocks in hybrid mode: Announce and Sync by multicast, Delay_Req by unicast.

The agent takes no part in it: a multicast Announce would offer its clock to every PTP clock of the network. What the
tests show is that it harms nobody, is harmed by nobody, and reports a responder that does nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import daemons
import stock_loss
from agents import Agent, Fleet, peer
from laboratory import Host, Lab, wait_until

RATE_HZ, LOG_INTERVAL = 8, -3


@dataclass
class Scene:
    """An agent that serves every client, another that it measures, and a master and a client in hybrid mode."""

    agent: Agent
    other: Agent
    master: Host
    client: daemons.Ptp4lClient


def hybrid_master(host: Host, program: str) -> None:
    """Start a ptp4l in hybrid mode: it sends Announce and Sync by multicast and answers Delay_Req by unicast."""
    more = {"unicast_listen": 0, "inhibit_multicast_service": 0, "hybrid_e2e": 1, "logSyncInterval": LOG_INTERVAL}
    daemons.ptp4l_master(host, program, **more)


def hybrid_client(host: Host, program: str) -> daemons.Ptp4lClient:
    """Start a ptp4l that waits for a master's multicast and measures it by unicast Delay_Req; it adjusts no clock."""
    settings = {"slaveOnly": 1, "hybrid_e2e": 1, "logMinDelayReqInterval": LOG_INTERVAL, "summary_interval": -4}
    return daemons.Ptp4lClient(daemons.start_ptp4l(host, "ptp4l-hybrid", settings, "[e0]\n", program))


@pytest.fixture(scope="module", params=daemons.PTP4L)
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with Lab() as lab:
        fleet = Fleet(lab)
        agent = fleet.agent(lab.host("agent"), standard_clients="10.77.0.0/16")
        other = fleet.agent(lab.host("other"))
        master = lab.host("master")
        hybrid_master(master, request.param)
        client = hybrid_client(lab.host("hybrid"), request.param)
        other.follow([agent.peer("responder")], RATE_HZ)
        agent.follow([other.peer("client"), peer(11, master.address, "client", protocol="ieee1588")], RATE_HZ)
        yield Scene(agent, other, master, client)


def test_a_hybrid_client_measures_its_master_and_never_chooses_the_agent(scene: Scene) -> None:
    wait_until("the delays of the hybrid client", lambda: len(scene.client.raw_delays_ns()) > 30)
    choices = [line for line in scene.client.process.output().splitlines() if "selected best master clock" in line]
    # Once a master, chosen by its multicast: the identity of an Ethernet interface has the octets ff fe inside.
    assert len(set(line.split()[-1] for line in choices)) == 1, choices
    assert scene.agent.metrics()["sinemora_agent_packets_rejected_total"] == 0


def test_a_master_in_hybrid_mode_alone_has_no_service_and_no_loss(scene: Scene) -> None:
    wait_until("the reason in the log", lambda: bool(stock_loss.without_service(scene.agent)))
    (line,) = stock_loss.without_service(scene.agent)
    assert scene.master.address in line
    assert "answers no request in any PTP domain" in line
    assert all(11 not in window.peer_keys for window in scene.agent.windows())


def test_the_measurement_between_agents_loses_nothing(scene: Scene) -> None:
    windows = scene.agent.await_windows(5, scene.agent.await_answers([scene.other.key]))
    assert [sum(window.round_trip.lost) for window in windows] == [0] * 5
