"""The release before this one: its commit, and its code with a Python environment, below a link that is switched."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sinemora import migrate

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
    commit: str
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
            yield Checkout(link, commit, newest_migration(commit))
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
