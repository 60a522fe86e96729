"""Measurements on demand of two agents: every exchange of a minute at 128/s has the delay that a delaybox injected.

The same box loses one packet in fifty, so each direction's losses are counted, too.
"""

import statistics
import time
from collections.abc import Iterator

import pytest

from on_demand import Second, measure, seconds_of, through_box

OUTBOUND_NS, INBOUND_NS = 1_900_000, 400_000
SECONDS, RATE_HZ = 20, 128
# Latest release of a packet by the box, medians, on a machine that runs other tests.
LATE_NS = 150_000


@pytest.fixture(scope="module")
def seconds() -> Iterator[list[Second]]:
    settings = [f"--outbound=delay={OUTBOUND_NS // 1000}us loss=2%", f"--inbound=delay={INBOUND_NS // 1000}us"]
    with through_box(settings) as ends:
        measure(ends, SECONDS, rate_hz=RATE_HZ)
        time.sleep(2)
        yield seconds_of(ends[0])


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
