"""Tests of the agent as responder: ptpd, ptp4l and another agent measure it by unicast negotiation."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import daemons
from agents import Agent, fleet_in_lab
from laboratory import wait_until

RATE_HZ, LOG_INTERVAL = 16, -4


@dataclass
class Scene:
    """Running responder, one client of each kind (ptp4l by its program), and their start."""

    responder: Agent
    client: Agent
    ptpd: daemons.PtpdClient
    ptp4l: dict[str, daemons.Ptp4lClient]
    since_s: float


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with fleet_in_lab() as (lab, fleet):
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        client = fleet.agent(lab.host("client"))
        client.measure(responder, RATE_HZ)
        address = responder.host.address
        ptpd = daemons.ptpd_client(lab.host("ptpd"), address, LOG_INTERVAL)
        ptp4l = {
            program: daemons.ptp4l_client(lab.host(program), address, LOG_INTERVAL, program=program)
            for program in daemons.PTP4L
        }
        since_s = time.time()
        wait_until("ptpd's measurements", lambda: len(ptpd.raw_delays_ns("D")) > 100)
        for program, one in ptp4l.items():
            wait_until(f"measurements of {program}", lambda one=one: len(one.raw_delays_ns()) > 100)
        yield Scene(responder, client, ptpd, ptp4l, since_s)


@pytest.mark.parametrize("program", daemons.PTP4L)
def test_no_client_takes_our_time_scale_for_tai(scene: Scene, program: str) -> None:
    # All hosts share a clock; read as TAI without an offset, ours would look 37 s wrong.
    offsets_ns = scene.ptp4l[program].offsets_ns()
    assert max(map(abs, offsets_ns[-20:])) < 1e9


@pytest.mark.parametrize("program", daemons.PTP4L)
def test_ptp4l_renews_its_grants(scene: Scene, program: str) -> None:
    # It asks for 10 s at a time.
    wait_until("the end of the first grants", lambda: time.time() > scene.since_s + 14)
    client = scene.ptp4l[program]
    before = len(client.raw_delays_ns())
    wait_until("measurements under later grants", lambda: len(client.raw_delays_ns()) - before > RATE_HZ)


def test_ptpd_is_served(scene: Scene) -> None:
    assert scene.ptpd.is_slave


def test_standard_clients_cost_our_own_client_nothing(scene: Scene) -> None:
    windows = scene.client.await_windows(5, scene.since_s + 1)
    assert [sum(window.round_trip.lost) for window in windows] == [0] * 5
