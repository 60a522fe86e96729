"""Delays injected on a path: our agent and the standard daemons measure the same, and what was injected.

A delaybox holds packets for 700 µs one way and 300 µs back. All hosts share a clock, so the daemons' differences of
timestamps are one-way delays. The box is late by the wakeups of a busy machine, for all of them alike.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

import boxes
import daemons
from agents import fleet_in_lab, peer, quantiles_ns
from laboratory import wait_until

RATE_HZ, LOG_INTERVAL = 16, -4
OUTBOUND_NS, INBOUND_NS = 700_000, 300_000
SETTLED_S, WINDOWS, SAMPLES = 3, 10, 200
# Latest arrival of the packets that a box releases, medians, on a machine that runs other tests.
LATE_NS = 150_000
# The paths to three responders are separate boxes: their medians differ by how late each is.
APART_NS = 100_000
KEY = 11


@dataclass
class Scene:
    """Medians of one-way delays, ns: of two daemons at our responder, and our agent's windows of a daemon."""

    ptpd: tuple[float, float]
    ptp4l_half: float
    windows: list[MeshWindow]
    """Of our agent, with ptpd as responder."""

    def ours(self, columns: str) -> float:
        """Return the median of all windows' delays, ns. (A mean would show how often the machine stalled.)"""
        return quantiles_ns([getattr(window, columns) for window in self.windows], 0.5)[0]


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    settings = [f"--outbound=delay={OUTBOUND_NS // 1000}us", f"--inbound=delay={INBOUND_NS // 1000}us"]
    with fleet_in_lab() as (lab, fleet):
        hosts = [(lab.host(f"{name}l"), lab.host(f"{name}r")) for name in ("a", "d", "l")]
        paths = [boxes.join(lab, *pair, settings) for pair in hosts]
        ours, ptpd, ptp4l = paths
        client = fleet.agent(hosts[0][0], listen_address=ours.addresses[0])
        daemons.ptpd_master(hosts[0][1], -7, boxes.interface(hosts[0][1], ours.addresses[1]))
        client.follow([peer(KEY, ours.addresses[1], "client", protocol="ieee1588")], RATE_HZ)
        for (_, right), path in ((hosts[1], ptpd), (hosts[2], ptp4l)):
            fleet.agent(right, listen_address=path.addresses[1], standard_clients="10.78.0.0/16")
        left = hosts[1][0]
        by_ptpd = daemons.ptpd_client(left, ptpd.addresses[1], LOG_INTERVAL, boxes.interface(left, ptpd.addresses[0]))
        left = hosts[2][0]
        by_ptp4l = daemons.ptp4l_client(
            left, ptp4l.addresses[1], LOG_INTERVAL, boxes.interface(left, ptp4l.addresses[0])
        )
        windows = client.await_windows(WINDOWS, client.await_answers([KEY]) + SETTLED_S)
        wait_until("ptpd's measurements", lambda: len(by_ptpd.raw_delays_ns("D")) > SAMPLES)
        wait_until("ptp4l's measurements", lambda: len(by_ptp4l.raw_delays_ns()) > SAMPLES)
        outbound, inbound = (statistics.median(by_ptpd.raw_delays_ns(kind)[-SAMPLES:]) for kind in ("D", "S"))
        half = statistics.median(by_ptp4l.raw_delays_ns()[-SAMPLES:])
        yield Scene((outbound, inbound), half, windows)


def test_ptpd_measures_what_was_injected_with_our_timestamps(scene: Scene) -> None:
    outbound, inbound = scene.ptpd
    assert OUTBOUND_NS <= outbound <= OUTBOUND_NS + LATE_NS
    assert INBOUND_NS <= inbound <= INBOUND_NS + LATE_NS


def test_ptp4l_measures_half_of_the_injected_round_trip_with_our_timestamps(scene: Scene) -> None:
    half = (OUTBOUND_NS + INBOUND_NS) / 2
    assert half <= scene.ptp4l_half <= half + LATE_NS


def test_our_round_trip_is_what_was_injected_with_the_timestamps_of_ptpd(scene: Scene) -> None:
    injected = OUTBOUND_NS + INBOUND_NS
    assert injected <= scene.ours("round_trip") <= injected + 2 * LATE_NS


def test_our_round_trip_agrees_with_both_daemons(scene: Scene) -> None:
    ours = scene.ours("round_trip")
    assert ours == pytest.approx(sum(scene.ptpd), abs=2 * APART_NS)
    assert ours == pytest.approx(2 * scene.ptp4l_half, abs=2 * APART_NS)


@pytest.mark.parametrize(("columns", "injected", "theirs"), [("outbound", OUTBOUND_NS, 0), ("inbound", INBOUND_NS, 1)])
def test_one_way_delays_hold_the_injected_one_and_that_of_ptpd_within_their_bound(
    scene: Scene, columns: str, injected: int, theirs: int
) -> None:
    bound = statistics.median(getattr(window, columns).clock_error_ns[0] for window in scene.windows)
    ours = scene.ours(columns)
    assert injected - bound <= ours <= injected + bound + LATE_NS
    assert ours == pytest.approx(scene.ptpd[theirs], abs=bound + APART_NS)
