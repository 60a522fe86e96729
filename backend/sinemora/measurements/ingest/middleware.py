"""Dispatch of reports: their route is called before FastAPI's routing, since agents call it more often than all others.

The route is the one of `measurements.routes`: FastAPI documents it, this middleware runs it.
"""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from sinemora.inventory.agents import AgentRoute
from sinemora.kit.errors import response_to


class ReportMiddleware:
    """ASGI middleware that calls `route` for its path and passes every other request on."""

    def __init__(self, app: ASGIApp, *, route: AgentRoute) -> None:
        self.app = app
        self._route = route
        self._handle = route.get_route_handler()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != self._route.path or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        scope["route"] = self._route
        request = Request(scope, receive)
        try:
            response = await self._handle(request)
        except Exception as error:
            refusal = await response_to(request, error)
            if refusal is None:
                raise
            response = refusal
        await response(scope, receive, send)
