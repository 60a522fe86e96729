"""Product for tests of commands: an API on loopback, and a client with a separate key."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import uvicorn

from sinemora.cli import main
from sinemora.jobs import executor
from sinemora.jobs.dispatch import TASKS
from sinemora.main import create_app
from sinemora_client import Client
from tests.api_clients import Member
from tests.expiry import in_a_month
from tests.waits import WAIT_MOST_S, until


def run_jobs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a thread run each job when it is sent, in place of a worker."""

    def send(kwargs: dict[str, str], **_: object) -> None:
        threading.Thread(target=executor.run, args=(UUID(kwargs["tenant_id"]), UUID(kwargs["job_id"]))).start()

    for task in TASKS.values():
        monkeypatch.setattr(task, "apply_async", send)


def api(app: Any = None, **more: Any) -> uvicorn.Server:
    """Return a server of the API, or of another application, that does not wait for open requests when it ends."""
    return uvicorn.Server(
        uvicorn.Config(app or create_app(), log_level="warning", log_config=None, timeout_graceful_shutdown=1, **more)
    )


@contextmanager
def serving(server: uvicorn.Server) -> Iterator[tuple[str, int]]:
    """Run a server in a thread on a free port; yield its address, and end it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        until(lambda: server.started, "the start of the server")
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join(WAIT_MOST_S)
        assert not thread.is_alive()


@contextmanager
def listening(owner: Member) -> Iterator[Client]:
    """Yield a client of `owner` that may read and write while the API runs."""
    body = {"name": "terminal", "scopes": ["read", "write"], "expires_at": in_a_month()}
    key = owner.created("/v1/api-keys", body)
    with serving(api()) as (host, port):
        yield Client(f"http://{host}:{port}", key["secret"])


def commands(capsys: pytest.CaptureFixture[str], client: Client | None = None) -> Callable[..., str]:
    """Return a function that runs a command and returns its output; of one that ends with `code`, its errors.

    `errors`: return these also of a command that ends well. With a client, commands have its address and key.
    """
    options = [] if client is None else ["--url", client.url, "--key", client.key]

    def run(*arguments: str, code: int = 0, errors: bool = False) -> str:
        capsys.readouterr()
        ended = main([*arguments, *options])
        printed = capsys.readouterr()
        assert ended == code, printed
        return printed.err if code or errors else printed.out

    return run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """See `commands`."""
    return commands(capsys)


@pytest.fixture
def connected(owner: Member) -> Iterator[Client]:
    """A client of `owner`, see `listening`."""
    with listening(owner) as client:
        yield client


@pytest.fixture
def online(connected: Client, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """See `commands`: with the address and key of `connected`."""
    return commands(capsys, connected)
