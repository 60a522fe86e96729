"""Context of a running job: its parameters and input, its progress, its checkpoint and its output."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.access.tenants import mesh_limits
from sinemora.jobs import queries
from sinemora.jobs.heartbeat import JobLost, Reporter
from sinemora.jobs.models import Job, JobChunk, Side
from sinemora.kit.db import ANSWER_LIMIT_S, answer_limit, system_session, tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.mesh_limit import MeshLimit, limited_to

CHUNK_BYTES = 1 << 20
OUTPUT_BYTES_MAX = 512 << 20
_STATEMENT_S = 1800


class JobContext:
    """One attempt at a job, as its work sees it."""

    def __init__(self, job: Job, reporter: Reporter) -> None:
        self.job_id: UUID = job.id
        self.tenant_id: UUID = job.tenant_id
        self.attempt: int = job.attempt
        self.params: dict[str, Any] = job.params
        self.checkpoint: dict[str, Any] | None = job.checkpoint
        self.requested_by: str = job.requested_by
        self._mesh_ids: list[UUID] | None = job.mesh_ids
        self._reporter = reporter

    def progress(self, share: float | None, note: str = "") -> None:
        """Report progress (0 … 1) and the current step. Raises `JobCancelled`, `JobLost` when the job must stop."""
        self._reporter.report(None if share is None else min(max(share, 0.0), 1.0), note)
        self._reporter.check()

    def check(self) -> None:
        """Raise `JobCancelled` or `JobLost` when the job must stop."""
        self._reporter.check()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a transaction as the job's tenant, with longer timeouts than a request has."""
        limited = limited_to(self._mesh_limit())
        with limited, answer_limit(_STATEMENT_S + ANSWER_LIMIT_S), tenant_session(self.tenant_id) as session:
            for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
                session.execute(text(f"SET LOCAL {limit} = '{_STATEMENT_S}s'"))
            yield session

    def _mesh_limit(self) -> MeshLimit | None:
        """Return the limit of the job's caller: what the caller does not see is not in the result either."""
        if self._mesh_ids is None:
            return None
        with system_session() as session:
            return mesh_limits.limit(session, self.tenant_id, self._mesh_ids)

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
