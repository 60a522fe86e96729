"""SIGHUP replaces the API: its process stays, its program starts again, and no connection is refused meanwhile."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import api_clients
from tests.api_clients import Member
from tests.waits import WAIT_MOST_S, until


@pytest.fixture(scope="module")
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replaced") / "api.log"


@pytest.fixture(scope="module")
def api(servers: Any, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield an API that all tests replace; the last one ends it."""
    env = os.environ | {"SINEMORA_PORT": str(port)}
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "sinemora.cli", "serve"], env=env, stdout=out, stderr=out)
    until(lambda: status(port) == 200, log.read_text)
    yield process
    if process.poll() is None:
        process.terminate()
    process.wait(WAIT_MOST_S)


def status(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=WAIT_MOST_S) as response:
            return int(response.status)
    except (urllib.error.URLError, ConnectionError):
        return 0


def stack_of(process: subprocess.Popen[bytes]) -> str:
    """Return the address of the stack, which each program of a process gets anew."""
    lines = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    return next((line.split()[0] for line in lines if line.endswith("[stack]")), "")


def test_no_connection_is_refused_while_the_api_is_replaced(api: subprocess.Popen[bytes], port: int):
    answered: list[int] = []
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            answered.append(status(port))
            time.sleep(0.02)

    asking = threading.Thread(target=ask)
    asking.start()
    before = stack_of(api)
    api.send_signal(signal.SIGHUP)
    until(lambda: stack_of(api) not in (before, ""), "the next program")
    count = len(answered)
    until(lambda: len(answered) > count + 20, "answers of the next program")
    assert api.poll() is None
    ended.set()
    asking.join()
    assert set(answered) == {200}


def test_a_live_stream_ends_when_the_api_is_replaced(api: subprocess.Popen[bytes], port: int, owner: Member, log: Path):
    mesh = api_clients.make_mesh(owner, 2)
    reader = api_clients.limited_key(owner, [mesh.id], "read")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/meshes/{mesh.id}/live", headers=reader.headers)
    with urllib.request.urlopen(request, timeout=WAIT_MOST_S) as stream:
        while b": listening" not in stream.readline():
            pass
        before = stack_of(api)
        api.send_signal(signal.SIGHUP)
        stream.read()
    until(lambda: stack_of(api) not in (before, ""), "the next program")
    said = log.read_text()
    assert "Traceback" not in said
    assert "graceful shutdown exceeded" not in said


def test_sigterm_still_ends_it(api: subprocess.Popen[bytes], port: int):
    until(lambda: status(port) == 200, "the program of the test before")
    api.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    api.terminate()
    assert api.wait(WAIT_MOST_S) in (0, -signal.SIGTERM)
