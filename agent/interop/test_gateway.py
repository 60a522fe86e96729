"""Agents report through an ingest gateway while the backend is away and the gateway is killed."""

import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import outage
from agents import Agent, Fleet, fleet_in_lab, get_metrics
from laboratory import wait_until

RATE_HZ = 8
# Windows are of 1 s; an answer that is late by less than this bounds the clock to less.
LIMIT_NS = 50_000_000
AWAY_S = 6
PORT = 8430


class Gateway:
    """A gateway that queues reports, in front of the server of a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self._lab = fleet.lab
        self._address = f"{self._lab.gateway}:{PORT}"
        self.url = f"http://{self._address}"
        backend = f"http://{self._lab.gateway}:8420"
        self._command = [
            *(sys.executable, "-m", "sinemora.cli", "gateway", "--listen", self._address, "--backend", backend),
            *("--directory", self._lab.folder / "gateway", "--acknowledge", "queued", "--insecure-http"),
        ]
        self.start()

    def start(self) -> None:
        """Start it, again after its process has ended, with the folder that it left."""
        env = {"SINEMORA_METRICS_NETWORKS": "10.0.0.0/8", "NO_PROXY": "*"}
        self.process = self._lab.start(self._command, "gateway", env)
        self.process.require("the gateway", "gateway started")
        wait_until("its answer", self._answers)

    def queued(self) -> int:
        """Return the number of queued reports."""
        text = self._lab.run(*get_metrics(self._lab.gateway, PORT))
        found = re.search(r"^sinemora_gateway_queue_reports (\S+)", text, re.MULTILINE)
        assert found is not None
        return int(float(found[1]))

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.process.signal(signal.SIGKILL)
        wait_until("its end", lambda: not self.process.running)

    def _answers(self) -> bool:
        try:
            return self.queued() >= 0
        except Exception:
            return False


@dataclass
class Scene:
    """A client behind a gateway, seconds (Unix) before and after the outage, and samples of its clock's error, s."""

    client: Agent
    gateway: Gateway
    began_s: int
    ended_s: int
    errors_s: list[float]


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with fleet_in_lab() as (lab, fleet):
        gateway = Gateway(fleet)
        client = fleet.agent(lab.host("client"), backend=gateway.url)
        responder = fleet.agent(lab.host("responder"), backend=gateway.url)
        client.measure(responder, RATE_HZ)
        began_s = int(time.time()) + 3
        client.await_windows(2, began_s)
        with outage.sampled(client) as errors_s:
            fleet.server.stop()
            time.sleep(AWAY_S / 2)
            wait_until("reports in the queue", lambda: gateway.queued() >= 2)
            before = gateway.queued()
            gateway.kill()
            gateway.start()
            assert gateway.queued() >= before
            time.sleep(AWAY_S / 2)
            wait_until("further reports in the queue", lambda: gateway.queued() > before)
            fleet.start_server()
            ended_s = int(time.time()) + 2
            client.await_windows(ended_s - began_s, began_s)
        wait_until("an empty queue", lambda: gateway.queued() == 0)
        yield Scene(client, gateway, began_s, ended_s, errors_s)


def test_every_second_has_one_window(scene: Scene) -> None:
    starts = [window.started_at_s for window in scene.client.windows(scene.began_s)]
    assert [at for at in starts if at < scene.ended_s] == list(range(scene.began_s, scene.ended_s))


def test_nothing_was_refused_or_dropped(scene: Scene) -> None:
    sequences = [report.sequence for report in scene.client.reports()]
    assert sequences == list(range(sequences[0], sequences[-1] + 1))
    assert not list((scene.client.fleet.lab.folder / "gateway" / "refused").iterdir())
    metrics = scene.client.metrics()
    assert metrics["sinemora_agent_reports_dropped_total"] == metrics["sinemora_agent_reports_refused_total"] == 0


def test_the_clock_of_windows_keeps_its_bound_through_the_gateway(scene: Scene) -> None:
    assert len(scene.errors_s) > 10
    assert max(map(abs, scene.errors_s)) * 1e9 < LIMIT_NS
    bounds = [report.health.window_time_error_ns for report in scene.client.reports()[3:]]
    assert all(0 < bound < LIMIT_NS for bound in bounds)


def test_the_agent_shows_that_its_reports_are_queued(scene: Scene) -> None:
    assert "once they are queued on its disk" in scene.client.process.output()
    assert scene.client.metrics()["sinemora_agent_reports_queued_total"] > 0
