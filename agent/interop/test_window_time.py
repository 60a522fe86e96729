"""Tests of the time of windows while answers of the backend are late: nothing is filed into another window."""

import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import outage
from agents import Agent, Fleet
from laboratory import Lab

# Windows are of 1 s and the bound is 50 ms, so a stop that begins and ends within a second is dated to the second.
LIMIT_NS = 50_000_000


@dataclass
class Scene:
    """A client after its way to the backend was cut, and the seconds whose requests its responder did not answer."""

    client: Agent
    began_s: int
    unanswered: range
    ended_s: int
    errors_s: list[float]


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with Lab() as lab:
        fleet = Fleet(lab)
        client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
        responder.follow([client.peer("responder")], outage.RATE_HZ)
        client.follow([responder.peer("client")], outage.RATE_HZ)
        began_s = int(time.time()) + 4
        client.await_windows(2, began_s)
        with outage.sampled(client) as errors_s:
            outage.cut_backend(client, responder)
            # The answer to the poll that was held meanwhile has arrived by now.
            time.sleep(4)
            unanswered = _stop_for_whole_seconds(responder, 3)
            time.sleep(6)
        ended_s = unanswered.stop + 4
        client.await_windows(ended_s - began_s, began_s)
        yield Scene(client, began_s, unanswered, ended_s, errors_s)


def _stop_for_whole_seconds(responder: Agent, seconds: int) -> range:
    """Stop a responder for these seconds, from shortly after a full second until shortly before one.

    Return the seconds whose requests it does not answer: those of the last second it answers by their deadline.
    """
    first = int(time.time()) + 1
    time.sleep(first + 0.1 - time.time())
    responder.process.signal(signal.SIGSTOP)
    time.sleep(first + seconds - 0.1 - time.time())
    responder.process.signal(signal.SIGCONT)
    return range(first, first + seconds - 1)


def test_every_second_has_one_window(scene: Scene) -> None:
    starts = [window.started_at_s for window in scene.client.windows(scene.began_s)]
    assert [at for at in starts if at < scene.ended_s] == list(range(scene.began_s, scene.ended_s))


def test_loss_is_dated_to_the_seconds_in_which_it_happened(scene: Scene) -> None:
    windows = [window for window in scene.client.windows(scene.began_s) if window.started_at_s < scene.ended_s]
    lossy = {window.started_at_s for window in windows if sum(window.round_trip.lost) > 1}
    assert lossy == set(scene.unanswered)


def test_the_clock_of_windows_keeps_its_bound(scene: Scene) -> None:
    assert len(scene.errors_s) > 10
    assert max(map(abs, scene.errors_s)) * 1e9 < LIMIT_NS


def test_reports_carry_the_bound(scene: Scene) -> None:
    bounds = [report.health.window_time_error_ns for report in scene.client.reports()[3:]]
    assert all(0 < bound < LIMIT_NS for bound in bounds)
