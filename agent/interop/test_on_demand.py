"""Measurements on demand of two agents: every exchange of a minute at 128/s has the delay that a delaybox injected.

The same box loses one packet in fifty, so each direction's losses are counted, too.
"""

import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import pytest

import boxes
from agents import Fleet, peer
from laboratory import Lab, wait_until

OUTBOUND_NS, INBOUND_NS = 1_900_000, 400_000
SECONDS, RATE_HZ, KEY = 20, 128, 77
# Latest release of a packet by the box, medians, on a machine that runs other tests.
LATE_NS = 150_000
Second = dict[str, Any]


@pytest.fixture(scope="module")
def seconds() -> Iterator[list[Second]]:
    settings = [f"--outbound=delay={OUTBOUND_NS // 1000}us loss=2%", f"--inbound=delay={INBOUND_NS // 1000}us"]
    with Lab() as lab:
        fleet = Fleet(lab)
        hosts = lab.host("client"), lab.host("responder")
        path = boxes.join(lab, *hosts, settings)
        client = fleet.agent(hosts[0], listen_address=path.addresses[0])
        responder = fleet.agent(hosts[1], listen_address=path.addresses[1])
        starts_s = int(time.time()) + 4
        ends_s = starts_s + SECONDS
        common = {"id": "o", "key": KEY, "rate_hz": RATE_HZ, "loss_deadline_ms": 1000}
        common |= {"starts_at_ns": starts_s * 10**9, "ends_at_ns": ends_s * 10**9}
        for agent, other, address, role in (
            (responder, client, path.addresses[0], "responder"),
            (client, responder, path.addresses[1], "client"),
        ):
            on_demand = [common | {"peer": peer(other.key, address, role)}]
            agent.follow([], 1, on_demand=on_demand)
        files = fleet.folder.glob
        name = f"{client.key}-{KEY}-*.second"
        wait_until("the last second", lambda: len(list(files(name))) >= SECONDS, SECONDS + 15)
        time.sleep(2)
        yield sorted((json.loads(path.read_text("utf-8")) for path in files(name)), key=lambda one: one["started_at_s"])


def test_there_is_one_window_for_each_second_and_none_after_the_end(seconds: list[Second]) -> None:
    first = seconds[0]["started_at_s"]
    assert [second["started_at_s"] for second in seconds] == list(range(first, first + SECONDS))


def test_every_exchange_has_the_delay_of_the_box(seconds: list[Second]) -> None:
    sent = sum(len(second["at_ns"]) for second in seconds)
    # A stalled machine leaves requests out.
    assert 0.9 * SECONDS * RATE_HZ <= sent <= SECONDS * RATE_HZ + 2
    trips = [
        out + back
        for second in seconds
        for out, back in zip(second["outbound_ns"], second["inbound_ns"], strict=True)
        if out is not None and back is not None
    ]
    # No packet passes the box sooner than it says.
    assert min(trips) >= OUTBOUND_NS + INBOUND_NS
    # A busy machine's box is late with many, never with nearly all.
    assert statistics.quantiles(trips, n=10)[0] <= OUTBOUND_NS + INBOUND_NS + 2 * LATE_NS
    assert len(trips) >= 0.95 * sent


def test_each_direction_is_within_the_stated_bound(seconds: list[Second]) -> None:
    for second in seconds[2:]:
        # The sum of both directions has no error of clocks in it: it tells how late a busy machine's box was.
        late_ns = max(0, _median(second, "outbound_ns") + _median(second, "inbound_ns") - OUTBOUND_NS - INBOUND_NS)
        for name, true_ns in (("outbound_ns", OUTBOUND_NS), ("inbound_ns", INBOUND_NS)):
            assert abs(_median(second, name) - true_ns) <= second["clock_error_ns"] + late_ns + LATE_NS


def _median(second: Second, direction: str) -> float:
    return statistics.median(delay for delay in second[direction] if delay is not None)


def test_losses_are_those_of_the_direction_that_loses(seconds: list[Second]) -> None:
    sent = sum(len(second["at_ns"]) for second in seconds)
    lost = sum(second["outbound_lost"].count(True) for second in seconds)
    assert 0.008 <= lost / sent <= 0.035, f"{lost} of {sent}"
    assert sum(second["inbound_lost"].count(True) for second in seconds) == 0
