"""Skips a build whose inputs have not changed: a stamp holds the hash of the inputs' names and contents.

It also lists what the build left there, so that a build with a deleted part runs again.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from common import ROOT, TOOLS

_SKIPPED = {"node_modules", "target", "dist", "__pycache__", ".venv", "results"}
_GENERATED = ".gen.ts"  # a build may write it among its inputs


def fingerprint(inputs: Iterable[Path], *facts: str) -> str:
    """Return the hash of all files under `inputs` (missing ones count as absent) and of `facts`, such as versions.

    Generated files do not count: they follow from others.
    """
    digest = hashlib.sha256("\0".join(facts).encode())
    for path in sorted(file for given in inputs for file in _files(given)):
        digest.update(f"\0{path.relative_to(ROOT)}\0{path.stat().st_mode & 0o111}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def unless_unchanged(name: str, now: str, outputs: Sequence[Path], build: Callable[[], None]) -> str:
    """Run `build` unless all of `outputs` is there and from the same fingerprint; returns a note for the step."""
    if unchanged(name, now, outputs):
        return "unchanged"
    stamp = _stamp(name)
    stamp.unlink(missing_ok=True)
    build()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    contents = sorted({str(path.relative_to(ROOT)) for output in outputs for path in _contents(output)})
    stamp.write_text("\n".join([now, *contents]) + "\n", "utf-8")
    return ""


def unchanged(name: str, now: str, outputs: Sequence[Path]) -> bool:
    """Return True when all of `outputs` is there and was built from the fingerprint `now`."""
    return intact(name) and _lines(name)[0] == now and all(output.exists() for output in outputs)


def intact(name: str) -> bool:
    """Return True when the last build was completed and nothing was deleted from its outputs since."""
    return len(lines := _lines(name)) > 1 and all((ROOT / line).exists() for line in lines[1:])


def _lines(name: str) -> list[str]:
    """Return the fingerprint of a stamp and then the contents of the outputs; empty without a stamp."""
    stamp = _stamp(name)
    return stamp.read_text("utf-8").splitlines() if stamp.exists() else []


def _stamp(name: str) -> Path:
    return TOOLS / "stamps" / name


def _contents(output: Path, depth: int = 2) -> Iterable[Path]:
    """Return an output and what is in it: a package with a scope is a folder in a folder."""
    if output.exists() and output.name != "__pycache__":
        yield output
        if depth and output.is_dir() and not output.is_symlink():
            for path in output.iterdir():
                yield from _contents(path, depth - 1)


def _files(path: Path) -> Iterable[Path]:
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if name not in _SKIPPED]
        yield from (Path(folder) / file for file in files if not file.endswith(_GENERATED))
