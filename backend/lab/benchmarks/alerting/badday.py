"""Bad days of a whole product: one disturbance after another, while faults happen on a small mesh of another tenant.

Each trial slows a path of the small mesh for three windows, disturbs the product, and waits for the notice. Meanwhile
/readyz is read every second: as long as a notice is more than a minute late, it has to report that something is wrong.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import psutil
import psycopg
from sqlalchemy import text

from lab import embedded_product
from lab.benchmarks.alerting.stack import WINDOW_S, Agents, Listener
from lab.benchmarks.figures import comment
from lab.benchmarks.storing.product import World, key_of, make_world
from lab.embedded_product import EmbeddedProduct
from lab.soak.fleet import Fleet
from lab.soak.senders import LiveFleet
from lab.soak.site import readiness, use_settings
from sinemora.access.tenants.service import create_owner
from sinemora.alerts.models import AlertRouting, Receiver, ReceiverKind
from sinemora.alerts.rules.service import create_default_rules
from sinemora.kit.db import dispose, system_session, tenant_session
from sinemora.measurements.ingest.agent_pb2 import Report
from sinemora.operations.embedded.programs import children_of
from sinemora_client.commands import Terminal

STOPPED_S, LOCKED_S = 90.0, 60.0
SLOW_WINDOWS = 3
LATE_S = 60.0
"""Time in which a notice is due: after the end of the first bad window, and after the end of the disturbance."""
_GIVEN_UP_S = 180.0
_SMALL_VMS = 8
"""VMs of the small tenant. Each fault has a path of its own: one that returns before its end was told has no notice."""
_SETTLED_S = 35.0
_STARTED_S = 600.0
_PASSWORD = "correct horse battery"


@dataclass
class Trial:
    """Outcome of one trial. `notice_s` is None when the fault was never notified; `told` of `late` samples."""

    name: str
    notice_s: float | None
    late: int
    told: int

    @property
    def failed(self) -> bool:
        """Return whether the fault was missed, its notice came too late, or nobody was told meanwhile."""
        return self.notice_s is None or self.notice_s > LATE_S or self.told < self.late


class _Windows(list[Report]):
    """Windows of one agent by number: slow towards a peer while a fault lasts, else quiet."""

    def __init__(self, fleet: "FaultyFleet", vm: int) -> None:
        super().__init__(fleet.agents.quiet(vm) for _ in range(3))
        self._fleet, self._vm = fleet, vm

    def __len__(self) -> int:
        return 1 << 40  # every number of a window is its own

    def __getitem__(self, number: Any) -> Any:
        fault = self._fleet.faults.get(self._vm)
        started_at_s = self._fleet.start_of(number)
        if fault and fault[1] <= started_at_s < fault[1] + SLOW_WINDOWS * WINDOW_S:
            return self._fleet.agents.slow(self._vm, fault[0])
        return super().__getitem__(number % 3)


class FaultyFleet(LiveFleet):
    """Live agents; `faults`: by agent the peer towards which it is slow, and the start of the first slow window."""

    def __init__(self, port: int, world: World) -> None:
        self.agents = Agents(world, seed=1)
        self.faults: dict[int, tuple[int, int]] = {}
        super().__init__(port, world)

    def start_of(self, number: int) -> int:
        """Return the start of a window by its number, Unix s."""
        return self._start(number)

    def _reports(self) -> list[list[Report]]:
        return [_Windows(self, vm) for vm in range(len(self._world.vm_keys))]


@dataclass
class Day:
    """A running product with a small tenant whose faults have to be notified, and other tenants that disturb it."""

    product: EmbeddedProduct
    listener: Listener
    small: World
    fleet: FaultyFleet
    ends: ExitStack
    used: int = 0
    samples: list[tuple[float, str]] = field(default_factory=list)

    def terminal(self, tenant_id: UUID) -> Terminal:
        """Return a client of the API for a tenant."""
        return Terminal(self.product.address, key_of(tenant_id, "write"))

    def pids(self, name: str) -> list[int]:
        """Return the processes of a program: its own and all its descendants."""
        found = [int(self.product.child(name)["pid"])]
        for pid in found:  # grows meanwhile
            found += children_of(pid)
        return found

    def tenant(self, name: str) -> UUID:
        """Create a tenant."""
        mark = f"{name}-{uuid4().hex[:6]}"
        return create_owner(mark, f"{mark}@sinemora.example", _PASSWORD).tenant_id


@contextmanager
def day(busy: int) -> Iterator[Day]:
    """Start a product with `busy` busy loops for each processor, and the small tenant; stop all of it afterwards."""
    with ExitStack() as ends:
        listener = Listener()
        ends.callback(listener.close)
        settings = {"SINEMORA_RECEIVER_NETWORKS": "127.0.0.0/8", "SINEMORA_ALERT_SETTLING_S": "0"}
        product = ends.enter_context(embedded_product.running("badday", 0, **settings))
        product.until_up(_STARTED_S)
        ends.callback(dispose)
        use_settings(product)
        tenant_id = create_owner("Small", "small@sinemora.example", _PASSWORD).tenant_id
        small = make_world(tenant_id, "small", _SMALL_VMS, zones=3)
        _watch(product, tenant_id, small, listener)
        running = Day(product, listener, small, FaultyFleet(product.port, small), ends)
        running.fleet.start()
        ends.callback(running.fleet.stop, give_up=True)
        ends.enter_context(_sampled(running))
        for _ in range(busy * (os.cpu_count() or 1)):
            ends.callback(subprocess.Popen([sys.executable, "-c", "while True: pass"]).kill)
        time.sleep(_SETTLED_S)
        yield running


def _watch(product: EmbeddedProduct, tenant_id: UUID, world: World, listener: Listener) -> None:
    """Give a mesh a rule that fires on one slow window, and a receiver of its notices."""
    with tenant_session(tenant_id) as session:
        create_default_rules(session, world.mesh_id)
        session.add(Receiver(name="bench", kind=ReceiverKind.webhook, settings={"url": listener.url}))
        session.add(AlertRouting(id=uuid4(), tree={"root": {"receivers": ["bench"], "hold_s": 0}}))
    above = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 4e6}
    rule: dict[str, Any] = {"mesh_id": str(world.mesh_id), "name": "Above four milliseconds", "condition": above}
    rule |= {"severity": "critical", "windows_x": 1, "windows_y": 1, "sources_min": 1, "hold_s": 0, "keep_firing_s": 0}
    Terminal(product.address, key_of(tenant_id, "write")).read("/v1/alert-rules", rule)


@contextmanager
def _sampled(running: Day) -> Iterator[None]:
    """Read the status of /readyz every second; empty without an answer."""
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(1.0):
            running.samples.append((time.time(), readiness(running.product.address)))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join(30)


Disturbance = Callable[[Day], float]
"""Disturb a product, and return the Unix time at which the disturbance has ended."""


def run(running: Day, name: str, disturb: Disturbance) -> Trial:
    """Run one trial: a fault of three windows begins with the disturbance."""
    pairs = [(vm, int(target)) for vm in range(_SMALL_VMS) for target in running.fleet.agents.targets[vm]]
    vm, target = pairs[running.used % len(pairs)]
    running.used += 1
    start_s = (int(time.time()) // WINDOW_S + 1) * WINDOW_S
    bad_s = start_s + WINDOW_S
    running.fleet.faults = {vm: (target, start_s)}
    due_s = max(bad_s, disturb(running))
    at = None
    while at is None and time.time() < due_s + _GIVEN_UP_S:
        time.sleep(0.2)
        about = ("opened", "returned", "late")
        at = next((at for at, body in running.listener.got if at > bad_s and body["about"] in about), None)
    late = [status for seen, status in running.samples if bad_s + LATE_S <= seen < (at or time.time()) - 2]
    trial = Trial(name, None if at is None else round(at - due_s, 1), len(late), sum(one != "ready" for one in late))
    statuses = {status for seen, status in running.samples if seen >= start_s}
    time.sleep(max(0.0, bad_s + SLOW_WINDOWS * WINDOW_S - time.time()))
    opened = Counter(
        body["incident_id"] for at, body in running.listener.got if at > bad_s and body["about"] == "opened"
    )
    said = f"{trial}, /readyz {sorted(statuses)}, opened {list(opened.values())} times"
    comment(f"{name}: {'FAILED' if trial.failed else 'ok'}, {said}")
    return trial


def _undisturbed(_: Day) -> float:
    return 0.0


def _killed(*names: str) -> Disturbance:
    def disturb(running: Day) -> float:
        for name in names:
            for pid in running.pids(name):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return time.time()

    return disturb


def _away(running: Day) -> float:
    """Kill the API, and let nobody start it again for a while."""
    supervisor = psutil.Process(running.product.process.pid)
    supervisor.suspend()
    _killed("api")(running)
    time.sleep(STOPPED_S)
    supervisor.resume()
    return time.time()


def _stopped(name: str) -> Disturbance:
    """Stop all processes of a program for 90 s, unless the supervisor ends them before."""

    def disturb(running: Day) -> float:
        processes = [psutil.Process(pid) for pid in running.pids(name)]
        for process in processes:
            process.suspend()
        until = time.monotonic() + STOPPED_S
        while time.monotonic() < until and any(process.is_running() for process in processes):
            time.sleep(0.5)
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        return time.time()

    return disturb


def _locked(table: str) -> Disturbance:
    def disturb(running: Day) -> float:
        from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, PostgresServer

        dsn = PostgresServer(running.product.folder.path).dsn(OWNER_ROLE)
        with psycopg.connect(dsn) as session:
            session.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            time.sleep(LOCKED_S)
        return time.time()

    return disturb


def _neighbours(vms: int, meshes: int) -> Disturbance:
    """Let another tenant have one large mesh or many small ones from now on."""

    def disturb(running: Day) -> float:
        tenant_id = running.tenant("neighbour")
        for number in range(meshes):
            world = make_world(tenant_id, f"many-{number}", vms, zones=3)
            with tenant_session(tenant_id) as session:
                create_default_rules(session, world.mesh_id)
            fleet = LiveFleet(running.product.port, world) if meshes > 1 else _Large(running.product.port, world)
            running.ends.callback(fleet.stop, give_up=True)
            fleet.start()
        return 0.0

    return disturb


class _Large(LiveFleet):
    """Live agents that repeat one window each, since thousands of different ones take long to prepare."""

    def _reports(self) -> list[list[Report]]:
        return Fleet._reports(self)


def _deleted(vms: int) -> Disturbance:
    """Load a tenant with windows of an hour, and delete it while rules are evaluated."""

    def disturb(running: Day) -> float:
        tenant_id = running.tenant("gone")
        old = Fleet(running.product.port, make_world(tenant_id, "gone", vms, zones=3), every_s=1.0).start()
        time.sleep(30)
        old.stop(give_up=True)
        with system_session() as session:
            session.execute(text("UPDATE tenants SET deletion_at = now() WHERE id = :id"), {"id": tenant_id})
        return 0.0

    return disturb


def _receiver_that(answers: Callable[[socket.socket], None]) -> Disturbance:
    """Let another tenant have a receiver that answers badly, with four notices for it."""

    def disturb(running: Day) -> float:
        server = socket.create_server(("127.0.0.1", 0))
        running.ends.callback(server.close)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=_answered, args=(server.accept()[0], answers), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        terminal = running.terminal(running.tenant("evil"))
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        receiver = terminal.read("/v1/receivers", {"name": "w", "kind": "webhook", "settings": {"url": url}})
        for _ in range(4):
            terminal.read(f"/v1/receivers/{receiver['id']}/tests", {})
        return 0.0

    return disturb


def _answered(connection: socket.socket, answers: Callable[[socket.socket], None]) -> None:
    with connection, suppress(OSError):
        connection.recv(65536)
        answers(connection)


def _drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(8)


def _slow(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n")
    for _ in range(14):
        time.sleep(5)
        connection.sendall(b"x")


def _error_text(connection: socket.socket) -> None:
    text = b'{"ok": false, "error": "no such channel"}'
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))


def _evaluators(number: int) -> Disturbance:
    """Let more processes evaluate the same meshes at once, for as long as a fault lasts."""

    def disturb(running: Day) -> float:
        command = [sys.executable, "-c", "from sinemora.alerts.detection import rounds; rounds.run(90)"]
        for _ in range(number):
            running.ends.callback(subprocess.Popen(command).kill)
        return 0.0

    return disturb


def _ahead(running: Day) -> float:
    """Let all newest windows of the small mesh lie an hour ahead: the clock of the backend was stepped back."""
    with system_session() as session:
        ahead = "UPDATE path_latest SET started_at = started_at + interval '1 hour' WHERE mesh_key = :key"
        session.execute(text(ahead), {"key": running.small.mesh_key})
    return 0.0


def _imports(lines: int) -> Disturbance:
    """Let another tenant import two traces at once."""

    def disturb(running: Day) -> float:
        base_s = int(time.time()) - 86_400
        rows = (f"{base_s + n // 40},v{n % 40},v{(n * 7 + 1) % 40},{100 + n % 50}" for n in range(lines))
        body = "\n".join(["at,source,target,round_trip_us", *rows]).encode()
        tenant_id = running.tenant("imports")
        terminal, key = running.terminal(tenant_id), key_of(tenant_id, "write")
        for number in range(2):
            mesh = terminal.read("/v1/meshes", {"name": f"import-{number}"})
            _post(f"{running.product.address}/v1/meshes/{mesh['id']}/imports?kind=csv&times=keep", key, body)
        return 0.0

    return disturb


def _post(url: str, key: str, body: bytes) -> None:
    import httpx2

    headers = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    httpx2.post(url, content=body, headers=headers, timeout=120, trust_env=False).raise_for_status()


_PROGRAMS = ("template", "api", "worker", "watcher", "notifier", "beat", "postgres", "valkey")


def disturbances(neighbour_vms: int, import_lines: int) -> dict[str, Disturbance]:
    """Return all disturbances by name; those that last for the rest of the day come last."""
    return {
        "none": _undisturbed,
        **{f"kill-{name}": _killed(name) for name in _PROGRAMS},
        "kill-postgres-valkey": _killed("postgres", "valkey"),
        **{f"stop-{name}": _stopped(name) for name in _PROGRAMS},
        "away-api": _away,
        **{f"lock-{table}": _locked(table) for table in ("incidents", "probe_frames", "meshes")},
        "drip": _receiver_that(_drip),
        "slow": _receiver_that(_slow),
        "error-text": _receiver_that(_error_text),
        "evaluators": _evaluators(4),
        "ahead": _ahead,
        "imports": _imports(import_lines),
        "deletion": _deleted(30),
        "many-meshes": _neighbours(3, 50),
        "large-neighbour": _neighbours(neighbour_vms, 1),
    }


def chosen(names: Iterable[str], known: dict[str, Disturbance]) -> dict[str, Disturbance]:
    """Return the disturbances of these names, all without a name; ends the program on an unknown one."""
    wanted = [name for name in names if name]
    if unknown := sorted(set(wanted) - set(known)):
        sys.exit(f"unknown trial: {', '.join(unknown)}; known: {', '.join(known)}")
    return {name: known[name] for name in wanted or known}
