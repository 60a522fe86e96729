"""Group commit: one transaction for all waiting reports, and no response before it has committed.

Reports are queued on the event loop and stored by one thread. An idle writer stores at once; while it is busy the next
batch fills. When a batch fails, its reports are stored one at a time, so that a bad report never fails the others.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from sqlalchemy import exc

from sinemora.kit.errors import ProductError, database_error
from sinemora.measurements import metrics

log = structlog.get_logger(__name__)

BATCH_REPORTS_MAX = 500
BATCH_BYTES_MAX = 16 << 20
QUEUE_BYTES_MAX = 128 << 20

T = TypeVar("T")


@dataclass(slots=True)
class _Waiting(Generic[T]):
    """A queued report and the future that its request awaits."""

    report: T
    size: int
    done: asyncio.Future[None]


class BatchWriter(Generic[T]):
    """Queue of at most `capacity` reports, stored with `store`, which commits all of a batch or raises."""

    def __init__(self, store: Callable[[Sequence[T]], None], capacity: int, batch_ms: int) -> None:
        self._store = store
        self._capacity = capacity
        self._pause_s = batch_ms / 1000
        self._loop = asyncio.get_running_loop()
        self._queue: deque[_Waiting[T]] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="ingest-writer", daemon=True)
        self._thread.start()

    async def write(self, report: T, size: int) -> None:
        """Return once `report` (`size` bytes) is committed.

        ProductError: `ingest_busy` (429) when too many wait, `database_unavailable` or `database_busy` (503),
        `shutting_down` (503), `report_not_storable` (422).
        """
        waiting = _Waiting(report, size, self._loop.create_future())
        with self._changed:
            if self._stopping:
                raise _shutting_down()
            if len(self._queue) >= self._capacity or self._bytes + size > QUEUE_BYTES_MAX:
                raise ProductError(
                    "ingest_busy",
                    429,
                    f"Ingest queue full: {len(self._queue)} reports wait. Keep this report and send it again.",
                    headers={"Retry-After": "2"},
                )
            self._queue.append(waiting)
            self._bytes += size
            self._changed.notify()
        metrics.QUEUE.set(len(self._queue))
        await waiting.done

    def close(self, patience_s: float = 10) -> None:
        """Store the queue, then stop. Refuse what is not stored after `patience_s`; its agents send it again."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(patience_s)
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
        self._answer(left, [_shutting_down()] * len(left))

    def _run(self) -> None:
        stored_s = 0.0
        while batch := self._next(stored_s + self._pause_s):
            stored_s = time.monotonic()
            outcomes = self._store_batch([waiting.report for waiting in batch])
            metrics.BATCH_SECONDS.observe(time.monotonic() - stored_s)
            metrics.BATCH_REPORTS.observe(len(batch))
            self._answer(batch, outcomes)

    def _next(self, not_before_s: float) -> list[_Waiting[T]]:
        """Wait for the next batch and return it; empty when the writer stops."""
        with self._changed:
            while not self._queue and not self._stopping:
                self._changed.wait()
            # Under load a pause lets the batch grow: fewer commits, more reports a second.
            while not self._stopping and len(self._queue) < BATCH_REPORTS_MAX:
                left_s = not_before_s - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            batch: list[_Waiting[T]] = []
            size = 0
            while self._queue and len(batch) < BATCH_REPORTS_MAX and size < BATCH_BYTES_MAX:
                batch.append(self._queue.popleft())
                size += batch[-1].size
            self._bytes -= size
        metrics.QUEUE.set(len(self._queue))
        return batch

    def _store_batch(self, reports: list[T]) -> list[ProductError | None]:
        """Store a batch. Return None for each stored report and the error of each refused one."""
        try:
            self._store_patiently(reports)
        except Exception as error:
            refusal = _refusal(error)
            if refusal.status == 503 or len(reports) == 1:
                if refusal.status != 503:
                    log.exception("report not storable")
                return [refusal] * len(reports)
            log.warning("batch failed, storing its reports singly", reports=len(reports), error=str(error))
            return [outcome for report in reports for outcome in self._store_batch([report])]
        return [None] * len(reports)

    def _store_patiently(self, reports: list[T]) -> None:
        """Store, and retry once when the connection or a lock was lost."""
        try:
            self._store(reports)
        except exc.DBAPIError as error:
            answer = database_error(error)
            if answer is None or answer.status != 503:
                raise
            self._store(reports)

    def _answer(self, batch: list[_Waiting[T]], outcomes: Sequence[ProductError | None]) -> None:
        def answer() -> None:
            for waiting, outcome in zip(batch, outcomes, strict=True):
                if waiting.done.done():  # the agent hung up; its report is stored all the same
                    continue
                if outcome is None:
                    waiting.done.set_result(None)
                else:
                    waiting.done.set_exception(outcome)

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(answer)


def _refusal(error: Exception) -> ProductError:
    """Return the refusal of a report whose storing raised `error`."""
    if isinstance(error, ProductError):
        return error
    answer = database_error(error) if isinstance(error, exc.SQLAlchemyError) else None
    if answer is not None and answer.status == 503:
        return answer
    return ProductError(
        "report_not_storable",
        422,
        "Report not storable: it is well formed, but the database refuses it. The server's log shows the reason.",
    )


def _shutting_down() -> ProductError:
    return ProductError(
        "shutting_down",
        503,
        "Server is stopping: the report is not stored. Send it again.",
        headers={"Retry-After": "2"},
    )
