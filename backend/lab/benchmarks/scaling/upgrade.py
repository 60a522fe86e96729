"""A product that the release before serves, and its upgrade: migration, then replacement of API and worker."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command

from lab.benchmarks.scaling.previous import Checkout, checked_out, previous_commit
from lab.benchmarks.storing.product import Product
from sinemora import migrate
from sinemora.kit.db import dispose
from sinemora.operations.embedded.replacing import program_of

_PAUSE_S = 8.0


@dataclass
class Earlier:
    """A product that the release before serves, and a folder for files."""

    product: Product
    folder: Path
    code: Checkout
    worker: "subprocess.Popen[bytes]"

    def upgrade(self) -> None:
        """Migrate, then replace API and worker by this release, with pauses in which both serve."""
        time.sleep(_PAUSE_S)
        self.code.switch()
        line = [self.code.python, "-m", "sinemora.migrate"]
        subprocess.run(line, cwd=self.folder, env=self.code.environment, check=True)
        time.sleep(_PAUSE_S)  # the programs of the release before serve with the new schema
        self.product.api.send_signal(signal.SIGHUP)
        _while_replaced(self.product)
        self.stop_worker()
        self.worker = _worker(self.folder, self.code)
        time.sleep(_PAUSE_S)

    def stop_worker(self) -> None:
        """End the worker."""
        self.worker.terminate()
        self.worker.wait(60)


@contextmanager
def earlier(product: Product) -> Iterator[Earlier]:
    """Let the release before serve a product."""
    with checked_out(previous_commit()) as code, tempfile.TemporaryDirectory(prefix="sinemora-bench-upgrade-") as name:
        product.stop()
        dispose()
        command.downgrade(migrate.configuration(), code.migration)
        with product.log.open("ab") as log:
            command_line = [code.python, "-m", "sinemora.cli", "serve"]
            product.api = subprocess.Popen(command_line, cwd=name, env=code.environment, stdout=log, stderr=log)
        served = Earlier(product, Path(name), code, _worker(Path(name), code))
        try:
            product.wait()
            _check_code(product, code)
            yield served
        finally:
            served.stop_worker()


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
