"""Tests of the agent as client: it measures ptpd, ptp4l and facebook/time's ptp4u by unicast negotiation."""

from collections.abc import Iterator

import pytest
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

import daemons
from agents import fleet_in_lab, peer

RATE_HZ = 16
RESPONDERS = {"ptpd": 11, "ptp4l": 12, "ptp4u": 13, "ptp4l-4": 14}
OURS = 2
WINDOWS = 6


@pytest.fixture(scope="module")
def windows() -> Iterator[list[MeshWindow]]:
    with fleet_in_lab() as (lab, fleet):
        client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
        hosts = {name: lab.host(name) for name in RESPONDERS}
        daemons.ptpd_master(hosts["ptpd"], -7)
        for program in daemons.PTP4L:
            daemons.ptp4l_master(hosts[program], program)
        daemons.ptp4u(hosts["ptp4u"])
        responder.follow([client.peer("responder")], RATE_HZ)
        standard = [peer(key, hosts[name].address, "client", protocol="ieee1588") for name, key in RESPONDERS.items()]
        client.follow([*standard, responder.peer("client")], RATE_HZ)
        yield client.await_windows(WINDOWS, client.await_answers([OURS, *RESPONDERS.values()]))


@pytest.mark.parametrize("name", RESPONDERS)
def test_the_clock_of_the_responder_is_ours_whatever_its_time_scale(windows: list[MeshWindow], name: str) -> None:
    # All hosts share a clock; ptp4u and ptp4l announce TAI, which is 37 s ahead.
    places = [(window, list(window.peer_keys).index(RESPONDERS[name])) for window in windows]
    offsets_ns = [window.offset_from_peer_ns[place] for window, place in places if window.offset_from_peer_ns]
    assert offsets_ns
    assert max(map(abs, offsets_ns)) < 1e8
