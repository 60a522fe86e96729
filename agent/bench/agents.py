"""Our agents in a laboratory: the release binary, with plans as a backend would send them."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from lab.benchmarks.agent_process import command_of, enrol
from sinemora.measurements.codec import llq16
from sinemora.measurements.ingest.agent_pb2 import Columns, MeshWindow, Report

from laboratory import Host, Lab, LabError, Process, wait_until

HERE = Path(__file__).resolve().parent
# Benchmarks measure the release build; tests run the quick one.
BINARY = HERE.parent / "target" / os.environ.get("SINEMORA_BUILD_FOLDER", "release") / "sinemora-agent"
TRANSFER, GUARD = BINARY.with_name("sinemora-transfer"), BINARY.with_name("sinemora-guard")
MESH_KEY = 1


class Agent:
    """A running `sinemora-agent` of a host. `address`: that at which it is measured."""

    def __init__(
        self, fleet: "Fleet", host: Host, key: int, address: str, event_port: int, start: Callable[[], Process]
    ) -> None:
        self.fleet = fleet
        self.host = host
        self.key = key
        self.address = address
        self.event_port = event_port
        self._seen: dict[str, Report] = {}
        self._start = start
        self.process = start()
        self.process.require("the agent's first plan", "new plan")

    def restart(self) -> None:
        """Start it again after its process has ended, with the state folder that it left."""
        self.process = self._start()

    def measure(self, responder: "Agent", rate_hz: int, **more: Any) -> None:
        """Give both agents a plan by which this one measures the other."""
        responder.follow([self.peer("responder")], rate_hz, **more)
        self.follow([responder.peer("client")], rate_hz, **more)

    def peer(self, role: str, **more: Any) -> dict[str, Any]:
        """Return this agent as a peer in the plan of another one, which has `role` towards it: client or responder."""
        ports = {"event_port": self.event_port, "general_port": self.event_port + 1}
        return peer(self.key, self.address, role, **{**ports, **more})

    def follow(self, peers: Sequence[dict[str, Any]], rate_hz: int, **more: Any) -> None:
        """Put a plan of one mesh in force; `more` replaces members of the plan or of its mesh (see `plan`)."""
        self.fleet.write_plan(self.key, plan(self.key, peers, rate_hz, **more))

    def reports(self) -> list[Report]:
        """Return the reports so far, in the order of their numbers; one that was sent twice counts once."""
        for path in self.fleet.folder.glob(f"{self.key}-*.report"):
            if path.name not in self._seen:
                self._seen[path.name] = Report.FromString(path.read_bytes())
        own = {report.sequence: report for report in self._seen.values()}
        return [report for _, report in sorted(own.items())]

    def windows(self, since_s: float = 0.0) -> list[MeshWindow]:
        """Return the windows reported so far that started at `since_s` (Unix) or later, oldest first."""
        windows = [window for report in self.reports() for window in report.windows if window.started_at_s >= since_s]
        return sorted(windows, key=lambda window: window.started_at_s)

    def await_windows(self, count: int, since_s: float, within_s: float = 60.0) -> list[MeshWindow]:
        """Wait for the first `count` windows that started at `since_s` or later, and return them."""
        try:
            wait_until(f"{count} windows of {self.host.name}", lambda: len(self.windows(since_s)) >= count, within_s)
        except LabError as error:
            raise LabError(f"{error}\n{self.process.output()[-2000:]}") from None
        return self.windows(since_s)[:count]

    def await_answers(self, keys: Iterable[int]) -> float:
        """Wait for a window in which all these peers answer; return the time, Unix, from which windows count.

        How long the negotiation with a standard responder takes depends on when it is ready.
        """
        wanted = set(keys)

        def answered(window: MeshWindow) -> bool:
            counts = zip(window.peer_keys, window.round_trip.count, strict=True)
            return wanted <= {key for key, count in counts if count > 0}

        wait_until("a window with answers of all", lambda: any(map(answered, self.windows())), 60)
        return time.time() + 1

    def events(self) -> list[dict[str, Any]]:
        """Return the events sent so far, in the order of their arrival."""
        paths = sorted(self.fleet.folder.glob(f"{self.key}-*.events"), key=lambda path: path.stat().st_mtime_ns)
        return [event for path in paths for event in json.loads(path.read_bytes())["events"]]

    def metrics(self) -> dict[str, float]:
        """Return its /metrics, by name with labels."""
        text = self.host.run(*get_metrics("127.0.0.1", 9319))
        lines = [line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}


# A client of HTTP takes a tenth of a second to load, and some tests ask for metrics all the time.
_GET_METRICS = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5) as asked:
    asked.sendall(f"GET /metrics HTTP/1.0\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n".encode())
    print(asked.makefile("rb").read().decode().partition("\\r\\n\\r\\n")[2])
"""


