"""Credentials of agents: verified with the backend, then accepted for a bounded time.

The backend decides about every report again when it is forwarded. This check bounds who may use the disk.
"""

import asyncio
import time

import structlog

from sinemora.kit.errors import ProductError, unavailable
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.security import digest, shown_prefix
from sinemora.operations.gateway.backend import AnswerKind, Backend
from sinemora.operations.gateway.disk_queue import Client, DiskQueue

log = structlog.get_logger(__name__)

_PLAN = "/v1/agents/self/plan?wait_s=0"
_VERIFY_S = 10.0
_AT_ONCE = 32
_KNOWN_MAX = 100_000
# A refused credential is refused again without a question to the backend for this long.
_REFUSED_S = 10.0
_REFUSED_MAX = 10_000
# Confirmations of a credential are written down at most this often.
_WRITTEN_S = 30.0
_HOUR_S = 3600.0


class Credentials:
    """Credentials that the backend has accepted, by their digests. Times are Unix, s: they outlive the process."""

    def __init__(self, queue: DiskQueue, backend: Backend, verify_s: float, outage_s: float) -> None:
        self._queue = queue
        self._backend = backend
        self._verify_s = verify_s
        self._outage_s = max(outage_s, verify_s)
        self._known: LruCache[bytes, Client] = LruCache(_KNOWN_MAX)
        self._written: LruCache[bytes, float] = LruCache(_KNOWN_MAX)
        self._refused: LruCache[bytes, ProductError] = LruCache(_REFUSED_MAX, max_age_s=_REFUSED_S)
        self._asking: dict[bytes, asyncio.Task[Client]] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def load(self) -> None:
        """Read the credentials that earlier processes verified."""
        await self.forget_old()
        for client in self._queue.clients():
            self._known.put(client.digest, client)

    async def forget_old(self) -> None:
        """Delete agents that have no reports and were accepted too long ago to be accepted again unasked."""
        await self._queue.forget(time.time() - self._outage_s - _HOUR_S)

    async def admit(self, credential: str) -> Client:
        """Return the agent of a credential. ProductError of the backend (401), `backend_unavailable` (503)."""
        key = digest(credential)
        client = self._known.get(key)
        if client is not None and 0 <= time.time() - client.verified_at < self._verify_s:
            return client
        if (refusal := self._refused.get(key)) is not None:
            raise refusal
        if self._backend.is_away:
            return self._accepted_in_outage(client)
        asking = self._asking.get(key)
        if asking is None:  # an agent may send several requests at once
            asking = self._asking[key] = asyncio.create_task(self._ask(key, credential, client))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(asking)

    async def confirm(self, credential: str) -> None:
        """Note that the backend has just accepted a credential. A disk that refuses the note is no failure."""
        key, now = digest(credential), time.time()
        self._refused.remove(key)
        client = self._known.get(key)
        if client is not None and 0 <= now - (self._written.get(key) or 0.0) < _WRITTEN_S:
            self._known.put(key, Client(client.id, key, now))
            return
        try:
            await self._write(key, credential, now)
        except ProductError as error:
            log.warning("a verified credential cannot be written down", code=error.code)

    def doubt(self, credential: str) -> None:
        """Ask the backend about a credential before it is accepted again."""
        self._known.remove(digest(credential))

    def refuse(self, credential: str, code: str, detail: str) -> None:
        """Forget a credential that the backend has just refused."""
        key = digest(credential)
        self._known.remove(key)
        self._refused.put(key, _refusal(code, detail))

    async def _ask(self, key: bytes, credential: str, client: Client | None) -> Client:
        headers = [(b"authorization", f"Bearer {credential}".encode("latin-1"))]
        async with self._turns:
            verdict = await self._backend.ask("GET", _PLAN, headers, timeout_s=_VERIFY_S)
        if verdict.kind is AnswerKind.ACCEPTED:
            return await self._write(key, credential, time.time())
        if verdict.kind is AnswerKind.LOCKED:
            self.refuse(credential, verdict.code, verdict.detail)
            raise _refusal(verdict.code, verdict.detail)
        return self._accepted_in_outage(client)

    async def _write(self, key: bytes, credential: str, at: float) -> Client:
        client = await self._queue.verified(key, shown_prefix(credential), at)
        self._known.put(key, client)
        self._written.put(key, at)
        return client

    def _accepted_in_outage(self, client: Client | None) -> Client:
        """Return an agent that the backend accepted within `outage_s`. ProductError `backend_unavailable` (503)."""
        if client is not None and 0 <= time.time() - client.verified_at < self._outage_s:
            return client
        raise backend_away()


def backend_away() -> ProductError:
    """Return the refusal of a request that only the backend can answer."""
    return unavailable("backend_unavailable", "Backend unavailable: it does not answer this gateway. Try again.", 5)


def _refusal(code: str, detail: str) -> ProductError:
    return ProductError(code, 401, detail, headers={"WWW-Authenticate": "Bearer"})
