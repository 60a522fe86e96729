"""A path between network namespaces, over which bursts are sent."""

import ctypes
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sinemora.advisors.shaping import burst
from tests.advisors.shaping.row import Row, inside, missing, row

_CLONE_NEWNET = 0x40000000


@pytest.fixture(scope="session")
def namespaces() -> Iterator[Row]:
    """Three namespaces in a row, and a receiver of bursts in the last."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with row() as made, receiving(made):
        yield made


@pytest.fixture
def path(namespaces: Row) -> Row:
    """The row without what an earlier test shaped."""
    namespaces.shape()
    namespaces.shape_entry()
    return namespaces


@contextmanager
def receiving(path: Row) -> Iterator[None]:
    command = inside(path.receiver, sys.executable, "-c", "from sinemora.cli import main; main()", "advise")
    with subprocess.Popen([*command, "burst-receiver"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


@pytest.fixture
def from_sender(path: Row, monkeypatch: pytest.MonkeyPatch) -> Row:
    """Send bursts from the sender's namespace, which belongs to a thread: the API is outside of it."""
    for name in ("send", "send_mixed"):
        monkeypatch.setattr(burst, name, _inside(path.sender, getattr(burst, name)))
    return path


def _inside(namespace: str, action: Callable[..., Any]) -> Callable[..., Any]:
    """Return an action that runs in a thread of a namespace."""

    def called(*arguments: Any) -> Any:
        results: list[Any] = []

        def run() -> None:
            with Path(f"/run/netns/{namespace}").open("rb") as handle:
                assert ctypes.CDLL(None).setns(handle.fileno(), _CLONE_NEWNET) == 0
            results.append(action(*arguments))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return results[0]

    return called
