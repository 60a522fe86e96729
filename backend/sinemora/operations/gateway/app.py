"""HTTP application of a gateway: reports of agents, the agents' other requests, health and metrics.

Agents use a gateway as their backend. What only the backend can answer passes through unchanged, its time included:
an agent bounds the error of its clock by the delay of the answer, of which the gateway is a part.
"""

import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import structlog
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sinemora.kit import errors, health
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.health import Dependency, Readiness
from sinemora.kit.http.middleware import HttpMiddleware
from sinemora.kit.http.raw import bearer_of, body_of, text_of
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.observability.logging import configure_logging
from sinemora.kit.security import digest, shown_prefix
from sinemora.measurements.ingest.payload import JSON, PROTOBUFS, ZSTD
from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.backend import REPORTS, Backend
from sinemora.operations.gateway.credentials import Credentials, backend_away
from sinemora.operations.gateway.disk_queue import Body, DiskQueue
from sinemora.operations.gateway.forwarder import Forwarder
from sinemora.operations.gateway.options import Acknowledge, Options
from sinemora.operations.gateway.refused import RefusedReports

log = structlog.get_logger(__name__)

ACKNOWLEDGED = "Sinemora-Acknowledged"
"""Header of the answer to a report: `stored` by the backend, or `queued` on the disk of a gateway."""

_VIA = f"sinemora-gateway-{secrets.token_hex(4)}"
# Bodies that are being received, bytes, by whether the backend knows the agent; further uploads are refused meanwhile.
# Callers whom it does not know yet, however slow, leave the others their room.
_RECEIVING_MAX = {True: 128 << 20, False: 16 << 20}
_HEARD_MAX = 100_000
# RFC 9110 section 7.6.1, and what the gateway itself sets.
_OF_CONNECTION = {
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
}
_NOT_SENT = _OF_CONNECTION | {b"host", b"content-length", b"x-forwarded-for", b"x-forwarded-proto", b"x-request-id"}
_NOT_RETURNED = _OF_CONNECTION | {b"server", b"date", b"x-request-id"}


class Gateway:
    """Parts of a gateway and its handlers."""

    def __init__(self, options: Options) -> None:
        """Open the queue. Raises GatewayError."""
        self._mode = options.acknowledge
        self.queue = DiskQueue(options.directory, options.capacity_bytes)
        self.backend = Backend(options.backend, options.ca_file)
        self._credentials = Credentials(self.queue, self.backend, options.verify_s, options.outage_s)
        refused = RefusedReports(options.directory / "refused")
        self._forwarder = Forwarder(self.queue, self.backend, self._credentials, refused)
        self._receiving = {True: 0, False: 0}
        self._heard: LruCache[bytes, bool] = LruCache(_HEARD_MAX)  # digests of credentials that the backend accepted

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Forward the queue for the lifetime of the application, in both modes: an earlier run may have queued."""
        configure_logging()
        self.queue.start()
        await self._credentials.load()
        self._forwarder.start()
        log.info("gateway started", backend=self.backend.url, acknowledges=self._mode, queue=self.queue.filling)
        yield
        await self._forwarder.close()
        await self.backend.close()
        self.queue.close()

    async def take_report(self, request: Request) -> Response:
        """Store a report by way of the backend, or queue it. The answer's header has which of the two."""
        try:
            if self._mode is Acknowledge.QUEUED and _is_plain_report(request):
                await self._queue_report(request)
                acknowledged, response = "queued", Response(status_code=204)
            else:
                response = await self.forward(request)
                # A gateway behind this one may have queued it.
                acknowledged = response.headers.get(ACKNOWLEDGED, "stored")
        except ProductError as error:
            metrics.NOT_ACCEPTED.labels(error.code).inc()
            raise
        if response.status_code == 204:
            response.headers[ACKNOWLEDGED] = acknowledged
            metrics.ACKNOWLEDGED.labels(acknowledged).inc()
        else:
            metrics.NOT_ACCEPTED.labels(f"http_{response.status_code}").inc()
        return response

    async def _queue_report(self, request: Request) -> None:
        credential = _credential(request)
        client = await self._credentials.admit(credential)
        self._heard.put(digest(credential), True)
        content = await self._body(request)
        media_type, encoding = text_of(request.scope, b"content-type"), text_of(request.scope, b"content-encoding")
        body = Body(content, hashlib.sha256(content).digest(), media_type, encoding)
        await self.queue.put(client, credential, shown_prefix(credential), body)
        self._forwarder.wake(client.id)

    async def forward(self, request: Request) -> Response:
        """Return the backend's answer. ProductError `backend_unavailable` (503) without one."""
        if _VIA in text_of(request.scope, b"via"):
            raise ProductError(
                "gateway_loop", 508, "Loop: --backend of this gateway leads back to a gateway that sends to it."
            )
        sent = await self._body(request)
        query: bytes = request.scope["query_string"]
        target: bytes = request.scope["raw_path"] + (b"?" + query if query else b"")
        try:
            answer = await self.backend.open(request.method, target, _sent_headers(request), sent or None)
            try:
                content = b"".join([piece async for piece in answer.aiter_raw()])
            finally:
                await answer.aclose()
        except httpx2.TransportError:
            raise backend_away() from None
        await self._learn(request, answer)
        response = Response(content, answer.status_code)
        raw = [(name.lower(), value) for name, value in answer.headers.raw]
        response.raw_headers = [header for header in raw if header[0] not in _NOT_RETURNED]
        if answer.status_code not in (204, 304):
            response.headers["content-length"] = str(len(content))
        return response

    async def _learn(self, request: Request, answer: httpx2.Response) -> None:
        """Note that the backend accepts the credential of an agent's request, or no longer."""
        credential = bearer_of(request.scope)
        if not credential or not request.url.path.startswith("/v1/agents/self"):
            return
        has_time = "sinemora-time-ns" in answer.headers  # of the backend, not of a page in its place
        if has_time and (answer.is_success or answer.status_code == 304):
            self._heard.put(digest(credential), True)
            if self._mode is Acknowledge.QUEUED:
                await self._credentials.confirm(credential)
        elif answer.status_code == 401 and answer.headers.get("content-type") == errors.MEDIA_TYPE:
            self._heard.remove(digest(credential))
            self._credentials.doubt(credential)

    async def _body(self, request: Request) -> bytes:
        """Return the body. ProductError `gateway_busy` (503) while too many bytes are being received."""
        expected = request.state.declared_bytes or settings().report_limit_bytes
        if "transfer-encoding" not in request.headers and not request.state.declared_bytes:
            return b""
        is_known = self._heard.get(digest(bearer_of(request.scope))) is not None
        if self._receiving[is_known] and self._receiving[is_known] + expected > _RECEIVING_MAX[is_known]:
            raise errors.unavailable("gateway_busy", "Gateway busy: too many requests at once. Try again.", 2)
        self._receiving[is_known] += expected
        try:
            return await body_of(request.receive)
        except ClientDisconnect as error:
            raise HTTPException(400) from error
        finally:
            self._receiving[is_known] -= expected

    async def readiness(self, response: Response) -> Readiness:
        """Report whether agents can be served; 503 when not."""
        is_queued = self._mode is Acknowledge.QUEUED
        is_reachable, has_room = await self.backend.is_reachable(), self.queue.has_room
        dependencies = {
            "backend": Dependency(
                state="up" if is_reachable else "down",
                needed=not is_queued,
                detail=self.backend.state,
            ),
            "queue": Dependency(state="up" if has_room else "down", needed=is_queued, detail=self.queue.filling),
        }
        if any(one.needed and one.state == "down" for one in dependencies.values()):
            response.status_code = 503
            return Readiness(status="not_ready", dependencies=dependencies)
        degraded = any(one.state == "down" for one in dependencies.values())
        return Readiness(status="degraded" if degraded else "ready", dependencies=dependencies)


