"""The product as `make up` runs it, with a data folder, a port and a demonstration mesh that only it has."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.waits import until
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.services import answers

EMAIL = "owner@sinemora.example"
PASSWORD = "correct horse battery"
_STOP_S = 120.0


class EmbeddedProduct:
    """Process of `sinemora up` in `folder`, with `agents` agents; `more` are settings by their names."""

    def __init__(self, folder: Path, agents: int, **more: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.folder = DataFolder(folder / "data")
        self.output = folder / "output.txt"
        self.address = f"http://127.0.0.1:{self.port}"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("SINEMORA_", "PG"))} | {
            "SINEMORA_DATA_DIR": str(self.folder.path),
            "SINEMORA_PORT": str(self.port),
            "SINEMORA_DEMO_AGENTS": str(agents),
            "SINEMORA_OWNER_EMAIL": EMAIL,
            "SINEMORA_OWNER_PASSWORD": PASSWORD,
            "SINEMORA_WAIT_S": "180",
            **more,
        }
        with self.output.open("w") as out:
            # A separate process group: Ctrl-C at a terminal reaches the caller, which stops the product.
            self.process = subprocess.Popen(
                self._command("up"), env=self.env, cwd=folder, stdout=out, stderr=out, process_group=0
            )

    def do(self, name: str, expected: int = 0) -> str:
        """Run a command while the product runs. Return its output. AssertionError for another exit code."""
        done = subprocess.run(
            self._command(name), env=self.env, cwd=self.folder.path.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == expected, f"{name}: {done.stdout}{done.stderr}"
        return done.stdout

    def children(self) -> dict[str, dict[str, Any]]:
        """Return the state of each process as the supervisor wrote it last, by name."""
        result: dict[str, dict[str, Any]] = self.folder.read_state().get("processes", {})
        return result

    def child(self, name: str) -> dict[str, Any]:
        """Return the state of a process; empty before its first start."""
        return self.children().get(name, {})

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to a process; return its id."""
        pid: int = self.child(name)["pid"]
        os.kill(pid, how)
        return pid

    def is_ready(self) -> bool:
        """Return whether the API answers and has its database and broker."""
        return answers(f"{self.address}/readyz")

    def until_up(self, timeout_s: float = 240) -> None:
        """Return when all of it has started. AssertionError."""
        self.until(lambda: self.folder.read_state().get("phase") == "up", "the product starts", timeout_s)

    def until(self, true: Callable[[], bool], what: str, timeout_s: float = 300) -> None:
        """Return when a condition holds. AssertionError with the output when that takes long or the product ends."""

        def holds() -> bool:
            assert self.process.poll() is None, f"{what}: the product ended: {self.output.read_text()}"
            return true()

        until(holds, lambda: f"{what}: {self.output.read_text()}\n{self.folder.read_state()}", timeout_s)

    def stop(self) -> None:
        """Stop it as Ctrl-C does, if it runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(_STOP_S)

    def _command(self, name: str) -> list[str]:
        return [sys.executable, "-m", "sinemora.operations.embedded", name]


@contextmanager
def running(name: str, agents: int, place: Path | None = None, /, **more: str) -> Iterator[EmbeddedProduct]:
    """Run a product in a temporary folder, of `place` if it is given; stop it and delete the folder afterwards."""
    # Started by root, the servers run as a user who cannot enter root's own temporary folders.
    folder = Path(tempfile.mkdtemp(prefix=f"sinemora-{name}-", dir=place))
    folder.chmod(0o755)
    product = EmbeddedProduct(folder, agents, **more)
    try:
        yield product
    finally:
        product.stop()
        shutil.rmtree(folder)
