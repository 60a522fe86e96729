"""A region apart from the stack: a gateway in a container of its own project, and two agents behind it."""

import os
import shutil
import signal
import time
from pathlib import Path

from engine import Engine
from outside import Process, start_agent
from visitor import Answer, Visitor
from waits import until

ADDRESS = "https://127.0.0.1:8444"
WINDOW_S = 2


class Region:
    """The gateway as an operator installs it, by `infra/docker/gateway.yml`.

    `certificate` is a folder with tls.crt and tls.key, of this machine's addresses and its own authority; the stack
    answers at `backend` with it.
    """

    def __init__(self, engine: Engine, visitor: Visitor, backend: str, certificate: Path) -> None:
        self._engine = engine
        self._visitor = visitor
        self._backend = backend
        self._certificate = certificate
        self._gateway = Visitor(ADDRESS)
        self._folder = engine.folder / "region"
        self._agents: list[Process] = []
        self._mesh_key = 0
        self._before_s = 0

    def start(self) -> None:
        """Start the gateway and wait until it is healthy and ready."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        for name in ("gateway", "tls"):
            (self._folder / name).mkdir(mode=0o700)
            os.chown(self._folder / name, 10001, 10001)
        for source, name in (("tls.crt", "fullchain.pem"), ("tls.key", "privkey.pem"), ("tls.crt", "authority.pem")):
            shutil.copy(self._certificate / source, self._folder / "tls" / name)
            os.chown(self._folder / "tls" / name, 10001, 10001)
        settings = {
            "GATEWAY_BACKEND": self._backend,
            "GATEWAY_CA_FILE": "/tls/authority.pem",
            "GATEWAY_PORT": ADDRESS.rpartition(":")[2],
            "GATEWAY_FOLDER": str(self._folder / "gateway"),
            "TLS_DIR": str(self._folder / "tls"),
        }
        (self._folder / "env").write_text("".join(f"SINEMORA_{name}={value}\n" for name, value in settings.items()))
        self._engine.compose_gateway(self._folder / "env", "up", "-d", "--no-build")
        until(lambda: self._ready().json["status"] == "ready")
        until(lambda: self._state("{{.State.Health.Status}}") == "healthy")

    def stop(self) -> None:
        """Stop agents and gateway."""
        for agent in self._agents:
            agent.terminate()
        if (self._folder / "env").exists():
            self._engine.compose_gateway(self._folder / "env", "down", "--timeout", "20")

    def enrol(self) -> None:
        """Enrol two agents through the gateway and wait until the store has windows of the pair."""
        mesh = self._visitor.post("/v1/meshes", {"name": "region", "window_s": WINDOW_S}).json
        self._mesh_key = mesh["key"]
        token = self._visitor.post("/v1/enrolment-tokens", {"mesh_id": mesh["id"], "max_uses": 2}).json["token"]
        authority = self._certificate / "tls.crt"
        for number in (1, 2):
            state = self._folder / f"agent-{number}"
            self._agents.append(start_agent(state, f"region-{number}", f"127.20.1.{number}", token, ADDRESS, authority))
        until(self._windows)
        assert self._metric("sinemora_gateway_acknowledged_total") > 0

    def lose_the_backend(self) -> None:
        """Stop the stack's way in, kill the gateway with queued reports, and let it queue more when it is back."""
        self._before_s = self._newest_s()
        self._engine.compose("stop", "entrance", "proxy", "api")
        until(lambda: self._queued() >= 4)
        until(lambda: self._ready().json["status"] == "degraded")
        assert self._ready().status == 200
        before = self._queued()
        os.kill(int(self._state("{{.State.Pid}}")), signal.SIGKILL)
        until(lambda: self._state("{{.RestartCount}} {{.State.Running}}") == "1 true")
        until(lambda: self._queued() >= before + 3)

    def find_it_again(self) -> None:
        """Start the stack again; each window of the outage is stored once, at its time, and nothing was refused."""
        self._engine.compose("up", "-d", "--no-build")
        until(lambda: self._visitor.get("/readyz").json["status"] == "ready")
        back_s = int(time.time())
        until(lambda: min(starts[-1] for starts in self._windows().values()) > back_s)
        for agent in self._agents:
            agent.terminate()
            agent.wait(30)
        until(lambda: self._queued() == 0)
        for vm, starts in self._windows().items():
            during = [at for at in starts if self._before_s <= at <= back_s]
            expected = list(range(during[0], during[-1] + 1, WINDOW_S))
            assert during == expected, f"VM {vm} lacks {sorted(set(expected) - set(during))} of {expected}"
        assert not list((self._folder / "gateway" / "refused").iterdir())
        assert self._metric("sinemora_gateway_refused_total") == 0
        assert self._metric("sinemora_gateway_forwarded_total") > 0
        assert self._metric("sinemora_gateway_backend_up") == 1
        for number in (1, 2):
            assert "once they are queued on its disk" in (self._folder / f"agent-{number}.log").read_text()

    def _ready(self) -> Answer:
        return self._gateway.get("/readyz")

    def _queued(self) -> float:
        return self._metric("sinemora_gateway_queue_reports")

    def _metric(self, name: str) -> float:
        """Return the sum of a metric over its labels, 0 without any. Raises ValueError without an answer."""
        text = self._gateway.get("/metrics").body.decode()
        if f"# HELP {name} " not in text:
            raise ValueError(f"no metric {name}: {text[:200]!r}")
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return sum(float(value) for full, _, value in lines if full.partition("{")[0] == name)

    def _state(self, template: str) -> str:
        [container] = self._engine.containers("gateway")
        return self._engine.ask("inspect", "-f", template, container)

    def _newest_s(self) -> int:
        return max(starts[-1] for starts in self._windows().values())

    def _windows(self) -> dict[int, list[int]]:
        """Return the starts of the stored windows of each VM, s, in order, from the database itself."""
        [database] = self._engine.containers("database")
        rows = self._engine.ask(
            "exec", "-u", "postgres", database, "psql", "-XAt", "-F", " ", "-d", "sinemora", "-c",
            "SELECT vm_key, extract(epoch FROM started_at)::bigint FROM probe_frames"
            f" WHERE mesh_key = {self._mesh_key} ORDER BY started_at",
        )  # fmt: skip
        windows: dict[int, list[int]] = {}
        for row in rows.splitlines():
            vm, at = row.split()
            windows.setdefault(int(vm), []).append(int(at))
        return windows
