"""SQL of jobs. A worker's statements name its attempt, so a worker that lost its job changes nothing."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, literal, or_, select, text, update
from sqlalchemy.orm import Session, aliased

from sinemora.jobs.models import FINAL, Job, JobChunk, JobState, Queue, Side

SOLVE_SILENT_S = 8.0
"""Time without a heartbeat after which the worker of a solve counts as dead, s. Its child process does the work, so it
is late only when the database is."""
SILENT_S = 30.0
"""Time for work in the process of the worker, which long native calls can silence, s."""
_TURN_LOCK = 84200031
_TURNS_REMEMBERED = timedelta(days=1)


def same_job(session: Session, kind: str, digest: bytes, since: datetime) -> Job | None:
    """Return the newest job with this digest that was submitted since then and has not failed."""
    return session.scalars(
        select(Job)
        .where(
            Job.kind == kind,
            Job.digest == digest,
            Job.created_at >= since,
            Job.state.in_((JobState.queued, JobState.running, JobState.succeeded)),
            Job.cancel_requested.is_(False),
        )
        .order_by(Job.created_at.desc())
        .limit(1)
    ).first()


def count_open(session: Session) -> int:
    """Return the number of the tenant's queued and running jobs."""
    return session.scalar(select(func.count()).select_from(Job).where(Job.state.not_in(FINAL))) or 0


def open_of(session: Session, job_ids: Sequence[UUID]) -> set[tuple[UUID, UUID]]:
    """Return tenant and id of those jobs that are queued or running."""
    rows = session.execute(select(Job.tenant_id, Job.id).where(Job.id.in_(job_ids), Job.state.not_in(FINAL)))
    return {(tenant_id, job_id) for tenant_id, job_id in rows}


def job_locked(session: Session, job_id: UUID) -> Job | None:
    """Return a job, locked against its worker and other requests."""
    return session.scalars(select(Job).where(Job.id == job_id).with_for_update()).one_or_none()


def claim(session: Session, job_id: UUID, now: datetime) -> Job | None:
    """Start a job that is queued, or whose worker is silent. None when another worker holds it."""
    return session.scalars(
        update(Job)
        .where(Job.id == job_id, _unheld(now))
        .values(
            state=JobState.running,
            attempt=Job.attempt + 1,
            heartbeat_at=now,
            started_at=func.coalesce(Job.started_at, now),
            progress=None,
            note="",
        )
        .returning(Job)
    ).one_or_none()


def next_in_turn(session: Session, queue: Queue, now: datetime) -> UUID | None:
    """Return the job of a queue that is to run next, locked until the transaction ends; None when none waits.

    Tenants take turns: the one with the fewest running jobs is first, then the one whose last start is longest ago.
    Within a tenant the oldest job is first.
    """
    session.execute(text("SELECT pg_advisory_xact_lock(:lock, hashtext(:queue))"), {"lock": _TURN_LOCK, "queue": queue})
    other = aliased(Job)
    of_tenant = (other.tenant_id == Job.tenant_id, other.queue == queue, other.created_at > now - _TURNS_REMEMBERED)
    running = select(func.count()).where(*of_tenant, other.state == JobState.running).scalar_subquery()
    last_start = select(func.max(other.started_at)).where(*of_tenant).scalar_subquery()
    return session.scalar(
        select(Job.id)
        .where(Job.queue == queue, _unheld(now))
        .order_by(running, last_start.asc().nulls_first(), Job.created_at)
        .limit(1)
        .with_for_update(of=Job, skip_locked=True)
    )


def beat(session: Session, job_id: UUID, attempt: int, now: datetime, progress: float | None, note: str) -> bool | None:
    """Store a heartbeat. Return whether the job must stop; None when another worker holds it."""
    return session.scalar(
        update(Job)
        .where(Job.id == job_id, Job.attempt == attempt, Job.state == JobState.running)
        .values(heartbeat_at=now, progress=progress, note=note)
        .returning(Job.cancel_requested)
    )


def must_stop(session: Session, job_id: UUID, attempt: int) -> bool | None:
    """Return whether a running job must stop; None when another worker holds it."""
    held = (Job.id == job_id, Job.attempt == attempt, Job.state == JobState.running)
    return session.scalar(select(Job.cancel_requested).where(*held))


def write(session: Session, job_id: UUID, attempt: int, values: dict[str, Any]) -> bool:
    """Write columns of a running job. Return False when another worker holds it."""
    ended = session.execute(
        update(Job)
        .where(Job.id == job_id, Job.attempt == attempt, Job.state == JobState.running)
        .values(**values)
        .returning(Job.id)
    )
    return ended.first() is not None


def is_held(session: Session, job_id: UUID, attempt: int) -> bool:
    """Return whether a worker still holds its job; if so, it is locked until this transaction ends."""
    held = select(Job.id).where(Job.id == job_id, Job.attempt == attempt, Job.state == JobState.running)
    return session.scalar(held.with_for_update(key_share=True)) is not None


def chunks(session: Session, job_id: UUID, side: Side) -> Iterator[bytes]:
    """Yield the bytes of a job in chunks."""
    number = 0
    while True:
        data = session.scalar(
            select(JobChunk.data).where(JobChunk.job_id == job_id, JobChunk.side == side, JobChunk.number == number)
        )
        if data is None:
            return
        yield data
        number += 1


def delete_output(session: Session, job_id: UUID) -> None:
    """Delete the output of an earlier attempt."""
    session.execute(delete(JobChunk).where(JobChunk.job_id == job_id, JobChunk.side == Side.output))


def abandoned_jobs(session: Session, now: datetime, waiting_s: float) -> Sequence[Job]:
    """Return the abandoned jobs of all tenants: queued for `waiting_s`, or running with a silent worker."""
    return session.scalars(
        select(Job)
        .where(or_((Job.state == JobState.queued) & (Job.created_at < now - timedelta(seconds=waiting_s)), _dead(now)))
        .order_by(Job.created_at)
        .limit(1000)
    ).all()


def _unheld(now: datetime) -> ColumnElement[bool]:
    return or_(Job.state == JobState.queued, _dead(now))


def _dead(now: datetime) -> ColumnElement[bool]:
    """Return the condition that the worker of a job is silent, and considered dead."""
    silent_s = case((Job.queue == Queue.solve, SOLVE_SILENT_S), else_=SILENT_S)
    return (Job.state == JobState.running) & (
        Job.heartbeat_at < literal(now) - func.make_interval(0, 0, 0, 0, 0, 0, silent_s)
    )


def delete_finished(session: Session, before: datetime) -> int:
    """Delete jobs of all tenants that ended before then, with their bytes. Return their number."""
    deleted = session.execute(text("DELETE FROM jobs WHERE finished_at < :before"), {"before": before})
    return int(deleted.rowcount)  # type: ignore[attr-defined]
