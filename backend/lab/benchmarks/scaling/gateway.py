"""An ingest gateway under load: nothing it acknowledged is lost, and what a report costs by way of it.

Throughput and processor time compare direct uploads with those by way of a gateway, in turns, so that all meet the same
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
import zstandard

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.load import Load, request_of
from lab.benchmarks.storing.product import Product, World, free_port, serve
from lab.benchmarks.storing.worlds import reports

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

    def cpu_s(self) -> float:
        """Return its processor time."""
        times = self._running().cpu_times()
        return float(times.user + times.system)

    def rss_mib(self) -> float:
        """Return its resident memory, MiB."""
        return float(self._running().memory_info().rss) / (1 << 20)

    def _running(self) -> psutil.Process:
        assert self.process is not None
        return psutil.Process(self.process.pid)

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
    rates: dict[str, list[float]] = {"direct": [], "stored": [], "queued": []}
    drained: list[float] = []
    costs_s: dict[str, list[float]] = {"stored": [], "queued": []}
    memory: list[float] = []
    newest_s = int(time.time()) // 10 * 10 - 600
    with running(product, "stored") as passing, running(product, "queued") as queueing:
        for turn in range(-1, ROUNDS):  # the first turn opens connections and caches
            for way, port in {"direct": product.port, "stored": passing.port, "queued": queueing.port}.items():
                gateway = {"stored": passing, "queued": queueing}.get(way)
                newest_s -= 10 * REPORTS // VMS
                requests = _requests(world, newest_s, REPORTS)
                spent_s = gateway.cpu_s() if gateway else 0.0
                began_s = time.monotonic()
                outcome = Load([port], requests).wait()
                if outcome.refused:
                    sys.exit(f"{outcome.refused} reports were not acknowledged ({way})")
                if gateway:
                    gateway.await_empty_queue()
                if turn >= 0:
                    rates[way].append(outcome.acknowledged / outcome.seconds)
                    if way == "queued":
                        drained.append(outcome.acknowledged / (time.monotonic() - began_s))
                    if gateway:
                        costs_s[way].append((gateway.cpu_s() - spent_s) / outcome.acknowledged)
        memory.append(queueing.rss_mib())
    direct = rates["direct"]
    for way in ("stored", "queued"):
        ratios = [rate / reference for rate, reference in zip(rates[way], direct, strict=True)]
        figures.report(
            f"scale_gateway_{way}_rate_ratio",
            median(ratios),
            per_s=round(median(rates[way])),
            direct_per_s=round(median(direct)),
            processor_ms=round(1000 * median(costs_s[way]), 3),
        )
    figures.report(
        "scale_gateway_forwarded_rate_ratio",
        median(rate / reference for rate, reference in zip(drained, direct, strict=True)),
        per_s=round(median(drained)),
    )
    figures.report("scale_gateway_rss_mib", memory[-1])


def _requests(world: World, newest_s: int, count: int) -> list[bytes]:
    """Return reports of all VMs in turn, of windows that no other report has."""
    compressor = zstandard.ZstdCompressor(level=3)
    messages, requests = reports(world), []
    for n in range(count):
        message = messages[n % len(messages)]
        message.windows[0].started_at_s = newest_s - 10 * (n // len(messages))
        body = compressor.compress(message.SerializeToString())
        requests.append(request_of(world.credentials[n % len(messages)], body))
    return requests
