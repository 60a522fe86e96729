"""A connection is bounded in what it may send and how long: heads without end, slow heads, slow bodies."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sinemora.kit.http import connection
from sinemora.kit.http.connection import HEAD_BYTES, LimitedConnection
from sinemora.main import server as api_server
from tests.terminal import api, serving

LONG = b"a" * 16_000_000  # more than the kernel keeps for a caller
GET = b"GET / HTTP/1.1\r\nHost: here\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n"
BODY = 1_000_000


async def body_length(scope, receive, send) -> None:
    """Respond with the length of the body, when it has come; for GET without reading one."""
    if scope["type"] != "http":
        return
    taken, more = 0, scope["method"] == "POST"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        taken, more = taken + len(message["body"]), message["more_body"]
    content = LONG if scope["path"] == "/long" else str(taken).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(content))]})
    await send({"type": "http.response.body", "body": content})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Yield the address of a server whose limits of time are short, apart from that of a head."""
    monkeypatch.setattr(connection, "BODY_S", 0.6)
    monkeypatch.setattr(connection, "ANSWER_S", 0.4)
    with serving(api(body_length, http=LimitedConnection, lifespan="off", timeout_keep_alive=1)) as found:
        yield found


def answer(caller: socket.socket) -> bytes:
    """Return all that is received until the server closes the connection."""
    caller.settimeout(10)
    received = b""
    try:
        while part := caller.recv(65_536):
            received += part
    except ConnectionResetError:  # closed while this end still sent
        pass
    return received


def problem(received: bytes) -> tuple[int, str]:
    """Return the status and the code of the last response."""
    head, _, body = received.rpartition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), json.loads(body)["code"]


CHUNKED = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (GET, b"X-A: " + b"a" * 8000 + b"\r\n"),
        (CHUNKED + b"1;", b"a" * 8000),
        (CHUNKED + b"0\r\nX: ", b"a" * 8000),
        (CHUNKED + b"0\r\n", b"X: a\r\n" * 1000),
        (b"", GET.replace(b"/ ", b"/long ") + b"\r\n"),
    ],
    ids=["head", "extension of a chunk", "trailer", "trailers", "requests in a row"],
)
def test_what_has_no_end_is_refused_before_it_fills_the_memory(address: tuple[str, int], begun: bytes, more: bytes):
    with socket.create_connection(address) as caller:
        caller.settimeout(10)
        caller.sendall(begun)
        sent = 0
        try:
            while sent < 200 * HEAD_BYTES:
                caller.sendall(more)
                sent += len(more)
        except OSError:
            pass
        assert sent < 200 * HEAD_BYTES


def test_a_caller_who_does_not_read_is_disconnected(address: tuple[str, int]):
    with socket.create_connection(address) as caller:
        caller.sendall(GET.replace(b"/ ", b"/long ") + b"\r\n")
        time.sleep(2)
        assert len(answer(caller)) < len(LONG)  # the rest is dropped


@pytest.mark.parametrize("pieces", [1, 20])
@pytest.mark.parametrize(("length", "status"), [(HEAD_BYTES - 200, 200), (HEAD_BYTES + 1, 431)])
def test_a_head_has_a_length(address: tuple[str, int], length: int, pieces: int, status: int):
    head = GET + b"Connection: close\r\nX-A: " + b"a" * length + b"\r\n\r\n"
    with socket.create_connection(address) as caller:
        for at in range(0, len(head), len(head) // pieces + 1):
            with suppress(BrokenPipeError):  # it is refused before its last piece
                caller.sendall(head[at : at + len(head) // pieces + 1])
            time.sleep(0.005)
        received = answer(caller)
    assert received.startswith(b"HTTP/1.1 %d" % status)
    assert status == 200 or problem(received) == (431, "head_too_large")


@pytest.mark.parametrize("begun", [b"GET ", GET, POST, POST + b"a"])
def test_a_request_that_drips_is_ended(address: tuple[str, int], begun: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "HEAD_S", 0.4)
    began_s = time.monotonic()
    with socket.create_connection(address) as caller:
        caller.sendall(begun)
        for _ in range(40):
            time.sleep(0.05)
            try:
                caller.sendall(b"a")
            except OSError:
                break
        received = answer(caller)
    assert time.monotonic() - began_s < 5
    assert received == b"" or problem(received) == (408, "request_too_slow")


@pytest.mark.parametrize("sent", [b"HELLO\r\n\r\n", GET + b"Host: there\r\n\r\n"])
def test_what_is_not_http_is_refused_in_words(address: tuple[str, int], sent: bytes):
    with socket.create_connection(address) as caller:
        caller.sendall(sent)
        assert problem(answer(caller)) == (400, "bad_request")


def test_an_idle_connection_is_closed(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "HEAD_S", 0.4)
    with socket.create_connection(address) as caller:
        assert answer(caller) == b""


def test_a_body_that_keeps_coming_has_time_for_its_length(address: tuple[str, int]):
    with socket.create_connection(address) as caller:
        caller.sendall(POST)
        for _ in range(20):
            caller.sendall(b"a" * (BODY // 20))
            time.sleep(0.06)
        caller.settimeout(10)
        assert caller.recv(1000).startswith(b"HTTP/1.1 200")


def test_requests_in_a_row_are_answered_in_order(address: tuple[str, int]):
    three = b"".join(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (n, b"a" * n) for n in (1, 2, 3))
    with socket.create_connection(address) as caller:
        caller.sendall(three)
        received = answer(caller)
    lengths = [part.split(b"\r\n\r\n")[1] for part in received.split(b"HTTP/1.1 200")[1:]]
    assert lengths == [b"1", b"2", b"3"]


def test_the_api_has_these_limits_and_no_way_around_them():
    config = api_server().config
    config.load()
    assert (config.http, config.ws_protocol_class) == (LimitedConnection, None)
