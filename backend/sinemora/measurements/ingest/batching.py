"""Batches: one thread works on all reports that wait, while the next batch fills.

Reports are queued on the event loop. An idle thread starts at once. Tenants take turns, and one that has most of what
waits leaves a quarter of the queue to the others.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from prometheus_client import Gauge

from sinemora.kit.errors import ProductError

QUEUE_BYTES_MAX = 128 << 20
_MIXED_BYTES, _MIXED_S = 512 << 10, 60.0
"""Largest batch while reports of several tenants come, since each waits for one before its own, and for how long."""
_OTHERS = 4
"""Part of the queue, one in so many, in which a tenant with more than that waits for the others."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Bounds of a batch, and the shortest time between the starts of two batches.

    Under load that pause lets batches grow: fewer, larger batches cost less for each report. Beyond `enough_bytes` they
    cost no less.
    """

    reports: int
    size_bytes: int
    pause_s: float = 0.0
    enough_bytes: int = 1 << 20


@dataclass(slots=True)
class _Waiting(Generic[T, R]):
    """A queued report and the future that its request awaits."""

    report: T
    size: int
    done: asyncio.Future[R]


class BatchQueue(Generic[T, R]):
    """Queue of at most `capacity` reports; `owner` returns the tenant of one.

    `work` gets a batch and returns the result or the refusal of each report, in their order; it never raises. `waiting`
    shows the length of the queue. With `then`, it gets each result that is not None, and answers in place of this queue
    unless it raises ProductError. Both are called on the thread.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Sequence[T]], Sequence[R | ProductError]],
        capacity: int,
        limits: BatchLimits,
        waiting: Gauge,
        then: Callable[[Any, asyncio.Future[R]], None] | None = None,
        owner: Callable[[T], Hashable] = lambda _: None,
    ) -> None:
        self._work = work
        self._then = then
        self._capacity = capacity
        self._limits = limits
        self._gauge = waiting
        self._loop = asyncio.get_running_loop()
        self._owner = owner
        # By tenant, in the order of their turns; no queue is empty.
        self._queues: dict[Hashable, deque[_Waiting[T, R]]] = {}
        self._length = self._bytes = 0
        self._last_owner: Hashable = None
        self._mixed_until_s = 0.0
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def put(self, report: T, size: int) -> R:
        """Return what `work` returned for `report` (`size` bytes).

        ProductError: `ingest_busy` (429) when too many wait, `shutting_down` (503), and what `work` refuses with.
        """
        done: asyncio.Future[R] = self._loop.create_future()
        self.add(report, size, done)
        return await done

    def add(self, report: T, size: int, done: asyncio.Future[R]) -> None:
        """Queue `report` (`size` bytes), from any thread; `done` gets its result. ProductError as of `put`."""
        waiting, owner = _Waiting(report, size, done), self._owner(report)
        with self._changed:
            if self._stopping:
                raise _shutting_down()
            own = len(self._queues.get(owner, ()))
            kept = self._capacity // _OTHERS
            capacity, size_max = self._capacity, QUEUE_BYTES_MAX
            if own > kept:
                capacity, size_max = capacity - kept, size_max - size_max // _OTHERS
            if self._length >= capacity or self._bytes + size > size_max:
                raise ProductError(
                    "ingest_busy",
                    429,
                    f"Ingest queue full: {self._length} reports wait, {own} of yours. Send this report again later.",
                    headers={"Retry-After": "2"},
                )
            if self._last_owner not in (None, owner):
                self._mixed_until_s = time.monotonic() + _MIXED_S
            self._last_owner = owner
            self._queues.setdefault(owner, deque()).append(waiting)
            self._length += 1
            self._bytes += size
            self._changed.notify()
        self._gauge.set(self._length)

    def close(self, patience_s: float = 10) -> None:
        """Work off the queue, then stop. Refuse what is left after `patience_s`; its agents send it again."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(patience_s)
        with self._changed:
            left = [waiting for queue in self._queues.values() for waiting in queue]
            self._queues.clear()
            self._length = 0
        self._answer([(waiting.done, _shutting_down()) for waiting in left])

    def _run(self) -> None:
        started_s = 0.0
        while batch := self._next(started_s + self._limits.pause_s):
            started_s = time.monotonic()
            outcomes = self._work([waiting.report for waiting in batch])
            ends = zip([waiting.done for waiting in batch], outcomes, strict=True)
            self._answer([end for end in ends if not self._continues(*end)])

    def _next(self, not_before_s: float) -> list[_Waiting[T, R]]:
        """Wait for the next batch and return it; empty when the queue is closed."""
        with self._changed:
            while not self._length and not self._stopping:
                self._changed.wait()
            limits = self._limits
            is_mixed = time.monotonic() < self._mixed_until_s
            size_max = min(limits.size_bytes, _MIXED_BYTES) if is_mixed else limits.size_bytes
            enough = min(limits.enough_bytes, size_max)
            while not self._stopping and self._length < limits.reports and self._bytes < enough:
                left_s = not_before_s - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            batch: list[_Waiting[T, R]] = []
            size = 0
            while self._queues and len(batch) < self._limits.reports and size < size_max:
                owner = next(iter(self._queues))
                queue = self._queues.pop(owner)
                batch.append(queue.popleft())
                size += batch[-1].size
                if queue:
                    self._queues[owner] = queue  # behind the others
            self._length -= len(batch)
            self._bytes -= size
        self._gauge.set(self._length)
        return batch

    def _continues(self, done: asyncio.Future[R], outcome: R | ProductError) -> bool:
        """Return True when `then` answers in place of this queue."""
        if self._then is None or outcome is None or isinstance(outcome, ProductError):
            return False
        try:
            self._then(outcome, done)
        except ProductError as refusal:
            self._answer([(done, refusal)])
        return True

    def _answer(self, answers: Sequence[tuple[asyncio.Future[R], R | ProductError]]) -> None:
        def answer() -> None:
            for done, outcome in answers:
                if done.done():  # the agent closed its connection; the work is done all the same
                    continue
                if isinstance(outcome, ProductError):
                    done.set_exception(outcome)
                else:
                    done.set_result(outcome)

        if answers and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(answer)


def _shutting_down() -> ProductError:
    return ProductError(
        "shutting_down",
        503,
        "Server is stopping: the report is not stored. Send it again.",
        headers={"Retry-After": "2"},
    )
