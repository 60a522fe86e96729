"""Outermost HTTP middleware: request id, metrics, security headers, body limit, problem details for failures."""

import logging
import random
import re
import time
from functools import lru_cache
from typing import Any

import structlog
from fastapi import Request
from prometheus_client import Counter, Histogram
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sinemora.kit.errors import ProductError, body_too_large, internal_error, problem
from sinemora.kit.http.origin import set_origin
from sinemora.kit.http.raw import header_of
from sinemora.kit.observability import tracing
from sinemora.kit.observability.logging import set_request_id
from sinemora.kit.observability.telemetry import REQUEST_SECONDS, REQUESTS

log = structlog.get_logger(__name__)
_logger = logging.getLogger(__name__)

_HOST = re.compile(rb"[A-Za-z0-9._:\[\]-]{0,255}")
_NUL = re.compile(rb"%00|\0")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

# Responses of the API are data, not pages: the policy forbids scripts, frames and loads.
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
    """Return the security headers that a response gets unless it sets them itself."""
    headers = {**_SECURITY, "Content-Security-Policy": _API_POLICY, "Cache-Control": "no-store"}
    return {**headers, "Strict-Transport-Security": "max-age=31536000"} if hsts else headers


class HttpMiddleware:
    """ASGI middleware. Handlers may put headers of the response into `request.state.response_headers`.

    `request.state.frameable`: other sites may show the page, as its Content-Security-Policy allows.

    A body may be `body_limit_bytes` long unless its route puts another limit into `request.state.body_limit_bytes`.
    """

    def __init__(self, app: ASGIApp, *, hsts: bool, body_limit_bytes: int) -> None:
        self.app = app
        self._security = [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in security_headers(hsts).items()
        ]
        self._secured = {name for name, _ in self._security}
        self.body_limit_bytes = body_limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        response_headers: dict[str, str] = {}
        state["response_headers"] = response_headers
        set_origin(scope["client"][0] if scope.get("client") else None)
        set_request_id(request_id)
        if tracing.is_on():
            tracing.set_attributes(**{"sinemora.request_id": request_id})
        started = time.perf_counter()
        response_begun = False
        received_bytes = 0
        state["body_limit_bytes"] = self.body_limit_bytes
        declared_bytes = state["declared_bytes"] = _content_length(scope)

        async def receive_limited() -> Message:
            nonlocal received_bytes
            limit_bytes = state["body_limit_bytes"]
            message: Message = {} if declared_bytes > limit_bytes else await receive()
            received_bytes += len(message.get("body", b""))
            if max(received_bytes, declared_bytes) > limit_bytes:
                # The only exception that FastAPI does not replace while it reads a body.
                raise body_too_large(limit_bytes)
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal response_begun
            if message["type"] == "http.response.start":
                response_begun = True
                self._add_headers(message, request_id, response_headers, frameable=state.get("frameable", False))
                self._count(scope, message["status"], time.perf_counter() - started)
            await send(message)

        try:
            if refusal := _refusal_of(scope):
                await problem(Request(scope, receive), refusal)(scope, receive, send_with_headers)
                return
            await self.app(scope, receive_limited, send_with_headers)
        except Exception:
            log.exception("request failed", method=scope["method"], path=scope["path"])
            if response_begun:
                raise  # the response has begun: only a broken connection signals the failure
            await problem(Request(scope, receive), internal_error())(scope, receive, send_with_headers)

    def _add_headers(
        self, message: Message, request_id: str, response_headers: dict[str, str], *, frameable: bool
    ) -> None:
        raw = message["headers"] = list(message.get("headers", ()))
        present = self._secured.intersection([name for name, _ in raw])
        if frameable:
            present.add(b"x-frame-options")
        raw.append((b"x-request-id", request_id.encode("latin-1")))
        raw += [header for header in self._security if header[0] not in present] if present else self._security
        if response_headers:
            headers = MutableHeaders(raw=raw)
            for name, value in response_headers.items():
                headers[name] = value

    @staticmethod
    def _count(scope: Scope, status: int, seconds: float) -> None:
        # The route's template, not the path: a label per id would be unbounded.
        route = getattr(scope.get("route"), "path", "unknown")
        requests, request_seconds = _metrics_of(scope["method"], route, status)
        requests.inc()
        request_seconds.observe(seconds)
        if _logger.isEnabledFor(logging.DEBUG):
            log.debug(
                "response sent", method=scope["method"], path=scope["path"], status=status, duration_s=round(seconds, 4)
            )


@lru_cache(maxsize=4096)
def _metrics_of(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(method, route, str(status)), REQUEST_SECONDS.labels(method, route)


def _refusal_of(scope: Scope) -> ProductError | None:
    """Return the refusal of a request whose head no route can use; None for a good one."""
    if not _HOST.fullmatch(header_of(scope, b"host")):
        return ProductError("host_invalid", 400, "Invalid Host header: send a host name or address, and a port if any.")
    if "\0" in scope["path"] or _NUL.search(scope.get("query_string", b"")):
        return ProductError(
            "request_invalid", 422, "Invalid request: its address contains the character U+0000, which is never stored."
        )
    return None


def _content_length(scope: Scope) -> int:
    """Return the announced length of the body, bytes; 0 when it is not announced."""
    length = header_of(scope, b"content-length")
    return int(length) if length.isdigit() else 0


def _request_id(scope: Scope) -> str:
    """Return the `X-Request-Id` of a request when it is well formed, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and REQUEST_ID.fullmatch(value.decode("latin-1")):
            return str(value.decode("latin-1"))
    return f"{random.getrandbits(128):032x}"
