"""The bulk sender of two agents across a real token bucket of Linux (`tc tbf`): times, the port, an early end.

The bucket shapes what the sender's VM sends, so the least time of a transfer follows from its rate and depth.
"""

import errno
import json
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from lab.benchmarks.agent_process import command_of

from agents import TRANSFER, Agent, Fleet, fleet_in_lab
from laboratory import Host, wait_until

RATE, DEPTH = 5_000_000, 200_000
"""Of the bucket, bytes/s and bytes."""
PORT = 8422
MIB = 1 << 20


@dataclass
class Scene:
    """Two agents behind one bucket, which measure each other."""

    fleet: Fleet
    hosts: tuple[Host, Host]
    agents: tuple[Agent, Agent]

    def ordered(self, *steps: dict[str, Any], seconds: float = 30) -> str:
        """Put an order in force at both agents; return its id. Steps are of the first agent as sender."""
        id, secret, starts_s = f"order-{time.time_ns()}", secrets.token_hex(32), time.time() + 2
        common = {
            **{"id": id, "secret": secret, "starts_at_ns": round(starts_s * 1e9)},
            **{"ends_at_ns": round((starts_s + seconds) * 1e9)},
        }
        for at, (agent, other) in enumerate((self.agents, self.agents[::-1])):
            role = ("sender", "receiver")[at]
            parts = [
                {"index": n, "phase": n, "port": PORT, "role": role, "address": other.host.address, "connections": 1}
                | step
                for n, step in enumerate(steps)
            ]
            self.follow(agent, other, bulk=[common | {"steps": parts}])
        return id

    def follow(self, agent: Agent, other: Agent, **more: Any) -> None:
        role = "client" if agent is self.agents[0] else "responder"
        agent.follow([other.peer(role)], 8, **more)

    def result(self, id: str, within_s: float = 40) -> dict[str, Any]:
        """Wait until the sender has no more to report on an order; return its last report."""

        def is_over() -> bool:
            report = self.newest(id)
            if report is None:
                return False
            ended = all(one["elapsed_us"] or one["error"] for one in report["steps"])
            return ended or report["error"] is not None

        wait_until("the end of the order", is_over, within_s)
        report = self.newest(id)
        assert report is not None
        return report

    def newest(self, id: str) -> dict[str, Any] | None:
        """Return the sender's last report on an order, if there is one."""
        paths = self.fleet.folder.glob(f"{self.agents[0].key}-*.bulk")
        ordered = sorted(paths, key=lambda path: int(path.stem.split("-")[1]))
        reports = [json.loads(path.read_bytes()) for path in ordered]
        return next((one for one in reversed(reports) if one["order_id"] == id), None)


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with fleet_in_lab() as (lab, fleet):
        hosts = lab.host("sender"), lab.host("receiver")
        limits = {"bulk_sender": "true", "bulk_max_size": "64MiB", "bulk_max_mbit": "400", "bulk_max_s": "60"}
        agents = fleet.agent(hosts[0]), fleet.agent(hosts[1])
        for agent in agents:
            settings = {"backend": fleet.backend, "state_dir": str(lab.folder / f"state-{agent.key}"), **limits}
            command = command_of(TRANSFER, listen_address=agent.address, **settings)
            agent.host.start(command, "transfer").require("the start of transfers", "starting")
        bucket = ("rate", f"{8 * RATE}bit", "burst", str(DEPTH), "latency", "50ms")
        hosts[0].run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", *bucket)
        yield Scene(fleet, hosts, agents)


def test_transfer_times_are_those_of_the_bucket(scene: Scene) -> None:
    """One and four connections take as long: the bucket shares its rate among them."""
    report = scene.result(scene.ordered({"bytes": 8 * MIB}, {"bytes": 8 * MIB, "connections": 4}))
    assert report["error"] is None
    least_s = (8 * MIB - DEPTH) / RATE
    for step in report["steps"]:
        assert step["error"] is None
        assert sum(one["bytes"] for one in step["connections"]) == 8 * MIB
        # Headers take part of the rate; retransmissions and slow start some more.
        assert least_s < step["elapsed_us"] / 1e6 < 1.5 * least_s
    first, second = report["steps"]
    assert second["started_at_ns"] >= first["started_at_ns"] + 1000 * first["elapsed_us"]


def test_the_port_is_closed_after_an_order(scene: Scene) -> None:
    assert scene.result(scene.ordered({"bytes": MIB}))["steps"][0]["elapsed_us"] > 0
    for agent, other in (scene.agents, scene.agents[::-1]):
        scene.follow(agent, other)
    connect = f"import socket; print(socket.socket().connect_ex(({scene.hosts[1].address!r}, {PORT})))"

    def is_closed() -> bool:
        return int(scene.hosts[0].run(sys.executable, "-c", connect)) == errno.ECONNREFUSED

    wait_until("the port to close", is_closed, 10)


def test_an_order_that_leaves_the_plan_ends_at_once(scene: Scene) -> None:
    id = scene.ordered({"bytes": 16 * MIB, "rate_bytes_per_s": RATE // 10})

    def sent() -> int:
        text = scene.hosts[0].run("tc", "-s", "-j", "qdisc", "show", "dev", "e0")
        return int(json.loads(text)[0]["bytes"])

    before = sent()
    wait_until("the transfer to run", lambda: sent() - before > RATE // 4, 20)
    for agent, other in (scene.agents, scene.agents[::-1]):
        scene.follow(agent, other)
    time.sleep(2.5)
    quiet = sent()
    time.sleep(2)
    assert sent() - quiet < RATE // 50
    report = scene.newest(id)
    assert report is not None
    assert report["steps"][0]["elapsed_us"] == 0


def test_the_measurement_goes_on_meanwhile(scene: Scene) -> None:
    since_s = time.time() + 1
    id = scene.ordered({"bytes": 12 * MIB, "connections": 4})
    windows = scene.agents[0].await_windows(6, since_s)
    scene.result(id)
    assert all(sum(window.round_trip.count) > 0 for window in windows)
