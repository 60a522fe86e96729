"""A product that the release before serves, and its upgrade: migration, then replacement of API and worker.

The code of either release, with its Python environment, is below a link that is switched.
"""

import os
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

from lab.benchmarks.storing.product import Product
from sinemora import migrate
from sinemora.kit.db import dispose
from sinemora.operations.embedded.replacing import program_of

_PAUSE_S = 8.0
ROOT = Path(__file__).resolve().parents[4]
_DEPENDENCIES = (
    "backend/requirements.lock",
    "backend/hatch_build.py",
    "agent/Cargo.lock",
    "agent/native",
    "agent/solver",
    "agent/tail",
)


@dataclass(frozen=True)
class Checkout:
    """Link to the code that programs run: first that of the release before, after `switch` this one."""

    link: Path
    migration: str

    @property
    def python(self) -> str:
        """Return the path of Python through the link, so that a program that starts again runs the code linked then."""
        return str(self.link / "backend" / ".venv" / "bin" / "python")

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which the linked code is imported."""
        return os.environ | {"PYTHONPATH": str(self.link / "backend")}

    def switch(self) -> None:
        """Link the present code, as a pull does."""
        fresh = self.link.with_suffix(".new")
        fresh.symlink_to(ROOT)
        fresh.rename(self.link)


def previous_commit() -> str:
    """Return PREVIOUS, the newest tag, or the newest commit whose newest migration is another.

    Exits when there is none, or when this version cannot upgrade from the one that is named.
    """
    if wanted := os.environ.get("PREVIOUS"):
        return _upgradable(_git("rev-parse", "--verify", f"{wanted}^{{commit}}"))
    if tags := _git("tag", "--merged", "HEAD", "--sort=-creatordate").split():
        return _upgradable(_git("rev-parse", f"{tags[0]}^{{commit}}"))
    for commit in _git("log", "--first-parent", "--format=%H", "HEAD", "--", "migrations/versions").split():
        if newest_migration(f"{commit}^") != newest_migration("HEAD"):
            return _upgradable(_git("rev-parse", f"{commit}^"))
    sys.exit("no commit has another migration: name a release with PREVIOUS=")


def _upgradable(commit: str) -> str:
    """Return the commit; exit if this version cannot upgrade from its newest migration."""
    if (migration := newest_migration(commit)) < migrate.BASELINE:
        sys.exit(
            f"{commit[:12]} has the migration {migration}; this version upgrades from {migrate.BASELINE} or newer."
            f" Name a newer one with PREVIOUS=, such as {migrate.LAST_WITH_EARLIER}."
        )
    return commit


def newest_migration(commit: str) -> str:
    """Return the name of the newest migration of a commit, which may differ from the name of its file."""
    files = _git("ls-tree", "--name-only", commit, "migrations/versions/").split()
    content = _git("show", f"{commit}:{max(name for name in files if name.endswith('.py'))}")
    return content.partition('\nrevision: str = "')[2].partition('"')[0]


@contextmanager
def checked_out(commit: str) -> Iterator[Checkout]:
    """Yield the code of a commit with its environment: that of this checkout where the dependencies are the same."""
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-previous-") as name:
        folder = Path(name) / "previous"
        _git("worktree", "add", "--detach", str(folder), commit)
        try:
            changed = subprocess.run(["git", "diff", "--quiet", commit, "--", *_DEPENDENCIES], cwd=ROOT).returncode
            if changed:
                subprocess.run([sys.executable, "infra/toolchain/prepare.py", "backend"], cwd=folder, check=True)
            else:
                (folder / "backend" / ".venv").symlink_to(ROOT / "backend" / ".venv")
                subprocess.run([sys.executable, "hatch_build.py"], cwd=folder / "backend", check=True)
            link = Path(name) / "current"
            link.symlink_to(folder)
            yield Checkout(link, newest_migration(commit))
        finally:
            _git("worktree", "remove", "--force", str(folder))


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


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
