"""Where reports come in: taken and acknowledged before the framework looks at them, for nothing comes more often.

Whatever is not acknowledged at once is answered as everywhere else: refusals as problem details by the edge, and what
this door does not understand by the route of the same address, which says in OpenAPI what is taken here.
"""

import os
import re
import time
from types import SimpleNamespace

from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sinemora.inventory.agents import identify
from sinemora.kit import tracing
from sinemora.kit.errors import ProductError, problem
from sinemora.kit.http_middleware import REQUEST_ID, HttpMiddleware, security_headers
from sinemora.kit.telemetry import REQUEST_SECONDS, REQUESTS

PATH = "/v1/agents/self/reports"
_ROUTE = SimpleNamespace(path=PATH)


class ReportMiddleware:
    """ASGI middleware around the whole API."""

    def __init__(self, app: ASGIApp, *, hsts: bool, body_limit_bytes: int) -> None:
        self.app = app
        self.hsts = hsts
        self.body_limit_bytes = body_limit_bytes
        self._security = [(name.lower().encode(), value.encode()) for name, value in security_headers(hsts).items()]
        self._answered = REQUESTS.labels("POST", PATH, "204")
        self._seconds = REQUEST_SECONDS.labels("POST", PATH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST" or tracing.is_on():
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        said: dict[bytes, bytes] = dict(scope["headers"])
        scheme, _, credential = said.get(b"authorization", b"").partition(b" ")
        taken: list[Message] = []
        size, more = 0, scheme.lower() == b"bearer"
        known = more
        while more and size <= self.body_limit_bytes:
            taken.append(await receive())
            size += len(taken[-1].get("body", b""))
            more = taken[-1].get("more_body", False)
        if not known or size > self.body_limit_bytes or taken[-1]["type"] != "http.request":
            await self.app(scope, _again(taken, receive), send)
            return
        body = taken[0]["body"] if len(taken) == 1 else b"".join(one.get("body", b"") for one in taken)
        media_type = said.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        encoding = said.get(b"content-encoding", b"").strip().lower().decode("latin-1")
        try:
            agent = await identify(credential.strip().decode("latin-1"))
            skipped = await scope["app"].state.ingest.take(agent, body, media_type, encoding)
        except ProductError as error:
            await self._refuse(error, scope, receive, send)
            return
        except SQLAlchemyError:  # the route will fail alike, and knows how to say it
            await self.app(scope, _again(taken, receive), send)
            return
        headers = [(b"x-request-id", _request_id(said)), *self._security]
        if skipped:
            headers.append((b"sinemora-skipped-windows", str(skipped).encode()))
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        self._answered.inc()
        self._seconds.observe(time.perf_counter() - started)

    async def _refuse(self, error: ProductError, scope: Scope, receive: Receive, send: Send) -> None:
        async def refusal(scope: Scope, receive: Receive, send: Send) -> None:
            await problem(Request(scope), error)(scope, receive, send)

        scope["route"] = _ROUTE
        edge = HttpMiddleware(refusal, hsts=self.hsts, body_limit_bytes=self.body_limit_bytes)
        await edge(scope, receive, send)


def _request_id(said: dict[bytes, bytes]) -> bytes:
    offered = said.get(b"x-request-id", b"")
    return offered if re.fullmatch(REQUEST_ID, offered.decode("latin-1")) else os.urandom(16).hex().encode()


def _again(taken: list[Message], receive: Receive) -> Receive:
    """What was received is received once more, then the rest."""
    waiting = iter(taken)

    async def again() -> Message:
        for message in waiting:
            return message
        return await receive()

    return again