def get_metrics(address: str, port: int) -> list[str]:
    """Return a command that prints the metrics of a program at an address."""
    return [sys.executable, "-I", "-S", "-c", _GET_METRICS, address, str(port)]


class Fleet:
    """The agents of a laboratory and a server in place of their backend."""

    def __init__(self, lab: Lab, binary: Path = BINARY) -> None:
        if not binary.exists():
            raise LabError(f"{binary} is not built.\nWhat to do: make setup")
        self.lab = lab
        self.binary = binary
        self.backend = f"http://{lab.gateway}:8420"
        self.folder = lab.folder / "fleet"
        self.folder.mkdir()
        self._agents = 0
        self.start_server()

    def start_server(self) -> None:
        """Start the server, again after it was stopped."""
        command: list[str | Path] = [sys.executable, HERE / "plan_server.py", self.lab.gateway, "8420", self.folder]
        self.server = self.lab.start(command, "plan-server")
        self.server.require("the plan server", "serving")

    def agent(
        self,
        host: Host,
        event_port: int = 319,
        env: dict[str, str] | None = None,
        through: Sequence[str | Path] = (),
        **settings: str,
    ) -> Agent:
        """Start an agent on `host` with an empty plan and further `settings`; an empty one is the agent's default.

        `through` is a command that runs the agent; the agent's state folder and command are its arguments.
        """
        self._agents += 1
        key = self._agents
        state = self.lab.folder / f"state-{key}"
        enrol(state, self.backend, _uuid(key), _uuid(key), key, f"sma_{key}")
        self.write_plan(key, plan(key, [], 1))
        options: dict[str, object] = {
            **{"backend": self.backend, "state_dir": state, "listen_address": host.address, "log_level": "info"},
            **{"event_port": event_port, "general_port": event_port + 1, "metrics_listen": "127.0.0.1:9319"},
            **settings,
        }
        before = [*through, state] if through else []
        command = [*before, *command_of(self.binary, **options)]
        address = settings.get("probe_address") or settings.get("listen_address") or host.address
        return Agent(self, host, key, address, event_port, lambda: host.start(command, "agent", env))

    def write_plan(self, key: int, content: dict[str, Any]) -> None:
        """Put a plan in force for the agent of this key, within about a second."""
        content = content | {"agent_id": _uuid(key), "vm_key": key}
        new = self.folder / f"{key}.new"
        new.write_text(json.dumps(content), "utf-8")
        new.rename(self.folder / f"{key}.json")


def _uuid(key: int) -> str:
    return f"00000000-0000-4000-8000-{key:012}"


@contextmanager
def fleet_in_lab() -> Iterator[tuple[Lab, Fleet]]:
    """Make a laboratory with a fleet for a while."""
    with Lab() as lab:
        yield lab, Fleet(lab)


def quantiles_ns(columns: Sequence[Columns], *quantiles: float) -> list[float]:
    """Return quantiles of the delays of some windows together, ns."""
    words = np.frombuffer(b"".join(of.sketch for of in columns), dtype="<u2").astype(np.uint16)
    merged, lengths = llq16.merge(words, np.zeros(len(words), np.int64), 1)
    return [float(value) for value in llq16.values_of(llq16.quantiles(merged, lengths, list(quantiles))[:, 0])]


def peer(key: int, address: str, role: str, **more: Any) -> dict[str, Any]:
    """Return a peer of a plan; `role` is the role of the plan's agent towards it."""
    ports = {"event_port": 319, "general_port": 320}
    return {"vm_key": key, "name": f"vm-{key}", "address": address, "role": role, "flows": 1, **ports, **more}


def plan(
    key: int,
    peers: Sequence[dict[str, Any]],
    rate_hz: int,
    window_s: int = 1,
    loss_deadline_ms: int = 1000,
    **more: Any,
) -> dict[str, Any]:
    """Return a plan of one mesh, or of none without peers; `more` replaces members of the plan."""
    mesh = {"id": "m", "key": MESH_KEY, "name": "lab", "window_s": window_s, "rate_hz": rate_hz}
    mesh |= {"loss_deadline_ms": loss_deadline_ms, "peers": list(peers)}
    return {
        **{"revision": str(time.time_ns()), "agent_id": "", "vm_key": key, "server_time_ns": 0},
        **{"caps": {"packets_per_s": 100_000, "peers": 5_000}, "spike_threshold_ns": 500_000},
        "meshes": [mesh] if peers else [],
        **more,
    }
