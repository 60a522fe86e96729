"""Measures the memory of the API while strangers send requests that do not end, or do not read the answers."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

_GET = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
_DOCUMENT = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
_SIGN_IN = b"POST /v1/auth/sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
_CHUNKED = _SIGN_IN + b"Transfer-Encoding: chunked\r\n\r\n"
_WEBSOCKET = (
    _GET + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
_FILL = b"a" * 8_000
_SAMPLE_S = 0.02

KINDS: dict[str, tuple[int, bytes, bytes, float]] = {
    "a head of one field": (1, _GET + b"X: ", _FILL, 0),
    "a head of many fields": (1, _GET, b"X: a\r\n" * 1_000, 0),
    "an address": (1, b"GET /", _FILL, 0),
    "a body": (1, _SIGN_IN + b"Content-Length: 1000000000000\r\n\r\n", _FILL, 0),
    "a body of chunks": (1, _CHUNKED, b"1f40\r\n" + _FILL + b"\r\n", 0),
    "an extension of a chunk": (1, _CHUNKED + b"1;", _FILL, 0),
    "a trailer": (1, _CHUNKED + b"0\r\nX: ", _FILL, 0),
    "many trailers": (1, _CHUNKED + b"0\r\n", b"X: a\r\n" * 1_000, 0),
    "messages of a WebSocket": (1, _WEBSOCKET, b"\x82\x7e\x1f\x40" + _FILL, 0),
    "requests without reading the answers": (20, b"", _GET + b"\r\n", 0),
    "heads that drip": (200, _GET + b"X: ", b"a", 0.5),
    "bodies that drip": (200, _SIGN_IN + b"Content-Length: 16000\r\n\r\n" + _FILL, b"a", 0.5),
    "documents that are not read": (200, _DOCUMENT, b"", 0.5),
    "documents in a row that are not read": (20, _DOCUMENT * 500, b"", 0.5),
    "connections without a request": (500, b"", b"", 0.5),
}
"""Requests by name: number of connections, what each begins with, what it repeats, and the pause between repeats, s."""


def growth_mb(port: int, rss_kb: Callable[[], int], kind: str, seconds: float) -> float:
    """Send one kind of requests for `seconds`. Return the most memory of the API above that before, MB."""
    count, begin, more, pause_s = KINDS[kind]
    before = most = rss_kb()
    until_s = time.monotonic() + seconds
    work = (port, begin, more, pause_s, until_s)
    senders = [threading.Thread(target=_send, args=work, daemon=True) for _ in range(count)]
    for sender in senders:
        sender.start()
    while any(sender.is_alive() for sender in senders):
        most = max(most, rss_kb())
        time.sleep(_SAMPLE_S)
    return (most - before) / 1_000


def _send(port: int, begin: bytes, more: bytes, pause_s: float, until_s: float) -> None:
    with suppress(OSError), socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        caller.settimeout(1)
        caller.connect(("127.0.0.1", port))
        caller.sendall(begin)
        while time.monotonic() < until_s:
            with suppress(TimeoutError):
                caller.sendall(more)
            time.sleep(pause_s)
