"""Time from the end of a window to the webhook in a whole product: API, broker, workers, beat, PostgreSQL.

Agents send as real ones do: a window is sent when its last exchange is decided, and each agent waits up to a second.
The time is measured from the end of the window that made the rule fire to the arrival of the request.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import text

from lab.benchmarks.alerting.load import Timed, TimedLoad
from lab.benchmarks.figures import comment
from lab.benchmarks.storing.product import Product, World, key_of, running
from lab.benchmarks.storing.programs import program
from lab.benchmarks.storing.worlds import frame_of, peers, report, request_at
from sinemora.alerts.models import AlertRouting, Delivery, DeliveryState, Receiver, ReceiverKind
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import system_session, tenant_session
from sinemora.measurements.codec import frame
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.operations.embedded.story.hook import Hook
from sinemora_client.commands import Terminal

WINDOW_S, SAMPLES = 10, 10
# The deadline of an exchange and the tick that settles it, before a report can leave; then a phase of up to a second.
DECIDED_S, PHASE_S = 1.2, 1.0
SLOW_NS = 8_000_000
_SLOW_EACH = 4


class Listener(Hook):
    """Receiver of webhooks that stores the arrival time of each."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[tuple[float, dict[str, Any]]] = []

    def keep(self, body: bytes) -> None:
        """Store a notification."""
        self.got.append((time.time(), json.loads(body)))

    def of(self, mesh: str, *about: str) -> list[tuple[float, dict[str, Any]]]:
        """Return the notifications about a mesh: arrival (Unix s) and body."""
        return [(at, body) for at, body in self.got if body["mesh"] == mesh and body["about"] in about]


@contextmanager
def product() -> Iterator[tuple[Product, Listener]]:
    """Start a separate product and a listener of its webhooks; yield both after the first notification."""
    listener = Listener()
    with running() as stack, tempfile.TemporaryDirectory(prefix="sinemora-bench-") as folder:
        os.environ["SINEMORA_RECEIVER_NETWORKS"] = "127.0.0.0/8"
        with ExitStack() as programs:
            names = ("watcher", "notifier", "beat")
            started = [programs.enter_context(program(name, Path(folder))) for name in names]
            with tenant_session(stack.tenant_id) as session:
                receiver = Receiver(name="bench", kind=ReceiverKind.webhook, settings={"url": listener.url})
                routing = AlertRouting(id=uuid4(), tree={"root": {"receivers": ["bench"], "hold_s": 0}})
                session.add_all([receiver, routing])
                session.flush()
                due_at = datetime.fromtimestamp(0, UTC)
                session.add(Delivery(receiver_id=receiver.id, about="test", state=DeliveryState.waiting, due_at=due_at))
            _wait(listener, started)
            yield stack, listener
    listener.close()


