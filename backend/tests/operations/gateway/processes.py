"""The API of a backend and gateways in front of it as processes, each on a fixed port of loopback."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import uvicorn

from lab.benchmarks.storing.product import free_port
from sinemora.kit.http.connection import server_options
from sinemora.main import Server as ApiServer
from sinemora.main import create_app
from sinemora.operations.embedded.replacing import program_of
from tests.waits import until

HTTP = httpx2.Client(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
"""Client without TLS for requests over new connections. To make a client takes longer than most requests."""


class Api:
    """The API on a port of loopback. To load it in a process of its own takes longer than most tests."""

    def __init__(self) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self._app = create_app()
        self._server: ApiServer | None = None
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start it and wait until it answers, unless it runs."""
        if self._server is not None:
            return
        config = uvicorn.Config(self._app, port=int(self.url.rpartition(":")[2]), **server_options())
        server = self._server = ApiServer(self._app, config)
        self._thread = Thread(target=server.run)
        self._thread.start()
        until(lambda: server.started, "the API")

    def stop(self) -> None:
        """Close its port and its connections, if it runs."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
            self._server = None


class Server:
    """A process of the command line that serves HTTP on one port, also after it is started again."""

    def __init__(self, log: Path, address: str, *command: str | Path, env: dict[str, str] | None = None) -> None:
        self.url = address
        self._log = log
        self._command = [sys.executable, "-m", "sinemora.cli", *map(str, command)]
        self._env = env
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, verify: Any = None) -> None:
        """Start it and wait until it answers; over TLS with `verify`."""
        client = HTTP if verify is None else httpx2.Client(trust_env=False, verify=verify)
        with self._log.open("ab") as log:
            process = self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._env)

        def answers() -> bool:
            assert process.poll() is None, self.output()
            try:
                return client.get(f"{self.url}/healthz", timeout=5).status_code == 200
            except httpx2.TransportError:
                return False

        until(answers, self.output)

    def stop(self) -> int:
        """End it by SIGTERM, if it runs; return its exit code."""
        return self._end(hard=False)

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._end(hard=True)

    def replace(self) -> None:
        """Replace it by SIGHUP; wait for the next program of the process."""
        assert self._process is not None
        pid = self._process.pid
        before = program_of(pid)
        self.hang_up()
        until(lambda: program_of(pid) not in (before, ""), self.output)
        assert self._process.poll() is None

    def hang_up(self) -> None:
        """Send SIGHUP, by which it replaces its program."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def _end(self, *, hard: bool) -> int:
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.kill() if hard else self._process.terminate()
        return self._process.wait()

    def output(self) -> str:
        """Return its log."""
        return self._log.read_text("utf-8")

    def metric(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        text = HTTP.get(f"{self.url}/metrics", timeout=30).text
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return sum(float(value) for full, _, value in lines if full.partition("{")[0] == name)


def gateway(
    folder: Path, backend: str, acknowledge: str, *options: str | Path, port: int = 0, scheme: str = "http"
) -> Server:
    """Return a gateway of `backend`, not started, with its reports and its log in `folder`; its port may be given."""
    address = f"127.0.0.1:{port or free_port()}"
    command = ("gateway", "--listen", address, "--backend", backend, "--acknowledge", acknowledge)
    log = folder.with_name(f"{folder.name}-{address}.log")
    return Server(log, f"{scheme}://{address}", *command, "--directory", folder, *options)


@contextmanager
def api_process(folder: Path) -> Iterator[Server]:
    """Run the API on the database of the tests in a process of its own, with its log in `folder`."""
    port = free_port()
    server = Server(
        folder / "api.log", f"http://127.0.0.1:{port}", "serve", env=os.environ | {"SINEMORA_PORT": str(port)}
    )
    server.start()
    yield server
    server.stop()
