"""Processes that tests start, as the machine sees them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil


@contextmanager
def away(server: Any) -> Iterator[None]:
    """Stop a server, and start it again at the end."""
    server.stop()
    try:
        yield
    finally:
        server.start()


def is_alive(pid: int) -> bool:
    """Return whether a process runs. One that has ended stays in the table until its parent asks for it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def mentioning(text: str) -> list[str]:
    """Return the command lines of the processes that have a text in it, or in the path of their folder."""
    shown = (
        f"{' '.join(one.info['cmdline'] or ())} {one.info['cwd']}" for one in psutil.process_iter(["cmdline", "cwd"])
    )
    return [each for each in shown if text in each]
