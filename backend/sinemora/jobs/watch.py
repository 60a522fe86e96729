"""Long polling for the end of jobs."""

from uuid import UUID

from sinemora.jobs import queries
from sinemora.kit.db import system_session
from sinemora.kit.long_poll import LongPoll

MAX_WAIT_S = 30
"""Longest wait of a request for the end of a job, s."""
_POLL_S = 0.5

TenantJob = tuple[UUID, UUID]
"""Tenant and job."""


def ended_watch() -> LongPoll[TenantJob, bool]:
    """Return the waits for jobs that are open (True); jobs that ended or do not exist are not (False)."""
    return LongPoll(_are_open, _POLL_S)


def _are_open(wanted: list[TenantJob]) -> dict[TenantJob, bool]:
    with system_session() as session:
        open_jobs = queries.open_of(session, [job_id for _, job_id in wanted])
    return {one: one in open_jobs for one in wanted}
