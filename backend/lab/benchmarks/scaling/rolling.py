"""Replacement of API and worker under load: nothing acknowledged is lost, and no connection is refused."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.product import Product
from sinemora.operations.embedded.replacing import program_of

Process: TypeAlias = "subprocess.Popen[bytes]"
SENDERS = 50
TIMES = 3
PAUSE_S = 5.0


def replace(product: Product) -> None:
    """Replace the API and a worker several times while a fleet reports."""
    world = product.world("rolling", SENDERS)
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-rolling-") as folder:
        worker = worker_in(Path(folder))
        try:
            fleet = Fleet(product.port, world).start()
            for _ in range(TIMES):
                time.sleep(PAUSE_S)
                product.api.send_signal(signal.SIGHUP)
                while_replaced(product)
                time.sleep(PAUSE_S)
                worker.terminate()
                worker.wait(60)
                worker = worker_in(Path(folder))
            time.sleep(PAUSE_S)
            record = fleet.stop()
        finally:
            worker.terminate()
            worker.wait(60)
    missing = lost(record, world)
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


def worker_in(folder: Path, python: str = sys.executable, env: Mapping[str, str] = os.environ) -> Process:
    """Start a worker for all queues with beat, whose files are in a folder."""
    command = [python, "-m", "celery", "--app", "sinemora.worker", "--quiet", "worker", "--beat", "--loglevel=ERROR"]
    options = ["--queues=notices,fast,upkeep,bulk,watch", "--concurrency=1", f"--schedule={folder / 'beat'}"]
    with (folder / "worker.log").open("ab") as log:
        return subprocess.Popen([*command, *options], cwd=folder, env=env, stdout=log, stderr=log)
