"""An ingest gateway under load: nothing it acknowledged is lost, and what a report costs by way of it.

Throughput compares direct uploads with those by way of a gateway, in turns, so that all meet the same
machine. The memory is that of the gateway after the load.
"""

import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World, free_port, serve
from lab.benchmarks.storing.worlds import reports, request_at

SENDERS = 50
PAUSE_S = 5.0
AWAY_S = 15.0
VMS = 40
REPORTS = 1000
ROUNDS = 3
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

    def rss_mib(self) -> float:
        """Return its resident memory, MiB."""
        assert self.process is not None
        return float(psutil.Process(self.process.pid).memory_info().rss) / (1 << 20)

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            text: str = answer.read().decode()
        return text


@contextmanager
def running(product: Product, acknowledge: str) -> Iterator[Gateway]:
    """Run a gateway in front of a product."""
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-gateway-") as folder:
        gateway = Gateway(product.url(""), acknowledge, Path(folder) / "queue", free_port())
        gateway.start()
        try:
            yield gateway
        finally:
            gateway.end(signal.SIGTERM)


def through(product: Product) -> None:
    """Measure loss under outages and kills, then the cost of each mode."""
    with running(product, "queued") as gateway:
        _lose(product, gateway)
    world = product.world("cost", VMS)
    _compare(product, world)


def _lose(product: Product, gateway: Gateway) -> None:
    """Kill the backend and the gateway in turn while a fleet reports, and count what is missing."""
    world = product.world("gateway", SENDERS)
    fleet = Fleet(gateway.port, world).start()
    time.sleep(PAUSE_S)
    product.api.kill()
    product.api.wait(20)
    time.sleep(AWAY_S / 2)
    gateway.end(signal.SIGKILL)
    gateway.start()
    time.sleep(AWAY_S / 2)
    queued = gateway.metric("queue_reports")
    product.api = serve(product.log)
    product.wait()
    time.sleep(PAUSE_S)
    gateway.end(signal.SIGKILL)  # while it forwards
    gateway.start()
    time.sleep(PAUSE_S)
    record = fleet.stop()
    gateway.await_empty_queue()
    refused = gateway.metric("refused_total")
    comment(
        f"{len(record.acknowledged)} reports acknowledged by a gateway that was killed twice, the backend once;"
        f" {queued:.0f} were queued at most, {refused:.0f} refused"
    )
    figures.report("scale_gateway_lost_reports", len(lost(record, world)), acknowledged=len(record.acknowledged))


def _compare(product: Product, world: World) -> None:
    """Send as many reports directly and by way of both modes, in turns."""
    rates: dict[str, list[float]] = {"direct": [], "stored": [], "queued": [], "forwarded": []}
    newest_s = int(time.time()) // 10 * 10 - 600
    with running(product, "stored") as passing, running(product, "queued") as queueing:
        ports = {"direct": product.port, "stored": passing.port, "queued": queueing.port}
        for turn in range(-1, ROUNDS):  # the first turn opens connections and caches
            for way, port in ports.items():
                newest_s -= 10 * REPORTS // VMS
                requests = _requests(world, newest_s, REPORTS)
                began_s = time.monotonic()
                outcome = Load([port], requests).wait()
                if outcome.refused:
                    sys.exit(f"{outcome.refused} reports were not acknowledged ({way})")
                queueing.await_empty_queue()
                if turn >= 0:
                    rates[way].append(outcome.acknowledged / outcome.seconds)
                if turn >= 0 and way == "queued":
                    rates["forwarded"].append(outcome.acknowledged / (time.monotonic() - began_s))
        rss_mib = queueing.rss_mib()
    direct = rates.pop("direct")
    for way, per_s in rates.items():
        ratio = median(rate / reference for rate, reference in zip(per_s, direct, strict=True))
        figures.report(f"scale_gateway_{way}_rate_ratio", ratio, per_s=round(median(per_s)))
    figures.report("scale_gateway_rss_mib", rss_mib)


def _requests(world: World, newest_s: int, count: int) -> list[bytes]:
    """Return reports of all VMs in turn, of windows that no other report has."""
    senders = list(zip(world.credentials, reports(world), strict=True))
    return [
        request_at(*senders[n % len(senders)], started_at_s=newest_s - 10 * (n // len(senders))) for n in range(count)
    ]
