"""Batches: one thread works on all reports that wait, while the next batch fills.

Reports are queued on the event loop. An idle thread starts at once. Tenants take turns, and one that has most of what
waits leaves a quarter of the queue to the others. Tenants that report much have a thread to themselves: others wait for
no batch of theirs.
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
from sinemora.kit.lru_cache import LruCache
from sinemora.kit.vital_thread import VitalThread

QUEUE_BYTES_MAX = 128 << 20
_MIXED_BYTES, _MIXED_S = 512 << 10, 60.0
"""Largest batch while reports of several tenants come, since each waits for one before its own, and for how long."""
_OTHERS = 4
"""Part of the queue, one in so many, in which a tenant with more than that waits for the others."""

_LARGE_BYTES, _REPORT_BYTES, _LARGE_S, _LARGE_KEPT = 64 << 10, 4 << 10, 60.0, 10_000
"""What waits of a tenant that reports much, with a cost of each report by itself; and for how long it counts so."""

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


class _Lane(Generic[T, R]):
    """Reports that wait for one thread, by tenant in the order of their turns; no queue is empty."""

    def __init__(self, lock: threading.Lock) -> None:
        self.queues: dict[Hashable, deque[_Waiting[T, R]]] = {}
        self.length = self.bytes = 0
        self.changed = threading.Condition(lock)

    def put(self, owner: Hashable, reports: Sequence[_Waiting[T, R]]) -> deque[_Waiting[T, R]]:
        """Queue reports of a tenant; return what waits of it."""
        queue = self.queues.setdefault(owner, deque())
        queue.extend(reports)
        self.length += len(reports)
        self.bytes += sum(waiting.size for waiting in reports)
        self.changed.notify()
        return queue

    def take(self, owner: Hashable, most: int) -> list[_Waiting[T, R]]:
        """Return the first reports of a tenant; those left wait behind the others."""
        queue = self.queues.pop(owner)
        taken = [queue.popleft() for _ in range(min(most, len(queue)))]
        if queue:
            self.queues[owner] = queue
        self.length -= len(taken)
        self.bytes -= sum(waiting.size for waiting in taken)
        return taken


class BatchQueue(Generic[T, R]):
    """Queue of at most `capacity` reports; `owner` returns the tenant of one, None: all are of one.

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
        owner: Callable[[T], Hashable] | None = None,
    ) -> None:
        self._work = work
        self._then = then
        self._capacity = capacity
        self._limits = limits
        self._gauge = waiting
        self._loop = asyncio.get_running_loop()
        self._owner = owner or (lambda _: None)
        self._lock = threading.Lock()
        # The second is that of tenants that report much.
        self._lanes: list[_Lane[T, R]] = [_Lane(self._lock) for _ in range(1 if owner is None else 2)]
        self._large: LruCache[Hashable, bool] = LruCache(_LARGE_KEPT, max_age_s=_LARGE_S)
        self._last_owner: Hashable = None
        self._mixed_until_s = 0.0
        self._stopping = False
        self._threads = [VitalThread(target=self._run, args=(lane,), name=name, daemon=True) for lane in self._lanes]
        for thread in self._threads:
            thread.start()

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
        with self._lock:
            if self._stopping:
                raise _shutting_down()
            lane = self._lanes[-1 if self._large.get(owner) else 0]
            own = len(lane.queues.get(owner, ()))
            length, size_waiting = self._length, sum(one.bytes for one in self._lanes)
            kept = self._capacity // _OTHERS
            capacity, size_max = self._capacity, QUEUE_BYTES_MAX
            if own > kept:
                capacity, size_max = capacity - kept, size_max - size_max // _OTHERS
            if length >= capacity or size_waiting + size > size_max:
                raise ProductError(
                    "ingest_busy",
                    429,
                    f"Ingest queue full: {length} reports wait, {own} of yours. Send this report again later.",
                    headers={"Retry-After": "2"},
                )
            if self._last_owner not in (None, owner):
                self._mixed_until_s = time.monotonic() + _MIXED_S
            self._last_owner = owner
            queue = lane.put(owner, [waiting])
            if lane is not self._lanes[-1] and _is_large(queue):
                self._large.put(owner, True)
                self._lanes[-1].put(owner, lane.take(owner, len(queue)))
        self._gauge.set(self._length)

    def close(self, patience_s: float = 10) -> None:
        """Work off the queue, then stop. Refuse what is left after `patience_s`; its agents send it again."""
        with self._lock:
            self._stopping = True
            for lane in self._lanes:
                lane.changed.notify()
        until_s = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, until_s - time.monotonic()))
        with self._lock:
            left = [one for lane in self._lanes for owner in list(lane.queues) for one in lane.take(owner, lane.length)]
        self._answer([(waiting.done, _shutting_down()) for waiting in left])

    @property
    def _length(self) -> int:
        return sum(lane.length for lane in self._lanes)

    @property
    def _size_max(self) -> int:
        """Return the size that ends a batch, bytes."""
        is_mixed = time.monotonic() < self._mixed_until_s
        return min(self._limits.size_bytes, _MIXED_BYTES) if is_mixed else self._limits.size_bytes

    def _run(self, lane: _Lane[T, R]) -> None:
        started_s = 0.0
        while batch := self._next(lane, started_s + self._limits.pause_s):
            started_s = time.monotonic()
            outcomes = self._work([waiting.report for waiting in batch])
            ends = zip([waiting.done for waiting in batch], outcomes, strict=True)
            self._answer([end for end in ends if not self._continues(*end)])

    def _next(self, lane: _Lane[T, R], not_before_s: float) -> list[_Waiting[T, R]]:
        """Wait for the next batch and return it; empty when the queue is closed."""
        limits = self._limits
        with self._lock:
            while not self._stopping:
                is_enough = lane.length >= limits.reports or lane.bytes >= min(limits.enough_bytes, self._size_max)
                left_s = not_before_s - time.monotonic()
                if lane.length and (is_enough or left_s <= 0):
                    break
                # What waited may be another lane's afterwards.
                lane.changed.wait(left_s if lane.length else None)
            batch: list[_Waiting[T, R]] = []
            size = 0
            while lane.queues and len(batch) < limits.reports and size < self._size_max:
                batch += lane.take(next(iter(lane.queues)), 1)
                size += batch[-1].size
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


def _is_large(queue: Sequence[_Waiting[T, R]]) -> bool:
    return sum(_REPORT_BYTES + waiting.size for waiting in queue) > _LARGE_BYTES


def _shutting_down() -> ProductError:
    return ProductError(
        "shutting_down",
        503,
        "Server is stopping: the report is not stored. Send it again.",
        headers={"Retry-After": "2"},
    )
