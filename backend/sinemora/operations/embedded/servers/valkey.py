"""A private Valkey server on a unix socket: broker, pub/sub and cache, nothing durable."""

import os
import signal
from functools import cached_property
from pathlib import Path

import redis

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers.binaries import valkey_server
from sinemora.operations.embedded.servers.foreground import Foreground
from sinemora.operations.embedded.servers.service_user import ServiceUser, service_user
from sinemora.operations.embedded.servers.sockets import private_dir, socket_dir

_SOCKET = "valkey.sock"


def answers(url: str) -> bool:
    """Return whether the server at `url` answers within two seconds."""
    client = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()


class ValkeyServer:
    """Valkey server in `data_dir` of `user`. Call `prepare`, then `start` and `stop`; a supervisor uses `command`."""

    def __init__(self, data_dir: Path, user: ServiceUser | None = None) -> None:
        self.data_dir = data_dir.resolve()
        self.user = user or service_user()
        self.folder = self.data_dir / "valkey"
        self.log = self.data_dir / "logs" / "valkey.log"
        self._process: Foreground | None = None

    def prepare(self) -> None:
        """Create the folders."""
        private_dir(self.data_dir, self.user)
        self.log.parent.mkdir(mode=0o755, exist_ok=True)
        private_dir(self.folder, self.user)

    def command(self) -> list[str]:
        """Return the command line of the server, run as `user`."""
        options = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "save": "",  # periodic sweeps send lost jobs again, so nothing has to survive
            "appendonly": "no",
            "daemonize": "no",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",  # a broker must refuse, not drop messages
        }
        return [str(self.program), *(part for key, value in options.items() for part in (f"--{key}", value))]

    def environment(self) -> dict[str, str]:
        return {"PATH": os.defpath, "LANG": "C", "TZ": "UTC"}

    @cached_property
    def socket_path(self) -> Path:
        """Return the path of the server's socket; its folder is created at first use."""
        return socket_dir(self.data_dir, "valkey", _SOCKET, self.user) / _SOCKET

    @cached_property
    def program(self) -> Path:
        """Return the server binary, executable by the service user."""
        return valkey_server(self.data_dir / "engine", self.user)

    def url(self, database: int = 0) -> str:
        """Return a connection URL for redis-py and Celery's result backend."""
        return f"unix://{self.socket_path}?db={database}"

    def ready(self) -> bool:
        """Return whether the server responds now."""
        return answers(self.url())

    def start(self, timeout_s: float = 10) -> None:
        """Start the server and wait until it responds; for tests and one-off commands."""
        self._process = Foreground(self.command(), self.folder, self.environment(), self.log, self.user)
        if not self._process.wait_until(self.ready, timeout_s):
            self.stop()
            raise EmbeddedError("Valkey did not start.", f"Its log: {self.log}")

    def stop(self, timeout_s: float = 5) -> None:
        """Stop a server started with `start`."""
        process, self._process = self._process, None
        if process:
            process.stop((signal.SIGTERM, signal.SIGKILL), timeout_s)
