"""Entrance of reports: their route is called without FastAPI's routing, as agents call it more often than all others.

The route is `create_report` of `measurements.routes`. Only a process that is traced calls it through FastAPI.
"""

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from sinemora.fleet.inventory.agents import AgentRoute
from sinemora.kit.db import answer_limit
from sinemora.kit.errors import response_to

ANSWERED_S = 15.0
"""Longest wait for one answer of the database while a report is stored, s: agents send it again."""


class ReportDispatch:
    """ASGI application of the one `route` of reports."""

    def __init__(self, route: AgentRoute) -> None:
        self.route = route
        self._handle = route.get_route_handler()

    def takes(self, scope: Scope) -> bool:
        """Return True for a request of the route."""
        return bool(scope["type"] == "http" and scope["path"] == self.route.path and scope["method"] == "POST")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["route"] = self.route
        request = Request(scope, receive)
        try:
            with answer_limit(ANSWERED_S):
                response = await self._handle(request)
        except Exception as error:
            refusal = await response_to(request, error)
            if refusal is None:
                raise
            response = refusal
        await response(scope, receive, send)