class Agents:
    """Measurements of the agents of a mesh: quiet, except for changes that the caller makes."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = np.random.default_rng(seed)
        self.base = self.rng.uniform(5e4, 5e5, (len(world.vm_keys),) * 2)
        self.phase = DECIDED_S + PHASE_S * self.rng.random(len(world.vm_keys))
        self._at = {key: at for at, key in enumerate(world.vm_keys)}
        self.targets = [
            np.array([self._at[key] for key in peers(world.vm_keys, at)]) for at in range(len(world.vm_keys))
        ]

    def quiet(self, vm: int) -> Report:
        """Return a window of one agent."""
        return self._report(vm, self._delays(vm))

    def slow(self, vm: int, target: int) -> Report:
        """Return a window in which the path from one agent to a peer is slow."""
        delays = self._delays(vm)
        delays[0, self.targets[vm] == target] += SLOW_NS
        return self._report(vm, delays)

    def deaf(self, vm: int, dead: np.ndarray) -> Report:
        """Return a window in which some peers did not respond."""
        return self._report(vm, self._delays(vm), dead[self.targets[vm]])

    def request(self, vm: int, message: Report, started_at_s: int) -> Timed:
        """Return the sending time of a report, and its bytes."""
        request = request_at(self.world.credentials[vm], message, started_at_s)
        return started_at_s + WINDOW_S + float(self.phase[vm]), request

    def _delays(self, vm: int) -> np.ndarray:
        targets = self.targets[vm]
        base = np.stack((self.base[vm, targets], self.base[targets, vm]))[..., None]
        noise = 1 + 0.01 * self.rng.standard_normal((*base.shape[:2], SAMPLES))
        return (base * noise).astype(np.int64)

    def _report(self, vm: int, delays: np.ndarray, dead: np.ndarray | None = None) -> Report:
        whole = frame_of(self.world.vm_keys[vm], [self.world.vm_keys[at] for at in self.targets[vm]], delays)
        message = report(whole, self.world.mesh_key)
        if dead is not None and dead.any():
            message = report(_unanswered(whole, dead), self.world.mesh_key)
        return message


def _unanswered(whole: frame.Frame, dead: np.ndarray) -> frame.Frame:
    """Return the frame without responses of these peers: it counts the requests sent, and all as lost."""
    columns, lengths = whole.stats.columns.copy(), whole.sketches.lengths.copy()
    kept = np.repeat(np.tile(~dead, 3), lengths.reshape(-1))
    columns[:, :, dead] = 0
    columns[frame.SENT][:, dead] = columns[frame.LOST][:, dead] = SAMPLES
    columns[frame.SENT, frame.INBOUND, dead] = columns[frame.LOST, frame.INBOUND, dead] = -1
    lengths[:, dead] = 0
    sketches = frame.Sketches(lengths, whole.sketches.words[kept])
    stats = frame.Stats(
        columns,
        frame.quantile_codes(sketches),
        whole.stats.flows,
        whole.stats.asymmetry_source,
        np.empty((3, 2, 0), np.int32),
    )
    return frame.Frame(whole.vm_key, whole.targets, stats, sketches)


def first_window(count: int, build: Callable[[], object]) -> int:
    """Return the start of the first window for which this number of reports can be ready in time."""
    build()
    began = time.monotonic()
    for _ in range(5):
        build()
    return math.ceil((time.time() + 15 + 2 * count * (time.monotonic() - began) / 5) / WINDOW_S) * WINDOW_S


@contextmanager
def sent(stack: Product, requests: list[Timed], start_s: int) -> Iterator[None]:
    """Send reports while the block runs; exit unless all were acknowledged in time."""
    load = TimedLoad(stack.port, requests)
    late_s = time.time() - start_s - WINDOW_S
    try:
        yield
    finally:
        outcome = load.stop()
    comment(str(outcome))
    if late_s > 0 or outcome.refused:
        sys.exit(f"not measured: reports were ready {late_s:.1f} s after they were due, {outcome.refused} refused")


def forget(mesh_id: UUID) -> None:
    """Delete a mesh, so that nothing waits for its agents."""
    with system_session() as session:
        session.execute(text("DELETE FROM meshes WHERE id = :id"), {"id": mesh_id})


def seconds_to_webhook(stack: Product, listener: Listener, vms: int, windows: int, seed: int) -> list[float]:
    """Slow down four other paths in each window, one incident each. Return the seconds until each notification.

    The default rules are evaluated too; the rule that fires is a simple one of one window.
    """
    world = stack.world("latency", vms)
    with tenant_session(stack.tenant_id) as session:
        rules.create_default_rules(session, world.mesh_id)
    above = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 4e6}
    rule: dict[str, Any] = {"mesh_id": str(world.mesh_id), "name": "Above four milliseconds", "condition": above}
    rule |= {"severity": "warning", "windows_x": 1, "windows_y": 1, "sources_min": 1, "hold_s": 0, "keep_firing_s": 0}
    Terminal(stack.url(""), key_of(stack.tenant_id, "write")).read("/v1/alert-rules", rule)
    agents = Agents(world, seed)
    start_s = first_window(vms * (windows + 3), lambda: agents.request(0, agents.quiet(0), 0))
    pairs = {(vm, int(target)) for vm in range(vms) for target in agents.targets[vm]}
    order = [sorted(pairs)[at] for at in np.random.default_rng(seed).permutation(len(pairs))]
    requests, expected = [], 0
    for window in range(windows + 3):
        chosen: dict[int, int] = {}
        while window >= 3 and len(chosen) < _SLOW_EACH:
            vm, target = order.pop()
            if not {vm, target} & {*chosen, *chosen.values()}:
                chosen[vm] = target
        expected += len(chosen)
        for vm in range(vms):
            message = agents.slow(vm, chosen[vm]) if vm in chosen else agents.quiet(vm)
            requests.append(agents.request(vm, message, start_s + window * WINDOW_S))
    deadline = start_s + (windows + 4) * WINDOW_S + 120
    with sent(stack, requests, start_s):
        while len(listener.of("latency", "opened")) < expected and time.time() < deadline:
            time.sleep(1)
    incidents = listener.of("latency", "opened")
    comment(f"{len(incidents)} of {expected} notified")
    forget(world.mesh_id)
    if len(incidents) != expected:
        sys.exit(
            f"{expected} notifications expected, {len(incidents)} received: {[body['title'] for _, body in incidents]}"
        )
    return [at - _unix(body["opened_at"]) for at, body in incidents]


def storm(stack: Product, listener: Listener, vms: int, seed: int) -> tuple[list[float], int]:
    """Let one zone of three fail. Return for each notification the seconds since the end of the window in which rules
    fired, and the number of affected paths. Wait for some more windows, to detect a second notification.
    """
    world = stack.world("storm", vms, zones=3)
    dead = np.arange(vms) % 3 == 1
    alive, before, after = np.flatnonzero(~dead), 3, 7
    agents = Agents(world, seed)
    start_s = first_window(before * vms + after * alive.size, lambda: agents.request(0, agents.deaf(0, dead), 0))
    requests = []
    for vm in range(vms):
        quiet = agents.quiet(vm)
        requests += [agents.request(vm, quiet, start_s + window * WINDOW_S) for window in range(before)]
        if not dead[vm]:
            deaf = agents.deaf(vm, dead)
            requests += [
                agents.request(vm, deaf, start_s + window * WINDOW_S) for window in range(before, before + after)
            ]
    with sent(stack, requests, start_s):
        time.sleep(max(0.0, start_s + (before + after + 1) * WINDOW_S - time.time()))
    incidents = listener.of("storm", "opened", "repeated")
    comment(f"notifications: {[body['title'] for _, body in incidents]}")
    forget(world.mesh_id)
    paths = max((body["paths"] for _, body in incidents), default=0)
    return [at - _unix(body["opened_at"]) for at, body in incidents], paths


def _wait(listener: Listener, processes: list["subprocess.Popen[bytes]"]) -> None:
    """Wait until watcher, notifier and beat work."""
    until_s = time.monotonic() + 300
    while not listener.got:
        if time.monotonic() > until_s or any(process.poll() is not None for process in processes):
            sys.exit("watcher, notifier or beat does not start")
        time.sleep(0.2)


def _unix(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
