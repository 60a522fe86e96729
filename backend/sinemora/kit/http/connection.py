"""Connections of callers: what a caller may send and how long; long work ends when its caller has gone."""

import asyncio
import json
import random
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from anyio import from_thread
from fastapi import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sinemora.kit.config import settings
from sinemora.kit.errors import MEDIA_TYPE, CallerGone, ProductError, problem_of

CHECK_S = 0.25
"""Time between two looks at the connection, s: each waits for a turn of the event loop."""
HEAD_BYTES = 65_536
"""Length of the head of a request, bytes: the request line and the header fields."""
HEAD_S = 10.0
"""Time from the first byte of a head to its end, s."""
BODY_S = 30.0
"""Time for a body, s, in addition to the time that its bytes take at `BODY_BYTES_PER_S`."""
BODY_BYTES_PER_S = 16_384
ANSWER_S = 30.0
"""Time after which a caller has read some of the answer that waits, `BODY_BYTES_PER_S` of it, s."""
WAITING_MAX = 32
"""Requests of one connection that wait for the answers of those before them."""


class LimitedConnection(HttpToolsProtocol):
    """Connection that refuses a head too long (431, RFC 6585 §5) and a caller too slow (408, RFC 9110 §15.5.9).

    Fields after a body are dropped (RFC 9112 §7.1.2). A caller who does not read the answer is disconnected.

    The HTTP parser keeps a head of any length in memory, and waits for its end for ever: a proxy in front may have
    limits, but the server is also reached without one. Time in which the server itself does not read is not counted.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = self._in_body = False
        self._unfinished_bytes = 0  # since a head began, or since the last part of a body
        self._body_bytes = 0
        self._since_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin: a connection on which no request begins is closed."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(HEAD_S, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """End: nothing is waited for any more."""
        self._stop_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait until the caller has read, but not for ever: the answer would stay in memory."""
        super().pause_writing()
        self._expect_reading(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Go on writing: the caller has read most of what waited."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def data_received(self, data: bytes) -> None:
        """Read what has come; wait for the rest of a request, but not for ever."""
        self._unfinished_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self._stop_timer()
            return
        if (self._in_head or self._in_body) and self._unfinished_bytes > HEAD_BYTES:
            self._refuse(_head_too_long())
        elif not self._in_head and not self._in_body:
            self._stop_timer()
        elif self._timer is None:
            self._since_s = self.loop.time()
            self._timer = self.loop.call_later(HEAD_S if self._in_head else BODY_S, self._look)

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._in_head, self._unfinished_bytes = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; drop one after the body."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head; the body follows."""
        self._stop_timer()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            self._refuse(_head_too_long())
        elif sum(name == b"host" for name, _ in self.headers) > 1:  # RFC 9112 §3.2
            self.send_400_response("It has more than one Host field.")
        elif len(self.pipeline) >= WAITING_MAX:
            self.transport.close()
        self._in_head, self._in_body, self._body_bytes, self._unfinished_bytes = False, True, 0, 0
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._body_bytes += len(body)
        self._unfinished_bytes = 0
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._in_body = False
        if not self.transport.is_closing():
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with a problem as every other refusal."""
        self._refuse(ProductError("bad_request", 400, f"Bad request: it cannot be parsed. {msg}"))

    def _expect_reading(self, waiting_bytes: int) -> None:
        def look() -> None:
            left_bytes = self.transport.get_write_buffer_size()
            if left_bytes > waiting_bytes - ANSWER_S * BODY_BYTES_PER_S:
                self.transport.abort()
            else:
                self._expect_reading(left_bytes)

        self._reading = self.loop.call_later(ANSWER_S, look)

    def _look(self) -> None:
        """Refuse the request when its time is over."""
        self._timer = None
        now_s = self.loop.time()
        if self._in_body and self.flow.read_paused:
            self._since_s, self._body_bytes = now_s, 0
        allowed_s = HEAD_S if self._in_head else BODY_S + self._body_bytes / BODY_BYTES_PER_S
        left_s = self._since_s + allowed_s - now_s
        if left_s > 0:
            self._timer = self.loop.call_later(left_s, self._look)
        else:
            self._refuse(_too_slow())

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: ProductError) -> None:
        """Close the connection, with a problem as the response unless one has begun or an earlier one is due."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        is_free = self.cycle is None or self.cycle.response_complete
        if self._in_body:
            is_free = not (self.cycle.response_started or self.pipeline)
        if is_free:
            body = {**problem_of(error, "/"), "request_id": f"{random.getrandbits(128):032x}"}
            content = json.dumps(body).encode()
            head = (
                f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + content)
        self.transport.close()


def server_options() -> dict[str, Any]:
    """Return Uvicorn's options of a server of the product.

    `X-Forwarded-For` and `X-Forwarded-Proto` count from configured proxies; Uvicorn believes all programs of a machine.
    """
    proxies = [str(network) for network in settings().proxies]
    return {
        "http": LimitedConnection,
        "ws": "none",  # its connections would have no limits
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "proxy_headers": bool(proxies),
        "forwarded_allow_ips": proxies,
        "timeout_graceful_shutdown": 3,  # long polls end before, downloads may take longer
        # Longer than the pause between two requests of a client: a request sent while the server closes is lost.
        "timeout_keep_alive": 75,
    }


def _head_too_long() -> ProductError:
    return ProductError(
        "head_too_large",
        431,
        f"Head too large: the address and all header fields of a request may have {HEAD_BYTES} bytes.",
    )


def _too_slow() -> ProductError:
    return ProductError(
        "request_too_slow",
        408,
        f"Request too slow: its head may take {HEAD_S:.0f} s, and its body {BODY_S:.0f} s and a second for each"
        f" {BODY_BYTES_PER_S} bytes.",
    )


def while_connected(request: Request) -> Callable[[], None]:
    """Return a check for the thread of an endpoint. It raises `CallerGone` once the caller has gone."""
    due = time.monotonic() + CHECK_S

    def check() -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        if from_thread.run(request.is_disconnected):
            raise CallerGone
        due = time.monotonic() + CHECK_S

    return check
