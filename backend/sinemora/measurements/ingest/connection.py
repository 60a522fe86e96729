"""HTTP connections of the API: a report is stored without ASGI, once its agent is signed in and its last byte is here.

Uvicorn starts a task after the headers, and passes request and response through ASGI and middleware. All that can end
otherwise takes that way: requests of other routes, bodies without a length, traced processes, and refusals, which
`ReportDispatch` turns into responses. For all others, messages and objects between these layers would be made in vain.
"""

import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from sinemora.fleet.inventory.agents import AgentIdentity, identify, known_agent
from sinemora.kit.http.middleware import content_length, refusal_of
from sinemora.kit.http.raw import bearer_of
from sinemora.kit.observability import tracing
from sinemora.measurements.ingest.dispatch import REFUSAL, form_of, headers_of

BODY_BYTES_MAX = 512 << 10
"""Longest body that is received whole before anything is done about it. Longer ones are read at the pace of ASGI."""


@dataclass(slots=True)
class _Arriving:
    """A report whose headers are here: its agent, once signed in, when it came (monotonic, ns), and its body so far."""

    cycle: RequestResponseCycle
    app: Any
    agent: AgentIdentity | None
    arrived_ns: int
    whole: bool = False
    pieces: list[bytes] = field(default_factory=list)


class ReportConnection(HttpToolsProtocol):
    """Connection that stores reports by itself and leaves everything else to Uvicorn."""

    _in_headers = False
    _arriving: _Arriving | None = None

    def on_headers_complete(self) -> None:
        """Handle the end of the headers of a request."""
        self._in_headers = True
        try:
            super().on_headers_complete()
        finally:
            self._in_headers = False

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start a request, unless it is a report whose body can be awaited here."""
        # A pipelined request starts later, and part of its body may have arrived by then.
        if not self._in_headers or app is not self.config.loaded_app or not self._takes(cycle):
            super()._start_asgi_task(cycle, app)
            return
        scope: Any = cycle.scope
        self._arriving = _Arriving(cycle, app, known_agent(scope), time.monotonic_ns())
        if self._arriving.agent is None:
            self._start(self._sign_in(self._arriving))

    def _takes(self, cycle: RequestResponseCycle) -> bool:
        """Return True for a report that nothing but its agent and its body can refuse."""
        scope: Any = cycle.scope
        if not self._api.reports.takes(scope) or cycle.waiting_for_100_continue or not bearer_of(scope):
            return False
        if tracing.is_on() or self.config.access_log or refusal_of(scope):
            return False
        return bool(0 < content_length(scope) <= min(BODY_BYTES_MAX, self._api.reports.limit_bytes))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    @property
    def _api(self) -> Any:
        return self.config.app

    def on_body(self, body: bytes) -> None:
        """Keep a piece of a body."""
        if self._arriving is not None:
            self._arriving.pieces.append(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        if (arriving := self._arriving) is None:
            super().on_message_complete()
            return
        self._arriving = None
        arriving.whole = True
        if arriving.agent is not None:
            self._start(self._store(arriving, arriving.agent))

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection. A report that has not arrived whole is answered, and counted, as by Uvicorn."""
        super().connection_lost(exc)
        if (arriving := self._arriving) is not None:
            self._arriving = None
            super()._start_asgi_task(arriving.cycle, arriving.app)

    async def _sign_in(self, report: _Arriving) -> None:
        """Look up the agent of a report, whose body may arrive meanwhile. A refusal does not wait for the body."""
        scope: Any = report.cycle.scope
        try:
            report.agent = await identify(bearer_of(scope))
        except Exception:
            if report.whole or self._arriving is report:  # else the connection was lost
                self._arriving = None
                await self._hand_over(report)
            return
        if report.whole:
            await self._store(report, report.agent)

    async def _hand_over(self, report: _Arriving) -> None:
        """Let ASGI begin with a report. It signs in again, and counts a failure by the address that proxies name."""
        cycle = report.cycle
        cycle.body += b"".join(report.pieces)
        cycle.more_body = not report.whole
        cycle.message_event.set()
        await cycle.run_asgi(report.app)

    async def _refuse(self, report: _Arriving, refusal: Exception) -> None:
        report.cycle.scope["state"][REFUSAL] = refusal
        await report.cycle.run_asgi(report.app)

    async def _store(self, report: _Arriving, agent: AgentIdentity) -> None:
        """Store a report and respond once it is committed."""
        cycle = report.cycle
        scope: Any = cycle.scope
        body = report.pieces[0] if len(report.pieces) == 1 else b"".join(report.pieces)
        try:
            skipped = await self._api.state.ingest.take(agent, body, *form_of(scope))
        except Exception as refusal:
            await self._refuse(report, refusal)
            return
        scope["route"] = self._api.reports.route
        seconds = (time.monotonic_ns() - report.arrived_ns) / 1e9
        headers = headers_of(skipped, report.arrived_ns)
        head = self._api.answer_report.head_of(scope, 204, headers, seconds)
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        if not cycle.disconnected:
            self._respond(cycle, head)

    def _respond(self, cycle: RequestResponseCycle, head: Sequence[tuple[bytes, bytes]]) -> None:
        content = [STATUS_LINE[204]]
        for name, value in (*self.server_state.default_headers, *head):
            content += (name, b": ", value, b"\r\n")
        content.append(b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n")
        self.transport.write(b"".join(content))
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
