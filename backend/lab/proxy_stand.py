"""The entrance and the proxy of the production stack, run as programs of this machine in front of an API.

They are HAProxy and nginx with the configuration and the script of the stack (`infra/proxy`); only folders and ports
differ. Each start of the proxy is what a new container is in the stack.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lab.waits import until

FILES = Path(__file__).resolve().parents[2] / "infra" / "proxy"
_LIMIT_S = 60.0
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Debian keeps nginx and HAProxy where only root's PATH leads."""


@dataclass
class Stand:
    """A running entrance on a loopback port, and the proxies behind it, the newest last."""

    folder: Path
    upstream_port: int
    port: int = 0
    entrance: subprocess.Popen[bytes] | None = None
    proxies: list[subprocess.Popen[bytes]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    _started: int = 0

    @property
    def log(self) -> Path:
        """Return the file that all of them write to."""
        return self.folder / "log"

    @property
    def current(self) -> Path:
        """Return the link that leads the entrance to the proxy that serves."""
        return self.folder / "sockets" / "current"

    def start_entrance(self) -> None:
        """Start the entrance on a free port; it accepts connections when this returns."""
        with socket.create_server(("127.0.0.1", 0)) as http, socket.create_server(("127.0.0.1", 0)) as https:
            self.port, tls_port = http.getsockname()[1], https.getsockname()[1]
        settings = {
            "SINEMORA_PROXY_SOCKETS": str(self.folder / "sockets"),
            "SINEMORA_ENTRANCE_HTTP": f"127.0.0.1:{self.port}",
            "SINEMORA_ENTRANCE_HTTPS": f"127.0.0.1:{tls_port}",
            "SINEMORA_ENTRANCE_CONNECTIONS": "2000",
        }
        self.entrance = self._run(["haproxy", "-db", "-f", str(FILES / "entrance.cfg")], settings)
        self._until(self._accepts, self.entrance)

    def start_proxy(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a proxy; the entrance leads to it when this returns."""
        before = os.readlink(self.current) if self.current.is_symlink() else ""
        process = self.begin_proxy(**settings)
        self._until(lambda: self.current.is_symlink() and os.readlink(self.current) != before, process)
        return process

    def begin_proxy(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a proxy without waiting for it."""
        self._started += 1
        made = self.folder / f"proxy-{self._started}"
        own = {
            "SINEMORA_PROXY_SOCKETS": str(self.folder / "sockets"),
            "SINEMORA_PROXY_FOLDER": str(made),
            "SINEMORA_PROXY_CONF": str(FILES / "nginx.conf"),
            "SINEMORA_PROXY_UPSTREAM": f"127.0.0.1:{self.upstream_port}",
        }
        process = self._run(["sh", str(FILES / "start.sh")], own | self.settings | settings)
        self.proxies.append(process)
        return process

    def replace_proxy(self) -> None:
        """Start a new proxy, then stop the one before, as `infra/docker/replace.sh` does."""
        before = self.proxies[-1]
        self.start_proxy()
        self.stop_proxy(before)

    def stop_proxy(self, process: subprocess.Popen[bytes]) -> None:
        """Stop a proxy as an engine of containers does, and wait for its end."""
        process.send_signal(signal.SIGTERM)
        process.wait(_LIMIT_S)
        self.proxies.remove(process)

    def kill_proxy(self) -> None:
        """Kill the newest proxy and its nginx."""
        process = self.proxies.pop()
        # All of nginx must be gone: until then its socket accepts connections, which are lost with it.
        killed = [one for one in psutil.process_iter() if _group(one.pid) == process.pid]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        psutil.wait_procs(killed, _LIMIT_S)

    def stop(self) -> None:
        """End all of it at once."""
        for process in (*self.proxies, *([self.entrance] if self.entrance else [])):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def _run(self, command: list[str], settings: dict[str, str]) -> subprocess.Popen[bytes]:
        env = os.environ | {"PATH": f"{os.environ['PATH']}:{_SBIN}"} | settings
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, env=env, stdout=log, stderr=log, start_new_session=True, preexec_fn=_take_signals
            )

    def _until(self, true: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        def holds() -> bool:
            assert process.poll() is None, f"{process.args!r} does not start:\n{self.log.read_text()[-2000:]}"
            return true()

        until(holds, lambda: f"{process.args!r} starts:\n{self.log.read_text()[-2000:]}", _LIMIT_S)


def _group(pid: int) -> int | None:
    """Return the process group of a process, None if it has ended."""
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _take_signals() -> None:
    """Give signals their default, as in a container: a shell starts its background jobs with these two ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def running(upstream_port: int) -> Iterator[Stand]:
    """Run the entrance and one proxy in front of the API on a port of this machine, in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="sinemora-entrance-"))
    stand = Stand(folder, upstream_port)
    # nginx started by root has workers of another user.
    folder.chmod(0o711)
    (folder / "sockets").mkdir()
    try:
        stand.start_entrance()
        stand.start_proxy()
        yield stand
    finally:
        stand.stop()
        shutil.rmtree(folder, ignore_errors=True)
