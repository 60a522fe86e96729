"""Upgrade from the release before under load: migration, then replacement of API and worker; nothing is lost."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from alembic import command

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.previous import Checkout, checked_out, newest_migration, previous_commit
from lab.benchmarks.storing.product import Product
from lab.soak.fleet import Fleet, lost
from sinemora import migrate
from sinemora.kit.db import dispose
from sinemora.operations.embedded.replacing import program_of

SENDERS = 50
PAUSE_S = 8.0


def upgrade(product: Product) -> None:
    """Serve by the release before, then migrate and replace API and worker while a fleet reports."""
    world = product.world("upgrade", SENDERS)
    with checked_out(previous_commit()) as code, tempfile.TemporaryDirectory(prefix="sinemora-bench-upgrade-") as name:
        product.stop()
        dispose()
        command.downgrade(migrate.configuration(), code.migration)
        with product.log.open("ab") as log:
            command_line = [code.python, "-m", "sinemora.cli", "serve"]
            product.api = subprocess.Popen(command_line, cwd=name, env=code.environment, stdout=log, stderr=log)
        worker = _worker(Path(name), code)
        try:
            product.wait()
            _check_code(product, code)
            fleet = Fleet(product.port, world).start()
            time.sleep(PAUSE_S)
            began = time.monotonic()
            code.switch()
            subprocess.run([code.python, "-m", "sinemora.migrate"], cwd=name, env=code.environment, check=True)
            migrated = time.monotonic()
            time.sleep(PAUSE_S)  # the programs of the release before serve with the new schema
            product.api.send_signal(signal.SIGHUP)
            _while_replaced(product)
            worker.terminate()
            worker.wait(60)
            worker = _worker(Path(name), code)
            time.sleep(PAUSE_S)
            record = fleet.stop()
        finally:
            worker.terminate()
            worker.wait(60)
    missing = lost(record, world)
    comment(
        f"from {code.commit[:12]} ({code.migration}) to {newest_migration('HEAD')}: migrated in"
        f" {migrated - began:.1f} s, {len(record.acknowledged)} reports acknowledged, {record.sent_again} sent again,"
        f" {record.broken_connections} connections broken, {record.refused_reports} answered with an error"
    )
    figures.report(
        "scale_rolling_upgrade_lost_reports",
        len(missing),
        acknowledged=len(record.acknowledged),
        refused_reports=record.refused_reports,
    )
    figures.report("scale_rolling_upgrade_refused_connections", record.refused_connections)
    figures.report("scale_rolling_upgrade_slowest_report_s", record.slowest_s)


def _check_code(product: Product, code: Checkout) -> None:
    """Check that the API runs the code of the release before: the program has its folder in its environment."""
    environment = Path(f"/proc/{product.api.pid}/environ").read_bytes()
    assert f"PYTHONPATH={code.link / 'backend'}".encode() in environment
    line = [code.python, "-c", "import sinemora; print(sinemora.__file__)"]
    printed = subprocess.run(
        line, cwd=code.link.parent, env=code.environment, check=True, capture_output=True, text=True
    )
    assert Path(printed.stdout.strip()).resolve().is_relative_to(code.link.resolve()), printed.stdout


def _while_replaced(product: Product) -> None:
    """Return when the new program of the process answers. The process has the same id; the program started again."""
    before = program_of(product.api.pid)
    while program_of(product.api.pid) == before:
        if product.api.poll() is not None:
            sys.exit(f"the API ended instead of being replaced:\n{product.log.read_text()[-2000:]}")
        time.sleep(0.05)
    product.wait()


def _worker(folder: Path, code: Checkout) -> "subprocess.Popen[bytes]":
    """Start a worker for all queues with beat, whose files are in a folder."""
    line = [code.python, "-m", "celery", "--app", "sinemora.worker", "--quiet", "worker", "--beat", "--loglevel=ERROR"]
    options = ["--queues=notices,fast,upkeep,bulk,watch", "--concurrency=1", f"--schedule={folder / 'beat'}"]
    with (folder / "worker.log").open("ab") as log:
        return subprocess.Popen([*line, *options], cwd=folder, env=code.environment, stdout=log, stderr=log)
