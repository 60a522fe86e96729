"""When the client repeats a request: against a server on a socket that fails on purpose."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler

import pytest

from sinemora_client import ApiError, Client, Retries, ServerError, TooManyRequests, Unreachable
from tests.http_server import Answer, answering


@dataclass
class Flaky:
    """Server that answers with each of `answers` in turn: a status with `Retry-After`, or None to break off."""

    url: str = ""
    answers: list[tuple[int, str | None] | None] = field(default_factory=list)
    received: list[tuple[str, str, str | None]] = field(default_factory=list)


@pytest.fixture
def flaky() -> Iterator[Flaky]:
    """A server that fails on purpose."""
    state = Flaky()

    def answer(request: BaseHTTPRequestHandler, _body: bytes) -> Answer | None:
        state.received.append((request.command, request.path, request.headers.get("Idempotency-Key")))
        found = state.answers.pop(0) if state.answers else (200, None)
        if found is None:
            return None
        status, wait = found
        content = json.dumps({"id": "m"} if status == 200 else {"code": "c", "detail": "No."}).encode()
        media_type = "application/json" if status == 200 else "application/problem+json"
        return status, {"Content-Type": media_type} | ({} if wait is None else {"Retry-After": wait}), content

    with answering(answer) as port:
        state.url = f"http://127.0.0.1:{port}"
        yield state


@pytest.fixture
def waits() -> list[float]:
    """Waits of the client, which it does not spend."""
    return []


@pytest.fixture
def client(flaky: Flaky, waits: list[float]) -> Iterator[Client]:
    """A client that notes its waits."""
    with Client(flaky.url, "sm_x", retries=Retries(attempts=3, sleep=waits.append)) as connected:
        yield connected


def test_it_waits_as_long_as_it_is_told(client: Client, flaky: Flaky, waits: list[float]):
    flaky.answers = [(429, "7"), (503, formatdate(time.time() + 20, usegmt=True))]
    assert client.read_mesh("m")["id"] == "m"
    assert waits[0] == 7
    assert 15 < waits[1] <= 20
    assert len(flaky.received) == 3


def test_a_longer_wait_is_the_callers(client: Client, flaky: Flaky, waits: list[float]):
    flaky.answers = [(429, "900")]
    with pytest.raises(TooManyRequests) as refused:
        client.read_mesh("m")
    assert refused.value.retry_after_s == 900
    assert waits == []


def test_it_gives_up(client: Client, flaky: Flaky, waits: list[float]):
    flaky.answers = [(503, "1")] * 3
    with pytest.raises(ServerError, match=r"503: No\."):
        client.read_mesh("m")
    assert waits == [1, 1]


def test_a_post_is_repeated_with_its_key(client: Client, flaky: Flaky):
    flaky.answers = [None, (502, None)]
    client.create_mesh({"name": "m"})
    keys = {key for _, _, key in flaky.received}
    assert len(flaky.received) == 3
    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize("lost", [None, (502, None), (504, "1")])
def test_a_change_whose_answer_is_lost_is_not_repeated(client: Client, flaky: Flaky, lost: tuple[int, str] | None):
    flaky.answers = [lost]
    with pytest.raises((Unreachable, ApiError)):
        client.update_mesh("m", {"rate_hz": 8}, version=3)
    assert len(flaky.received) == 1


def test_a_change_that_was_refused_for_now_is_repeated(client: Client, flaky: Flaky, waits: list[float]):
    flaky.answers = [(503, "2")]
    client.update_mesh("m", {"rate_hz": 8}, version=3)
    assert waits == [2]


@pytest.mark.parametrize("status", [400, 409, 500])
def test_other_refusals_stand(client: Client, flaky: Flaky, waits: list[float], status: int):
    flaky.answers = [(status, None)]
    with pytest.raises(ApiError) as refused:
        client.read_mesh("m")
    assert refused.value.status == status
    assert waits == []