def create_app(options: Options) -> FastAPI:
    """Return the application of a gateway. Raises GatewayError."""
    gateway = Gateway(options)
    app = FastAPI(
        lifespan=gateway.lifespan,
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    errors.install(app)
    app.add_middleware(HttpMiddleware, hsts=options.tls is not None, body_limit_bytes=settings().report_limit_bytes)
    app.add_route(REPORTS, gateway.take_report, ["POST"])
    everything = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    app.add_route("/v1/agents/{path:path}", gateway.forward, everything)
    app.add_route("/packages/{path:path}", gateway.forward, ["GET"])
    app.add_api_route("/readyz", gateway.readiness, methods=["GET"])
    app.add_api_route("/livez", health.healthz, methods=["GET"])
    app.add_api_route("/healthz", health.healthz, methods=["GET"])
    app.add_api_route("/metrics", health.metrics, methods=["GET"])
    return app


def _is_plain_report(request: Request) -> bool:
    """Return True for a body that the backend can read by its headers; the backend itself refuses others."""
    media_type = text_of(request.scope, b"content-type").partition(";")[0].strip().lower()
    encoding = text_of(request.scope, b"content-encoding").lower()
    has_body = request.state.declared_bytes > 0 or bool(text_of(request.scope, b"transfer-encoding"))
    return media_type in (*PROTOBUFS, JSON) and encoding in ("", "identity", ZSTD) and has_body


def _credential(request: Request) -> str:
    credential = bearer_of(request.scope)
    if not credential:
        raise ProductError(
            "sign_in_required",
            401,
            "Not signed in: send the agent's credential.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return credential


def _sent_headers(request: Request) -> list[tuple[bytes, bytes]]:
    """Return the headers that the backend gets. It believes `X-Forwarded-For` of proxies that it trusts only."""
    headers = [header for header in request.scope["headers"] if header[0] not in _NOT_SENT]
    client = request.client.host if request.client else ""
    return [
        *headers,
        (b"x-forwarded-for", client.encode("latin-1")),
        (b"x-forwarded-proto", request.url.scheme.encode("latin-1")),
        (b"x-request-id", request.state.request_id.encode("latin-1")),
        (b"via", f"1.1 {_VIA}".encode("ascii")),
    ]
