"""Output of the logs of all processes, each line with the name of its process."""

import time
from pathlib import Path

from sinemora.operations.embedded.errors import EmbeddedError

_TAIL_BYTES = 4096
_PAUSE_S = 0.3


def follow(folder: Path, names: list[str], *, endless: bool = True) -> int:
    """Print the end of each log, then new lines until Ctrl-C. Rotated and new files are included.

    Raises EmbeddedError for an unknown log.
    """
    _require(folder, names)
    read_to: dict[Path, int] = {}
    width = 8
    while True:
        logs = sorted(path for path in folder.glob("*.log") if not names or path.stem in names)
        width = max([width, *(len(path.stem) for path in logs)])
        for path in logs:
            for line in _new_lines(path, read_to):
                print(f"{path.stem:<{width}} | {line}", flush=True)
        if not endless:
            return 0
        time.sleep(_PAUSE_S)


def _require(folder: Path, names: list[str]) -> None:
    known = sorted(path.stem for path in folder.glob("*.log")) if folder.is_dir() else []
    if not known:
        raise EmbeddedError(f"There are no logs in {folder}.", "Start the product first: make up")
    if unknown := [name for name in names if name not in known]:
        raise EmbeddedError(f"There is no log of {', '.join(unknown)}.", f"There are: {', '.join(known)}")


def _new_lines(path: Path, read_to: dict[Path, int]) -> list[str]:
    """Return the complete lines added since the last call; at first those of the last few kilobytes."""
    size = path.stat().st_size
    first = path not in read_to
    start = max(0, size - _TAIL_BYTES) if first else read_to[path]
    if start > size:  # rotated: emptied in place
        start = 0
    with path.open("rb") as log:
        log.seek(start)
        fresh = log.read()
    complete = fresh.rfind(b"\n") + 1
    read_to[path] = start + complete
    lines = fresh[:complete].decode(errors="replace").splitlines()
    return lines[1:] if first and start > 0 else lines
