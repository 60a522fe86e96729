"""Product for tests of commands: an API on loopback, and a client with a separate key."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
import uvicorn

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


@contextmanager
def listening(owner: Member) -> Iterator[Client]:
    """Yield a client of `owner` that may read and write while the API runs."""
    body = {"name": "terminal", "scopes": ["read", "write"], "expires_at": in_a_month()}
    key = owner.created("/v1/api-keys", body)
    server = uvicorn.Server(uvicorn.Config(create_app(), host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, "the start of the server")
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Client(f"http://127.0.0.1:{port}", key["secret"])
    server.should_exit = True
    thread.join(WAIT_MOST_S)
