"""Group commit: one transaction for all waiting reports, and no response before it has committed.

When a batch fails, its reports are stored one at a time, so that a bad report never fails the others.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import structlog
from sqlalchemy import exc

from sinemora.kit.errors import ProductError, database_error
from sinemora.measurements import metrics
from sinemora.measurements.ingest.batching import BatchLimits, BatchQueue

log = structlog.get_logger(__name__)

BATCH_REPORTS_MAX = 500
BATCH_BYTES_MAX = 16 << 20

T = TypeVar("T")


class BatchWriter(Generic[T]):
    """Queue of at most `capacity` reports, stored with `store`, which commits all of a batch or raises."""

    def __init__(
        self,
        store: Callable[[Sequence[T]], None],
        capacity: int,
        batch_ms: int,
        owner: Callable[[T], Hashable] | None = None,
    ) -> None:
        self._store = store
        limits = BatchLimits(BATCH_REPORTS_MAX, BATCH_BYTES_MAX, batch_ms / 1000)
        self._queue: BatchQueue[T, T | None] = BatchQueue(
            "ingest-writer", self._commit, capacity, limits, metrics.QUEUE, owner=owner
        )
        self.add = self._queue.add

    async def write(self, report: T, size: int) -> T | None:
        """Return `report` (`size` bytes) once it is committed. From other threads: `add`.

        ProductError: `ingest_busy` (429) when too many wait, `database_unavailable` or `database_busy` (503),
        `shutting_down` (503), `report_not_storable` (422).
        """
        return await self._queue.put(report, size)

    def close(self, patience_s: float = 10) -> None:
        """Store the queue, then stop. Refuse what is not stored after `patience_s`; its agents send it again."""
        self._queue.close(patience_s)

    def _commit(self, reports: Sequence[T]) -> list[T | ProductError | None]:
        started_s = time.monotonic()
        outcomes = self._store_batch(reports)
        metrics.BATCH_SECONDS.observe(time.monotonic() - started_s)
        metrics.BATCH_REPORTS.observe(len(reports))
        return outcomes

    def _store_batch(self, reports: Sequence[T]) -> list[T | ProductError | None]:
        """Store a batch. Return each report that is stored, and the refusal of each other one."""
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
        return list(reports)

    def _store_patiently(self, reports: Sequence[T]) -> None:
        """Store, and retry once when the connection or a lock was lost."""
        try:
            self._store(reports)
        except exc.DBAPIError as error:
            answer = database_error(error)
            if answer is None or answer.status != 503:
                raise
            self._store(reports)


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
