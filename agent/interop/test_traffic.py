"""Counters of an agent whose VM is shaped by a real token bucket of Linux (`tc tbf`), and the forecast from them.

The VM sends at twice the bucket's rate. The truth of its bytes is what the queueing discipline counted; the truth of
the time at which the bucket is empty is when the first packets wait in it.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sinemora.measurements.ingest.agent_pb2 import TrafficWindow
from sinemora.measurements.token_buckets.tokens import Bucket, Tracker, Use

from agents import Agent, fleet_in_lab
from laboratory import Host, wait_until

RATE, DEPTH = 250_000.0, 10_000_000.0
"""Of the bucket, bytes/s and bytes: at twice the rate it is empty after 40 s."""
SEND = 2 * RATE
PAYLOAD = 1_400
WINDOW_S = 10

# Sends a few packets at a time, to nobody: the bridge drops them.
SENDER = """
import socket, sys, time
address, rate, payload = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setblocking(False)
began, sent = time.monotonic(), 0
while True:
    due = int((time.monotonic() - began) * rate / (payload + 42))
    while sent < due:
        try:
            out.sendto(bytes(payload), (address, 9))
        except OSError:
            pass  # the queue of the shaper is full
        sent += 1
    time.sleep(0.01)
"""


@dataclass
class Scene:
    """Windows of the VM, the counter of its shaper at the end of each (Unix s), and when packets first waited.

    `late_s`: time from the reading of the counter to the end of the window.
    """

    windows: list[TrafficWindow]
    passed_at: dict[int, int]
    late_s: dict[int, float]
    began_s: float
    first_wait_s: float


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with fleet_in_lab() as (lab, fleet):
        host = lab.host("shaped")
        agent = fleet.agent(host)
        wait_until("a window before the sender starts", lambda: _windows(agent), 45)
        limit = str(200 * (PAYLOAD + 42))
        bucket = ("rate", f"{round(8 * RATE)}bit", "burst", str(round(DEPTH)), "limit", limit)
        host.run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", *bucket)
        began_s = time.time()
        host.start([sys.executable, "-c", SENDER, lab.gateway, str(SEND), str(PAYLOAD)], "sender")
        passed_at: dict[int, int] = {}
        late_s: dict[int, float] = {}
        first_wait_s = 0.0
        while time.time() < began_s + 66:
            time.sleep(0.1)
            at_s, counted = time.time(), _shaper(host)
            if not first_wait_s and counted["backlog"] > 0:
                first_wait_s = at_s
            # The newest reading shortly before the end of each window.
            end_s = int(at_s) // WINDOW_S * WINDOW_S + WINDOW_S
            passed_at[end_s], late_s[end_s] = counted["bytes"], end_s - at_s
        del passed_at[max(passed_at)]  # its window goes on
        last_s = int(time.time()) // WINDOW_S * WINDOW_S
        wait_until("the last window", lambda: _windows(agent)[-1].started_at_s + WINDOW_S >= last_s, 45)
        yield Scene(_windows(agent), passed_at, late_s, began_s, first_wait_s)


def _windows(agent: Agent) -> list[TrafficWindow]:
    return [window for report in agent.reports() for window in report.traffic]


def _shaper(host: Host) -> dict[str, int]:
    found: dict[str, int] = json.loads(host.run("tc", "-s", "-j", "qdisc", "show", "dev", "e0"))[0]
    return found


def test_windows_follow_one_another_and_name_the_interface(scene: Scene) -> None:
    starts = [window.started_at_s for window in scene.windows]
    assert starts == list(range(starts[0], starts[0] + WINDOW_S * len(starts), WINDOW_S))
    assert {window.interface for window in scene.windows} == {"e0"}
    for window in scene.windows:
        assert abs(window.elapsed_ns / 1e9 - WINDOW_S) < 1


def test_the_bytes_are_those_that_passed_the_shaper(scene: Scene) -> None:
    within = [one for one in scene.windows if one.started_at_s in scene.passed_at and one.started_at_s > scene.began_s]
    within = [one for one in within if one.started_at_s + WINDOW_S in scene.passed_at]
    assert len(within) >= 4
    for window in within:
        end_s = window.started_at_s + WINDOW_S
        passed = scene.passed_at[end_s] - scene.passed_at[window.started_at_s]
        # The two are read up to a tenth of a second apart, at both ends, and later where the machine was busy.
        apart_s = 0.2 + scene.late_s[end_s] + scene.late_s[window.started_at_s]
        assert window.bytes_sent == pytest.approx(passed, abs=apart_s * SEND)
        assert window.packets_sent > 0.9 * window.bytes_sent / (PAYLOAD + 42)
    total = scene.passed_at[within[-1].started_at_s + WINDOW_S] - scene.passed_at[within[0].started_at_s]
    assert sum(one.bytes_sent for one in within) == pytest.approx(total, rel=0.01)


def test_the_forecast_is_the_time_at_which_packets_wait(scene: Scene) -> None:
    """From each window that the sender filled while the bucket had tokens: at most 10 % off."""
    tracker = Tracker(Bucket(RATE, DEPTH))  # new, so it is full before the sender starts
    empty_at_s = []
    for window in scene.windows:
        tracker.add(Use(window.started_at_s, window.elapsed_ns / 1e9, window.bytes_sent))
        forecast = tracker.forecast()
        assert forecast is not None
        if scene.began_s + WINDOW_S < forecast.at_s < scene.first_wait_s - 2 and forecast.use > 0.97 * SEND:
            assert forecast.empty_in_s is not None
            empty_at_s.append(forecast.at_s + forecast.empty_in_s)
    left_s = DEPTH / (SEND - RATE)
    assert scene.first_wait_s - scene.began_s == pytest.approx(left_s, rel=0.1)
    assert empty_at_s
    assert empty_at_s == pytest.approx([scene.first_wait_s] * len(empty_at_s), abs=0.1 * left_s)
    assert (forecast.level, forecast.empty_in_s) == ("empty", 0)
    assert forecast.use == pytest.approx(RATE, rel=0.02)
