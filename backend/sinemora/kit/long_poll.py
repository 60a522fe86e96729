"""Long polling: many requests wait for changes without a connection or a thread each.

One query per `poll_s` reads the values of all keys that requests of this process wait for.
"""

import asyncio
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

log = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LongPoll(Generic[K, V]):
    """Waits of one process, on its event loop. `read` returns the values of keys; it blocks, on a thread."""

    def __init__(self, read: Callable[[list[K]], Mapping[K, V]], poll_s: float = 1.0) -> None:
        self._read, self._poll_s = read, poll_s
        self._waiting: dict[K, set[tuple[V, asyncio.Future[bool]]]] = {}
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    async def changed(self, key: K, seen: V, timeout_s: float) -> bool:
        """Wait until the value of `key` differs from `seen`. Return False after `timeout_s` or `close`."""
        if self._closed:
            return False
        waiter = (seen, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(key, set()).add(waiter)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        try:
            return await asyncio.wait_for(waiter[1], timeout_s)
        except TimeoutError:
            return False
        finally:
            waiters = self._waiting.get(key, set())
            waiters.discard(waiter)
            if not waiters:
                self._waiting.pop(key, None)

    async def close(self) -> None:
        """End all waits, since the process ends. Safe to repeat."""
        self._closed = True
        if self._poller is not None:
            self._poller.cancel()
        for waiters in self._waiting.values():
            for _, future in waiters:
                if not future.done():
                    future.set_result(False)

    async def _poll(self) -> None:
        while self._waiting:
            started = time.monotonic()
            try:
                now = await run_in_threadpool(self._read, list(self._waiting))
            except SQLAlchemyError as error:
                log.warning("values of waiting requests not read", error=str(error).strip())
                now = {}
            for key, value in now.items():
                for seen, future in self._waiting.get(key, ()):
                    if seen != value and not future.done():
                        future.set_result(True)
            await asyncio.sleep(max(0.0, self._poll_s - (time.monotonic() - started)))
