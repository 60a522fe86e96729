"""The outermost layer of every HTTP answer: request id, metrics, security headers, and no failure without a body."""

import logging
import os
import re
import time
from functools import lru_cache
from typing import Any

import structlog
from fastapi import Request
from prometheus_client import Counter, Histogram
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sinemora.kit import tracing
from sinemora.kit.errors import internal_error, problem
from sinemora.kit.telemetry import REQUEST_SECONDS, REQUESTS

log = structlog.get_logger(__name__)
_logger = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

# An API answers data, never pages: nothing in it may run, frame or load anything.
_API_POLICY = "default-src 'none'; frame-ancestors 'none'"
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def security_headers(hsts: bool) -> dict[str, str]:
    """What every answer says to browsers unless it says otherwise."""
    said = {**_SECURITY, "Content-Security-Policy": _API_POLICY, "Cache-Control": "no-store"}
    return {**said, "Strict-Transport-Security": "max-age=31536000"} if hsts else said


class HttpMiddleware:
    """ASGI middleware. Handlers may leave headers for the answer in `request.state.answer_headers`.

    Bodies of the paths that `larger` matches may be as long as it says.
    """

    def __init__(
        self, app: ASGIApp, *, hsts: bool, body_limit_bytes: int, larger: tuple[re.Pattern[str], int] | None = None
    ) -> None:
        self.app = app
        self._security = [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in security_headers(hsts).items()
        ]
        self.body_limit_bytes = body_limit_bytes
        self.larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        answer_headers: dict[str, str] = {}
        state["answer_headers"] = answer_headers
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        if tracing.is_on():
            tracing.note(**{"sinemora.request_id": request_id})
        started = time.perf_counter()
        begun = False
        taken_bytes = 0
        limit_bytes = self.body_limit_bytes
        if self.larger is not None and self.larger[0].fullmatch(scope["path"]):
            limit_bytes = self.larger[1]

        async def take() -> Message:
            nonlocal taken_bytes
            message = await receive()
            taken_bytes += len(message.get("body", b""))
            if taken_bytes > limit_bytes:
                # The one exception FastAPI lets through while it reads a body.
                raise HTTPException(413, f"A body may be {limit_bytes} bytes long.")
            return message

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._add_headers(message, request_id, answer_headers)
                self._count(scope, message["status"], time.perf_counter() - started)
            await send(message)

        try:
            await self.app(scope, take, answer)
        except Exception:
            log.exception("request failed", method=scope["method"], path=scope["path"])
            if begun:
                raise  # half an answer is out: only breaking the connection says so
            await problem(Request(scope, receive), internal_error())(scope, receive, answer)

    def _add_headers(self, message: Message, request_id: str, answer_headers: dict[str, str]) -> None:
        raw = message["headers"] = list(message.get("headers", ()))
        present = {name for name, _ in raw}
        raw.append((b"x-request-id", request_id.encode("latin-1")))
        raw += [header for header in self._security if header[0] not in present]
        if answer_headers:
            headers = MutableHeaders(raw=raw)
            for name, value in answer_headers.items():
                headers[name] = value

    @staticmethod
    def _count(scope: Scope, status: int, seconds: float) -> None:
        # The route's template, never the path: a label per id would never stop growing.
        route = getattr(scope.get("route"), "path", "unknown")
        requests, request_seconds = _metrics_of(scope["method"], route, status)
        requests.inc()
        request_seconds.observe(seconds)
        if _logger.isEnabledFor(logging.DEBUG):
            log.debug(
                "answered", method=scope["method"], path=scope["path"], status=status, duration_s=round(seconds, 4)
            )


@lru_cache(maxsize=4096)
def _metrics_of(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(method, route, str(status)), REQUEST_SECONDS.labels(method, route)


def _request_id(scope: Scope) -> str:
    """Return the `X-Request-Id` of a request when it is well formed, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and REQUEST_ID.fullmatch(value.decode("latin-1")):
            return str(value.decode("latin-1"))
    return os.urandom(16).hex()
