"""Tests of a host that changes under a running agent: each time it is measured again without help."""

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest

from agents import Agent, fleet_in_lab, peer
from laboratory import Host, wait_until

RATE_HZ = 16
# Two windows of the default length.
WITHIN_S = 20
MOVED = "10.77.200.9"


@dataclass
class Pair:
    """A client that measures a responder; its address is set, or the one that reaches the backend."""

    client: Agent
    responder: Agent

    @property
    def host(self) -> Host:
        """The client's host."""
        return self.client.host

    def await_measured_again(self, since_s: float) -> None:
        """Wait for two windows with nearly all exchanges."""

        def measured() -> bool:
            windows = self.client.windows(since_s)
            return sum(window.round_trip.count[0] >= RATE_HZ - 1 for window in windows) >= 2

        wait_until("windows after the change", measured, WITHIN_S)
        assert self.client.process.running

    def windows_of_time(self) -> list[int]:
        """Return the starts of all windows so far; no moment has two."""
        starts = [window.started_at_s for window in self.client.windows()]
        assert all(earlier < later for earlier, later in pairwise(starts)), starts
        return starts


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    is_set = getattr(request, "param", True)
    with fleet_in_lab() as (lab, fleet):
        host = lab.host("client")
        address = host.address if is_set else ""
        made = Pair(fleet.agent(host, listen_address=address), fleet.agent(lab.host("responder")))
        made.client.measure(made.responder, RATE_HZ)
        made.client.await_windows(2, time.time() + 1)
        yield made


def test_a_client_with_a_new_address_measures_again_within_two_windows() -> None:
    with fleet_in_lab() as (lab, fleet):
        host = lab.host("client")
        client, responder = fleet.agent(host, listen_address=""), fleet.agent(lab.host("responder"))
        client.measure(responder, RATE_HZ)
        client.await_windows(2, time.time() + 1)
        host.run("ip", "address", "del", f"{host.address}/16", "dev", "e0")
        host.run("ip", "address", "add", f"{MOVED}/16", "dev", "e0")
        changed_s = time.time()
        # The backend plans the new address once the agent has reported it.
        responder.follow([peer(client.key, MOVED, "responder")], RATE_HZ)
        Pair(client, responder).await_measured_again(changed_s)
        assert "has lost its address" in client.process.output()


def _move_to_another_device(host: Host) -> None:
    host.run("ip", "address", "del", f"{host.address}/16", "dev", "e0")
    host.run("ip", "link", "set", "e0", "down")
    host.plug("e1")


def _replace_device(host: Host) -> None:
    host.unplug()
    time.sleep(6)
    host.plug()


def _lose_lease_for_a_moment(host: Host) -> None:
    lease = ("ip", "address", "change", f"{host.address}/16", "dev", "e0")
    host.run(*lease, "valid_lft", "2", "preferred_lft", "2")
    wait_until("the end of the lease", lambda: host.address not in host.run("ip", "address", "show", "e0"), 10)
    time.sleep(1)
    host.run("ip", "address", "add", f"{host.address}/16", "dev", "e0")


@pytest.mark.parametrize("pair", [False, True], indirect=True, ids=["address-found", "address-set"])
@pytest.mark.parametrize("change", [_move_to_another_device, _replace_device, _lose_lease_for_a_moment])
def test_measures_again_after_the_address_was_away(pair: Pair, change: Callable[[Host], None]) -> None:
    change(pair.host)
    changed_s = time.time()
    pair.await_measured_again(changed_s)
    pair.windows_of_time()


def test_a_renewed_lease_costs_nothing(pair: Pair) -> None:
    since_s = time.time()
    for valid_s in (5, 60, 600):
        lease = ("ip", "address", "change", f"{pair.host.address}/16", "dev", "e0")
        pair.host.run(*lease, "valid_lft", str(valid_s), "preferred_lft", str(valid_s))
        time.sleep(2)
    windows = pair.client.await_windows(4, since_s)
    assert [window.round_trip.lost[0] for window in windows] == [0] * 4
    assert "has lost its address" not in pair.client.process.output()


def test_a_container_that_is_killed_and_started_elsewhere_loses_and_repeats_no_report(pair: Pair) -> None:
    pair.client.process.signal(signal.SIGKILL)
    wait_until("the end of the process", lambda: not pair.client.process.running)
    # A container starts with another network card at the same address.
    pair.host.unplug()
    pair.host.plug()
    started_s = time.time()
    pair.client.restart()
    pair.await_measured_again(started_s)
    pair.windows_of_time()
    sequences = [report.sequence for report in pair.client.reports()]
    assert sequences == sorted(set(sequences))
    # The responder knew another process at this address: requests of the new one are no loss.
    windows = pair.client.windows(started_s)
    assert sum(window.round_trip.lost[0] for window in windows[1:]) == 0
