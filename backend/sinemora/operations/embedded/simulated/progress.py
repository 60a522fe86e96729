"""Progress on standard error: a bar on a terminal, otherwise a line for each tenth."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


@contextmanager
def shown(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show the progress of `total` steps; call the result with the number of steps done since the last call."""
    if sys.stderr.isatty():
        with typer.progressbar(length=total, label=title, file=sys.stderr) as bar:
            yield bar.update
        return
    done = tenths = 0

    def update(steps: int) -> None:
        nonlocal done, tenths
        done += steps
        if total and done * 10 // total > tenths:
            tenths = done * 10 // total
            say(f"{title}: {min(tenths, 10) * 10} %")

    yield update


def say(what: str) -> None:
    """Print a line on standard error."""
    print(what, file=sys.stderr, flush=True)
