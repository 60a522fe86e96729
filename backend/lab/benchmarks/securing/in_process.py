"""The whole API in this process, called as a server calls it (ASGI), without sockets between."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import unquote_to_bytes

from fastapi import FastAPI

from lab.benchmarks.securing.bad_requests import BadRequest

ANSWER_S = 40.0
"""Longest wait for an answer; the database gives up a statement after 30 s."""


class InProcess:
    """Sends requests to an app and returns the status and body of its answers."""

    def __init__(self, app: FastAPI, state: dict[str, Any]) -> None:
        self.app = app
        self.state = state

    async def send(self, request: BadRequest, headers: list[tuple[str, str]]) -> tuple[int, bytes]:
        """Return the status and body of the answer; status 0 without an answer in `ANSWER_S`."""
        path, _, query = request.target.partition("?")
        raw = path.encode()
        names = {name for name, _ in request.headers}
        sent = [("host", "127.0.0.1"), *headers]
        fields = [one for one in sent if one[0] not in names] + request.headers
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote_to_bytes(raw).decode("utf-8", "replace"),
            "raw_path": raw,
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in fields],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": dict(self.state),
        }
        status, body, is_read = 0, bytearray(), False
        ended = asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal is_read
            if not is_read:
                is_read = True
                return {"type": "http.request", "body": request.body, "more_body": False}
            await ended.wait()
            return {"type": "http.disconnect"}

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if any(value.startswith(b"text/event-stream") for _, value in message["headers"]):
                    ended.set()  # a stream has no end: its reader leaves
            body.extend(message.get("body", b""))

        # A server does not cancel a request whose client left either: a thread may still use its transaction.
        answering = asyncio.ensure_future(self.app(scope, receive, answer))
        try:
            await asyncio.wait_for(asyncio.shield(answering), ANSWER_S)
        except TimeoutError:
            with suppress(Exception):
                await answering
            return 0, bytes(body)
        except Exception as error:  # what the middleware could not turn into an answer
            return 500, repr(error).encode()
        return status, bytes(body)


@asynccontextmanager
async def started(app: FastAPI) -> AsyncIterator[InProcess]:
    """Yield an app between its start and its stop."""
    async with app.router.lifespan_context(app) as state:
        yield InProcess(app, dict(state or {}))
