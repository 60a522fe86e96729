"""Heartbeats of a running job: they store its progress and find out that it must stop."""

import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

import structlog
from sqlalchemy import exc

from sinemora.jobs import queries
from sinemora.jobs.models import Job
from sinemora.kit.db import tenant_session

log = structlog.get_logger(__name__)

BEAT_S = 2.0
"""Longest time between two heartbeats, s."""
LOOK_S = 0.5
"""Time between two looks at whether the job must stop, s."""
_REPORT_S = 1.0


class JobCancelled(Exception):
    """A user cancelled the job."""


class JobLost(Exception):
    """The job was passed to another worker, or deleted."""


class Reporter(Protocol):
    """Receiver of progress, which knows whether the job must stop."""

    def report(self, share: float | None, note: str) -> None:
        """Take the progress (0 … 1, None while unknown) and the current step."""

    def check(self) -> None:
        """Raise `JobCancelled` or `JobLost` when the job must stop."""


class Heartbeat:
    """Reporter that a thread stores in the database while it is entered."""

    def __init__(self, job: Job) -> None:
        self._job_id, self._tenant_id, self._attempt = job.id, job.tenant_id, job.attempt
        self._progress: float | None = None
        self._note = ""
        self._changed = False
        self._cancelled = self._lost = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="job-heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        if self._changed and not self._lost:
            self._look(store=True)

    def report(self, share: float | None, note: str) -> None:
        """Take the progress and the current step; the next heartbeat stores them."""
        self._progress, self._note, self._changed = share, note, True

    def check(self) -> None:
        """Raise `JobCancelled` or `JobLost` when the job must stop."""
        if self._lost:
            raise JobLost
        if self._cancelled:
            raise JobCancelled

    def _run(self) -> None:
        quiet_s = 0.0
        while not self._ended.wait(LOOK_S):
            quiet_s += LOOK_S
            store = quiet_s >= (_REPORT_S if self._changed else BEAT_S)
            if self._look(store) and store:
                quiet_s = 0.0

    def _look(self, store: bool) -> bool:
        """Ask whether the job must stop, and store the progress. Return False when the database did not answer."""
        if store:
            self._changed = False
        try:
            with tenant_session(self._tenant_id) as session:
                if store:
                    stop = queries.beat(
                        session, self._job_id, self._attempt, datetime.now(UTC), self._progress, self._note
                    )
                else:
                    stop = queries.must_stop(session, self._job_id, self._attempt)
        except LookupError:  # the tenant was deleted, and its jobs too
            self._lost = True
            return True
        except exc.SQLAlchemyError as error:
            log.warning("heartbeat of a job failed", job=str(self._job_id), error=str(error))
            self._changed |= store
            return False
        self._lost = stop is None
        self._cancelled = bool(stop)
        return True
