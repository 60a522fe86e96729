"""The outermost layer of every HTTP answer: request id, metrics, security headers, and no failure without a body."""

import re
import time
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

import structlog
from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sinemora.kit import tracing
from sinemora.kit.errors import internal_error, problem
from sinemora.kit.telemetry import REQUEST_SECONDS, REQUESTS

log = structlog.get_logger(__name__)

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
        self._security = security_headers(hsts)
        self.body_limit_bytes = body_limit_bytes
        self.larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        offered = request.headers.get("x-request-id", "")
        request_id = offered if REQUEST_ID.fullmatch(offered) else uuid4().hex
        request.state.request_id = request_id
        request.state.answer_headers = {}
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
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
                self._head(request, message)
                self._count(scope, message["status"], time.perf_counter() - started)
            await send(message)

        try:
            await self.app(scope, take, answer)
        except Exception:
            log.exception("request failed", method=scope["method"], path=scope["path"])
            if begun:
                raise  # half an answer is out: only breaking the connection says so
            await problem(request, internal_error())(scope, receive, answer)

    def _head(self, request: Request, message: MutableMapping[str, Any]) -> None:
        headers = MutableHeaders(scope=message)
        headers["X-Request-Id"] = request.state.request_id
        for name, value in self._security.items():
            headers.setdefault(name, value)
        for name, value in request.state.answer_headers.items():
            headers[name] = value

    @staticmethod
    def _count(scope: Scope, status: int, seconds: float) -> None:
        # The route's template, never the path: a label per id would never stop growing.
        route = getattr(scope.get("route"), "path", "unknown")
        REQUESTS.labels(scope["method"], route, str(status)).inc()
        REQUEST_SECONDS.labels(scope["method"], route).observe(seconds)
        log.debug("answered", method=scope["method"], path=scope["path"], status=status, duration_s=round(seconds, 4))
