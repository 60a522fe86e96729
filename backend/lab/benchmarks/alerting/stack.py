"""Time from the end of a window to the webhook in a whole product: API, broker, workers, beat, PostgreSQL.

Agents send as real ones do: a window is sent when its last exchange is decided, and each agent waits up to a second.
The time is measured from the end of the window that made the rule fire to the arrival of the request.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from lab.benchmarks.alerting.agents import Agents
from lab.benchmarks.figures import comment
from lab.benchmarks.storing.product import Product, World, key_of, running
from lab.benchmarks.storing.programs import program
from lab.soak.fleet import WINDOW_S, Fleet
from lab.soak.senders import FaultyFleet, LiveFleet
from lab.waits import until
from sinemora.alerts.models import AlertRouting, Delivery, DeliveryState, Incident, Receiver, ReceiverKind
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import tenant_session
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.operations.embedded.story.hook import Hook
from sinemora_client.commands import Terminal

_SLOW_EACH = 4


class Listener(Hook):
    """Receiver of webhooks that stores the arrival time of each."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[tuple[float, dict[str, Any]]] = []

    def keep(self, body: bytes) -> None:
        """Store a notification."""
        self.got.append((time.time(), json.loads(body)))

    def add_as_receiver(self, session: Session) -> UUID:
        """Add it as the receiver of all incidents of a tenant, without delay. Return the id of the receiver."""
        receiver = Receiver(name="bench", kind=ReceiverKind.webhook, settings={"url": self.url})
        session.add_all([receiver, AlertRouting(id=uuid4(), tree={"root": {"receivers": ["bench"], "hold_s": 0}})])
        session.flush()
        return receiver.id

    def of(self, mesh: str, *about: str) -> list[tuple[float, dict[str, Any]]]:
        """Return the notifications about a mesh: arrival (Unix s) and body."""
        return [(at, body) for at, body in self.got if body["mesh"] == mesh and body["about"] in about]


def fire_at_once(terminal: Terminal, mesh_id: UUID, above_ms: float = 4, severity: str = "warning") -> None:
    """Give a mesh a rule that fires on one window with a slow path."""
    above = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": above_ms * 1e6}
    rule: dict[str, Any] = {"mesh_id": str(mesh_id), "name": f"Above {above_ms} ms", "condition": above}
    rule |= {"severity": severity, "windows_x": 1, "windows_y": 1, "sources_min": 1, "hold_s": 0, "keep_firing_s": 0}
    terminal.read("/v1/alert-rules", rule)


@contextmanager
def product() -> Iterator[tuple[Product, Listener]]:
    """Start a separate product and a listener of its webhooks; yield both after the first notification."""
    listener = Listener()
    with running() as stack, tempfile.TemporaryDirectory(prefix="sinemora-bench-") as folder:
        os.environ["SINEMORA_RECEIVER_NETWORKS"] = "127.0.0.0/8"
        with ExitStack() as programs:
            for name in ("watcher", "notifier", "beat"):
                programs.enter_context(program(name, Path(folder)))
            with tenant_session(stack.tenant_id) as session:
                receiver_id, due_at = listener.add_as_receiver(session), datetime.fromtimestamp(0, UTC)
                session.add(Delivery(receiver_id=receiver_id, about="test", state=DeliveryState.waiting, due_at=due_at))
            until(lambda: listener.got, "watcher, notifier and beat work", 300)
            yield stack, listener
    listener.close()


@contextmanager
def _sent(fleet: Fleet) -> Iterator[None]:
    """Let agents report while the block runs; exit unless all reports were acknowledged at once."""
    fleet.start()
    try:
        yield
    finally:
        record = fleet.stop()
    comment(f"{len(record.acknowledged)} reports, the slowest took {record.slowest_s:.2f} s")
    if record.failures:
        sys.exit(f"not measured: {len(record.failures)} attempts failed, such as {record.failures[0]}")


def seconds_to_webhook(stack: Product, listener: Listener, vms: int, windows: int, seed: int) -> list[float]:
    """Slow down four other paths in each window, one incident each. Return the seconds until each notification.

    The default rules are evaluated too; the rule that fires is a simple one of one window.
    """
    world = stack.world("latency", vms)
    with tenant_session(stack.tenant_id) as session:
        rules.create_default_rules(session, world.mesh_id)
    fire_at_once(Terminal(stack.url(""), key_of(stack.tenant_id, "write")), world.mesh_id)
    fleet = FaultyFleet(stack.port, world)
    start_s = (int(time.time()) // WINDOW_S + 3) * WINDOW_S
    order = [fleet.pairs[at] for at in np.random.default_rng(seed).permutation(len(fleet.pairs))]
    for window in range(windows):
        chosen: dict[int, int] = {}
        while len(chosen) < _SLOW_EACH:
            vm, target = order.pop()
            if not {vm, target} & {*chosen, *chosen.values()}:
                chosen[vm] = target
                fleet.slow_down(vm, target, start_s + window * WINDOW_S, 1)
    expected, deadline = windows * _SLOW_EACH, start_s + (windows + 1) * WINDOW_S + 120
    with _sent(fleet):
        while len(listener.of("latency", "opened")) < expected and time.time() < deadline:
            time.sleep(1)
    incidents = listener.of("latency", "opened")
    if len(incidents) != expected:
        titles = [body["title"] for _, body in incidents]
        sys.exit(f"{expected} notifications expected, {len(incidents)} received: {titles}")
    return [at - _unix(body["opened_at"]) for at, body in incidents]


class _Failing(LiveFleet):
    """Live agents, some of which are gone from a window on; each repeats one window before and one after."""

    def __init__(self, port: int, world: World, dead: np.ndarray, seed: int) -> None:
        self._dead, self._seed, self.fails_at_s = dead, seed, 0
        super().__init__(port, world)

    def _reports(self) -> list[list[Report]]:
        agents = Agents(self._world, self._seed)
        return [[agents.quiet(vm), agents.deaf(vm, self._dead)] for vm in range(self._dead.size)]

    def _message(self, number: int, count: int) -> Report | None:
        has_failed = self._start(count) >= self.fails_at_s
        return None if has_failed and self._dead[number] else self._messages[number][has_failed]


def storm(stack: Product, listener: Listener, vms: int, seed: int) -> tuple[list[float], int, int]:
    """Let one zone of three fail, and wait for some more windows, to detect a second notification.

    Return for each notification the seconds since the end of the window in which rules fired; then the numbers of
    affected paths and of incidents.
    """
    world = stack.world("storm", vms, zones=3)
    dead = np.arange(vms) % 3 == 1
    before, after = 3, 10
    fleet = _Failing(stack.port, world, dead, seed)
    fleet.fails_at_s = start_s = (int(time.time()) // WINDOW_S + before) * WINDOW_S
    with _sent(fleet):
        time.sleep(max(0.0, start_s + (after + 1) * WINDOW_S - time.time()))
    notified = listener.of("storm", "opened", "repeated")
    comment(f"notifications: {[body['title'] for _, body in notified]}")
    with tenant_session(stack.tenant_id) as session:
        incidents = session.scalar(select(func.count()).where(Incident.mesh_id == world.mesh_id))
    paths = max((body["paths"] for _, body in notified), default=0)
    return [at - _unix(body["opened_at"]) for at, body in notified], paths, incidents or 0


def _unix(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
