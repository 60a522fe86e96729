"""Replacement of API and worker under load: nothing acknowledged is lost, and no connection is refused."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.disaster import stored
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.product import Product
from sinemora.operations.embedded.replacing import program_of

SENDERS = 50
TIMES = 3
PAUSE_S = 5.0


def replace(product: Product) -> None:
    """Replace the API and a worker several times while a fleet reports."""
    world = product.world("rolling", SENDERS)
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-rolling-") as folder:
        worker = _worker(Path(folder))
        try:
            fleet = Fleet(product.port, world, SENDERS, 1.0, int(time.time()) - 600)
            fleet.start()
            for _ in range(TIMES):
                time.sleep(PAUSE_S)
                product.api.send_signal(signal.SIGHUP)
                while_replaced(product)
                time.sleep(PAUSE_S)
                worker.terminate()
                worker.wait(60)
                worker = _worker(Path(folder))
            time.sleep(PAUSE_S)
            record = fleet.stop()
        finally:
            worker.terminate()
            worker.wait(60)
    missing = lost(list(record.acknowledged), stored(world))
    again = {"sent_again": record.sent_again, "connections_broken": record.broken_connections}
    comment(
        f"{len(record.acknowledged)} reports acknowledged while API and worker were replaced {TIMES} times: {again}"
    )
    figures.report("scale_rolling_restart_lost_reports", len(missing), acknowledged=len(record.acknowledged), **again)
    figures.report("scale_rolling_restart_refused_connections", record.refused_connections)
    figures.report("scale_rolling_restart_slowest_report_s", record.slowest_s)


def while_replaced(product: Product) -> None:
    """Return when the new program of the process answers. The process has the same id; the program started again."""
    before = program_of(product.api.pid)
    while program_of(product.api.pid) == before:
        if product.api.poll() is not None:
            sys.exit(f"the API ended instead of being replaced:\n{product.log.read_text()[-2000:]}")
        time.sleep(0.05)
    product.wait()


def _worker(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "celery", "--app", "sinemora.worker", "--quiet", "worker", "--beat"]
    options = ["--queues=fast,bulk,watch", "--concurrency=1", f"--schedule={folder / 'beat'}", "--loglevel=ERROR"]
    with (folder / "worker.log").open("ab") as log:
        return subprocess.Popen([*command, *options], stdout=log, stderr=log)
