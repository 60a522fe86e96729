"""SQL of jobs. A worker's statements name its attempt, so a worker that lost its job changes nothing."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, literal, or_, select, text, update
from sqlalchemy.orm import Session

from sinemora.jobs import order
from sinemora.jobs.models import FINAL, Job, JobChunk, JobState, Queue, Side
from sinemora.kit.db import every_mesh
from sinemora.kit.json_text import storable

SOLVE_SILENT_S = 8.0
"""Time without a heartbeat after which the worker of a solve counts as dead, s. Its child process does the work, so it
is late only when the database is."""
SILENT_S = 30.0
"""Time for work in the process of the worker, which long native calls can silence, s."""
_ORDER_LOCK = 84200031
_DURATIONS_OF = timedelta(days=7)
CostOf = Callable[[str, float, float | None], float]
"""Expected duration of a job, s, from its kind, its size and the median duration by size of its kind, if known."""


def same_job(session: Session, kind: str, digest: bytes, since: datetime, mesh_ids: list[UUID] | None) -> Job | None:
    """Return the newest job with this digest and this limit that was submitted since then and has not failed."""
    return session.scalars(
        select(Job)
        .where(
            Job.kind == kind,
            Job.digest == digest,
            Job.mesh_ids.is_not_distinct_from(mesh_ids),
            Job.created_at >= since,
            Job.state.in_((JobState.queued, JobState.running, JobState.succeeded)),
            Job.cancel_requested.is_(False),
        )
        .order_by(Job.created_at.desc())
        .limit(1)
    ).first()


def count_open(session: Session) -> int:
    """Return the number of the tenant's queued and running jobs."""
    with every_mesh(session):
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


def next_in_order(session: Session, queue: Queue, now: datetime, cost_of: CostOf) -> UUID | None:
    """Return the job of a queue that is to run next, locked until the transaction ends; None when none may run.

    `order.in_order` decides. A tenant has at most one running job of the queue `bulk`, whose jobs move much data. The
    session must see all tenants.
    """
    session.execute(
        text("SELECT pg_advisory_xact_lock(:lock, hashtext(:queue))"), {"lock": _ORDER_LOCK, "queue": queue}
    )
    rows = session.execute(
        select(Job.id, Job.tenant_id, Job.created_at, Job.kind, Job.size).where(Job.queue == queue, _unheld(now))
    ).all()
    if not rows:
        return None
    medians = _seconds_per_size(session, queue, now)
    waiting = [
        order.WaitingJob(job_id, tenant_id, created_at, cost_of(kind, size, medians.get(kind)))
        for job_id, tenant_id, created_at, kind, size in rows
    ]
    tenants = {job.tenant_id for job in waiting}
    of_tenants = (Job.queue == queue, Job.tenant_id.in_(tenants))
    started = select(Job.tenant_id, Job.started_at).where(
        *of_tenants, Job.started_at >= min(job.created_at for job in waiting), Job.started_at <= now
    )
    starts = [order.Start(tenant_id, at) for tenant_id, at in session.execute(started) if at is not None]
    counted = select(Job.tenant_id, func.count()).where(*of_tenants, Job.state == JobState.running, ~_dead(now))
    running = {tenant_id: count for tenant_id, count in session.execute(counted.group_by(Job.tenant_id))}
    if queue is Queue.bulk:
        waiting = [job for job in waiting if job.tenant_id not in running]
    for job in order.in_order(waiting, starts, running, now):
        # Locked by a request that cancels it: it will not run.
        if session.scalar(select(Job.id).where(Job.id == job.job_id).with_for_update(skip_locked=True)):
            return job.job_id
    return None


def waits(session: Session, queue: Queue, tenant_id: UUID) -> Job | None:
    """Return the oldest job of a tenant that waits in a queue, if one does."""
    waiting = select(Job).where(Job.tenant_id == tenant_id, Job.queue == queue, Job.state == JobState.queued)
    return session.scalars(waiting.order_by(Job.created_at).limit(1)).one_or_none()


def _seconds_per_size(session: Session, queue: Queue, now: datetime) -> dict[str, float]:
    """Return the median duration of each kind of job by its size, s, over those that succeeded lately."""
    took_s = func.extract("epoch", Job.finished_at - Job.started_at) / Job.size
    rows = session.execute(
        select(Job.kind, func.percentile_cont(0.5).within_group(took_s))
        .where(Job.queue == queue, Job.state == JobState.succeeded, Job.finished_at > now - _DURATIONS_OF)
        .group_by(Job.kind)
    )
    return {kind: float(median) for kind, median in rows}


def beat(session: Session, job_id: UUID, attempt: int, now: datetime, progress: float | None, note: str) -> bool | None:
    """Store a heartbeat. Return whether the job must stop; None when another worker holds it."""
    return session.scalar(
        update(Job)
        .where(Job.id == job_id, Job.attempt == attempt, Job.state == JobState.running)
        .values(heartbeat_at=now, progress=progress, note=storable(note))
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
        .values(**storable(values))
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
