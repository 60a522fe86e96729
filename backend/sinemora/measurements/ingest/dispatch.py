"""Dispatch of reports: their route is called without FastAPI's routing, as agents call it more often than all others.

The route is the one of `measurements.routes`: FastAPI documents it, this application runs it.
"""

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from sinemora.fleet.inventory.agents import AgentRoute
from sinemora.kit.config import settings
from sinemora.kit.errors import response_to
from sinemora.kit.http.raw import text_of
from sinemora.kit.http.routes import body_limit
from sinemora.kit.http.server_time import time_headers

REFUSAL = "report_refusal"
"""In the state of a request: the exception that `ReportConnection` has met already, which decides the response."""


def form_of(scope: Scope) -> tuple[str, str]:
    """Return media type and content coding of a report, both in lower case."""
    media_type = text_of(scope, b"content-type").partition(";")[0].strip().lower()
    return media_type, text_of(scope, b"content-encoding").lower()


def headers_of(skipped: int, arrived_ns: int) -> dict[str, str]:
    """Return the headers of the response to a stored report; `arrived_ns` is a time of `time.monotonic_ns`."""
    headers = time_headers(arrived_ns)
    if skipped:
        headers["Sinemora-Skipped-Windows"] = str(skipped)
    return headers


class ReportDispatch:
    """ASGI application of the one `route` of reports."""

    def __init__(self, route: AgentRoute) -> None:
        self.route = route
        self._handle = route.get_route_handler()

    @property
    def limit_bytes(self) -> int:
        """Longest body of a report."""
        limit = body_limit(self.route.endpoint)
        return settings().body_limit_bytes if limit is None else limit(settings())

    def takes(self, scope: Scope) -> bool:
        """Return True for a request of the route."""
        return bool(scope["type"] == "http" and scope["path"] == self.route.path and scope["method"] == "POST")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["route"] = self.route
        request = Request(scope, receive)
        try:
            if (refusal := scope["state"].get(REFUSAL)) is not None:
                raise refusal
            response = await self._handle(request)
        except Exception as error:
            refusal = await response_to(request, error)
            if refusal is None:
                raise
            response = refusal
        await response(scope, receive, send)
