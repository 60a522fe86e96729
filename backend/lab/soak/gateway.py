"""An ingest gateway in front of a product, which can be killed and started again."""

import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

START_S = 240.0
"""Longest time until a gateway answers; a busy machine takes long to import it."""


@dataclass
class Gateway:
    """A gateway in front of a product, and its folder."""

    backend: str
    acknowledge: str
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "sinemora.cli", "gateway", "--listen", f"127.0.0.1:{self.port}"]
        options = ["--backend", self.backend, "--acknowledge", self.acknowledge, "--directory", str(self.folder)]
        with (self.folder.parent / "gateway.log").open("ab") as log:
            # A separate process group: Ctrl-C at a terminal reaches the caller, which ends it.
            self.process = subprocess.Popen([*command, *options], stdout=log, stderr=log, process_group=0)
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s and self.process.poll() is None:
            try:
                self._get("/livez")
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"the gateway does not start:\n{(self.folder.parent / 'gateway.log').read_text()[-2000:]}")

    def end(self, number: signal.Signals) -> None:
        """End it by a signal."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)

    def metric(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        lines = [line.rpartition(" ") for line in self._get("/metrics").splitlines() if not line.startswith("#")]
        return sum(float(value) for full, _, value in lines if full.partition("{")[0] == f"sinemora_gateway_{name}")

    def await_empty_queue(self) -> None:
        """Return when nothing is queued; exit when that takes minutes."""
        until_s = time.monotonic() + 300
        while self.metric("queue_reports"):
            if time.monotonic() > until_s:
                sys.exit("the gateway still has reports after 300 s")
            time.sleep(0.1)

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            text: str = answer.read().decode()
        return text
