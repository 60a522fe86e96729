"""Forwarding of queued reports to the backend: several agents at once, each agent's reports one at a time in order."""

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import replace

import structlog
from starlette.concurrency import run_in_threadpool

from sinemora.kit.errors import ProductError
from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.backend import REPORTS, AnswerKind, Backend, Verdict
from sinemora.operations.gateway.credentials import Credentials
from sinemora.operations.gateway.disk_queue import DiskQueue, Queued
from sinemora.operations.gateway.refused import RefusedReports

log = structlog.get_logger(__name__)

# As many as make the commits of a backend large: a report waits for one of them and for one of the queue.
_SENDERS = 64
_ANSWER_S = 60.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_DISK_PAUSE_S = 5.0
_HOUR_S = 3600.0
# A backend that is being restored may not know an agent yet.
_UNKNOWN_AGENT_S = 3600.0
_REVOKED = "agent_revoked"


class Forwarder:
    """Senders of the reports in a queue. A report leaves the queue after the backend has stored or refused it."""

    def __init__(self, queue: DiskQueue, backend: Backend, credentials: Credentials, refused: RefusedReports) -> None:
        self._queue = queue
        self._backend = backend
        self._credentials = credentials
        self._refused = refused
        self._ready: asyncio.Queue[int] = asyncio.Queue()
        # Agents in `_ready`, with a sender, or in a pause; and the pause of those whose last attempt failed.
        self._busy: set[int] = set()
        self._pauses_s: dict[int, float] = {}
        # The report of an agent that the backend has stored and the disk has not let go.
        self._settled: dict[int, int] = {}
        # Agents whose credential the backend refuses for ever: their other reports need no question.
        self._locked: dict[int, Verdict] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin with the agents that have reports."""
        for client in self._queue.counts:
            self.wake(client)
        self._tasks = [asyncio.create_task(self._send()) for _ in range(_SENDERS)]
        self._tasks.append(asyncio.create_task(self._forget_old_credentials()))

    async def close(self) -> None:
        """Stop. A report that is under way is sent again after the next start: the backend stores it once."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    def wake(self, client: int) -> None:
        """Send the reports of an agent, one of which is new."""
        if client not in self._busy:
            self._busy.add(client)
            self._ready.put_nowait(client)

    async def _send(self) -> None:
        while True:
            client = await self._ready.get()
            while self._backend.is_away:
                await asyncio.sleep(self._backend.away_s)
            try:
                pause_s = await self._send_oldest(client)
            except Exception:
                log.exception("a report cannot be forwarded")
                pause_s = _LONGEST_PAUSE_S
            if pause_s is not None:
                asyncio.get_running_loop().call_later(pause_s, self._ready.put_nowait, client)
            elif self._queue.counts[client]:
                self._ready.put_nowait(client)
            else:
                self._busy.discard(client)

    async def _send_oldest(self, client: int) -> float | None:
        """Send an agent's oldest report. Return the pause before the next attempt, s; None after a success."""
        report = await self._queue.oldest(client)
        if report is None:
            return None
        if self._settled.get(client) != report.id:
            verdict = self._locked.get(client) or await self._backend.ask(
                "POST", REPORTS, _headers(report), report.body.content, timeout_s=_ANSWER_S
            )
            if verdict.kind is AnswerKind.LOCKED:
                self._credentials.refuse(report.credential, verdict.code, verdict.detail)
                if verdict.code != _REVOKED and time.time() - report.queued_at < _UNKNOWN_AGENT_S:
                    return self._pause(client, verdict)
                self._locked[client] = verdict
            if verdict.kind is AnswerKind.ACCEPTED and not verdict.is_of_the_product:
                # A maintenance page may answer 200: the report would be lost.
                verdict = replace(verdict, kind=AnswerKind.LATER, why=f"no answer of a backend: {verdict.why}")
            if verdict.kind is AnswerKind.LATER:
                return self._pause(client, verdict)
            self._pauses_s.pop(client, None)
            if not await self._settle(report, verdict):
                return _DISK_PAUSE_S
        return await self._remove(report)

    async def _settle(self, report: Queued, verdict: Verdict) -> bool:
        """Act on the backend's decision about a report. Return False when a refused one cannot be kept."""
        if verdict.kind is AnswerKind.ACCEPTED:
            await self._credentials.confirm(report.credential)
            metrics.FORWARDED.inc()
            skipped = verdict.headers.get("sinemora-skipped-windows", "")
            if skipped.isdigit():
                metrics.SKIPPED_WINDOWS.inc(int(skipped))
                log.warning("the backend left out windows of a queued report", windows=skipped, agent=report.prefix)
        else:
            try:
                path = await run_in_threadpool(self._refused.keep, report, verdict.why)
            except OSError as error:
                log.error("a refused report cannot be kept, and stays in the queue", error=str(error))
                return False
            metrics.REFUSED.labels(verdict.code or "unknown").inc()
            log.warning("the backend refused a queued report", why=verdict.why, agent=report.prefix, kept=str(path))
        self._settled[report.client] = report.id
        return True

    async def _remove(self, report: Queued) -> float | None:
        try:
            await self._queue.remove(report)
        except ProductError:
            return _DISK_PAUSE_S
        self._settled.pop(report.client, None)
        if not self._queue.counts[report.client]:
            self._locked.pop(report.client, None)
        return None

    def _pause(self, client: int, verdict: Verdict) -> float:
        """Return the pause of an agent whose report the backend may accept later."""
        if verdict.is_away:
            return 0.0  # all senders wait for the backend
        pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, 2 * self._pauses_s.get(client, 0.0)))
        if client not in self._pauses_s:
            log.warning("the backend does not accept a queued report now", why=verdict.why)
        self._pauses_s[client] = pause_s
        return max(verdict.retry_after_s or 0.0, pause_s * random.uniform(0.75, 1.25))

    async def _forget_old_credentials(self) -> None:
        while True:
            await asyncio.sleep(_HOUR_S)
            with suppress(ProductError):
                await self._credentials.forget_old()


def _headers(report: Queued) -> list[tuple[bytes, bytes]]:
    headers = {
        "authorization": f"Bearer {report.credential}",
        "content-type": report.body.media_type,
        "content-encoding": report.body.encoding,
        "accept": "application/json, application/problem+json",
    }
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value]
