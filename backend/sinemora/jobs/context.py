"""Context of a running job: its parameters and input, its progress, its checkpoint and its output."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import exc, text
from sqlalchemy.orm import Session

from sinemora.jobs import queries
from sinemora.jobs.models import Job, JobChunk, Side
from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError

log = structlog.get_logger(__name__)

BEAT_S = 5.0
_REPORT_S = 1.0
CHUNK_BYTES = 1 << 20
OUTPUT_BYTES_MAX = 512 << 20


class JobCancelled(Exception):
    """A user cancelled the job."""


class JobLost(Exception):
    """The job was passed to another worker, or deleted."""


class JobContext:
    """One attempt at a job. While it is entered, a thread sends heartbeats."""

    def __init__(self, job: Job) -> None:
        self.job_id: UUID = job.id
        self.tenant_id: UUID = job.tenant_id
        self.attempt: int = job.attempt
        self.params: dict[str, Any] = job.params
        self.checkpoint: dict[str, Any] | None = job.checkpoint
        self.requested_by: str = job.requested_by
        self._progress: float | None = None
        self._note = ""
        self._changed = False
        self._cancelled = self._lost = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="job-heartbeat", daemon=True)

    def __enter__(self) -> "JobContext":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def progress(self, share: float | None, note: str = "") -> None:
        """Report progress (0 … 1) and the current step. Raises `JobCancelled`, `JobLost` when the job must stop."""
        self._progress = None if share is None else min(max(share, 0.0), 1.0)
        self._note = note
        self._changed = True
        self.check()

    def check(self) -> None:
        """Raise `JobCancelled` or `JobLost` when the job must stop."""
        if self._lost:
            raise JobLost
        if self._cancelled:
            raise JobCancelled

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a transaction as the job's tenant, with longer timeouts than a request has."""
        with tenant_session(self.tenant_id) as session:
            session.execute(
                text("SET LOCAL statement_timeout = '30min'; SET LOCAL idle_in_transaction_session_timeout = '30min'")
            )
            yield session

    def input(self) -> Iterator[bytes]:
        """Yield the input of the job in chunks."""
        with self.session() as session:
            yield from queries.chunks(session, self.job_id, Side.input)

    def keep(self, session: Session, checkpoint: dict[str, Any]) -> None:
        """Commit a checkpoint with the work of `session`; the next attempt finds it in `checkpoint`."""
        if not queries.write(session, self.job_id, self.attempt, {"checkpoint": checkpoint}):
            raise JobLost
        self.checkpoint = checkpoint

    @contextmanager
    def output(self, name: str, media_type: str) -> Iterator["OutputWriter"]:
        """Open the output file. It replaces the file of an earlier attempt and is readable after success."""
        with self.session() as session:
            queries.delete_output(session, self.job_id)
        writer = OutputWriter(self, name, media_type)
        yield writer
        writer.close()

    def _beat(self) -> None:
        quiet_s = 0.0
        while not self._ended.wait(_REPORT_S):
            quiet_s += _REPORT_S
            if not self._changed and quiet_s < BEAT_S:
                continue
            self._changed, quiet_s = False, 0.0
            try:
                with tenant_session(self.tenant_id) as session:
                    cancel_requested = queries.beat(
                        session, self.job_id, self.attempt, datetime.now(UTC), self._progress, self._note
                    )
            except (exc.SQLAlchemyError, LookupError) as error:
                log.warning("heartbeat of a job failed", job=str(self.job_id), error=str(error))
                continue
            self._lost = cancel_requested is None
            self._cancelled = bool(cancel_requested)


class OutputWriter:
    """Output file of a job, stored in chunks while it is written."""

    def __init__(self, running: JobContext, name: str, media_type: str) -> None:
        self.name = name
        self.media_type = media_type
        self.size_bytes = 0
        self._running = running
        self._buffer = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Add bytes. ProductError `output_too_large`."""
        self._buffer += data
        self.size_bytes += len(data)
        if self.size_bytes > OUTPUT_BYTES_MAX:
            raise ProductError(
                "output_too_large",
                409,
                f"Output too large: more than {OUTPUT_BYTES_MAX >> 20} MiB. Request a shorter range or fewer paths.",
            )
        while len(self._buffer) >= CHUNK_BYTES:
            self._store(CHUNK_BYTES)

    def close(self) -> None:
        """Store the rest and record the file in the job."""
        if self._buffer or self._number == 0:
            self._store(len(self._buffer))
        with self._running.session() as session:
            values = {
                "output_name": self.name,
                "output_media_type": self.media_type,
                "output_bytes": self.size_bytes,
            }
            if not queries.write(session, self._running.job_id, self._running.attempt, values):
                raise JobLost

    def _store(self, size: int) -> None:
        self._running.check()
        with self._running.session() as session:
            if not queries.is_held(session, self._running.job_id, self._running.attempt):
                raise JobLost
            data = bytes(self._buffer[:size])
            session.add(JobChunk(job_id=self._running.job_id, side=Side.output, number=self._number, data=data))
        del self._buffer[:size]
        self._number += 1
