"""Skips a build whose inputs have not changed: a stamp holds the hash of the inputs' names and contents."""

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from common import ROOT, TOOLS

_SKIPPED = {"node_modules", "target", "dist", "__pycache__", ".venv", "results"}


def fingerprint(inputs: Iterable[Path], *facts: str) -> str:
    """Return the hash of all files under `inputs` (missing ones count as absent) and of `facts`, such as versions."""
    digest = hashlib.sha256("\0".join(facts).encode())
    for path in sorted(file for given in inputs for file in _files(given)):
        digest.update(f"\0{path.relative_to(ROOT)}\0{path.stat().st_mode & 0o111}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def unless_unchanged(name: str, now: str, output: Path, build: Callable[[], None]) -> str:
    """Run `build` unless `output` exists and was built from the same fingerprint; returns a note for the step."""
    stamp = TOOLS / "stamps" / name
    if unchanged(name, now, output):
        return "unchanged"
    stamp.unlink(missing_ok=True)
    build()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(now, "utf-8")
    return ""


def unchanged(name: str, now: str, output: Path) -> bool:
    """Return True when `output` exists and was built from the fingerprint `now`."""
    stamp = TOOLS / "stamps" / name
    return output.exists() and stamp.exists() and stamp.read_text("utf-8") == now


def _files(path: Path) -> Iterable[Path]:
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if name not in _SKIPPED]
        yield from (Path(folder) / file for file in files)
