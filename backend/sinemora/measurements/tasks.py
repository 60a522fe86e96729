"""Sweeps of measurements. Each finds its work in the database, so one that was lost is caught up by the next."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import select

from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.measurements import frame, merging, metrics, queries, rollup, writes
from sinemora.measurements.queries import StoredFrame
from sinemora.measurements.writes import FrameRow, RosterKeys
from sinemora.tenants.models import TenantQuota
from sinemora.tenants.quotas import effective

log = structlog.get_logger(__name__)

# Agents send a window within seconds of its end; who is later marks the minute again.
_GRACE = timedelta(seconds=10)
_MINUTES_AT_ONCE = 5
_VMS_AT_ONCE = 50
_GAPS_LOOKED_FOR = timedelta(hours=3)

_rosters = RosterKeys()


@celery.task(name="measurements.roll_up")
def roll_up() -> None:
    """Merge the windows of every minute that is over and has new ones."""
    due = datetime.now(UTC) - _GRACE
    with system_session() as session:
        meshes = writes.marked_meshes(session, due)
    for tenant_key, mesh_key in meshes:
        while roll_up_mesh(tenant_key, mesh_key, due):
            pass


def roll_up_mesh(tenant_key: int, mesh_key: int, due: datetime) -> int:
    """Merge some marked minutes of a mesh in one transaction; how many."""
    learnt: dict[tuple[int, bytes], int] = {}
    with system_session() as session:
        minutes = writes.take_marks(session, tenant_key, mesh_key, due, _MINUTES_AT_ONCE)
        for minute in minutes:
            vms = queries.vms_within(session, tenant_key, mesh_key, minute)
            for first in range(0, len(vms), _VMS_AT_ONCE):
                some = vms[first : first + _VMS_AT_ONCE]
                stored = queries.frames_within(session, tenant_key, mesh_key, minute, some)
                rows = _merged(stored, tenant_key, mesh_key, int(minute.timestamp()))
                counts = Counter(one.vm_key for one in stored)
                learnt |= writes.store_minute(session, rows, counts, _rosters)
    _rosters.learn(learnt)
    metrics.ROLLED_MINUTES.inc(len(minutes))
    return len(minutes)


def _merged(stored: list[StoredFrame], tenant_key: int, mesh_key: int, started_at_s: int) -> list[FrameRow]:
    """One frame per VM of all these, as rows."""
    return [
        FrameRow(
            tenant_key,
            mesh_key,
            started_at_s,
            block.vm_key,
            number,
            60,
            block.targets,
            frame.encode_stats(block.stats),
            frame.encode_sketches(block.sketches),
        )
        for whole in rollup.merge(merging.frames_of(stored))
        for number, block in enumerate(whole.blocks())
    ]


@celery.task(name="measurements.find_gaps")
def find_gaps() -> None:
    """Mark minutes that should have been merged and were not."""
    now = datetime.now(UTC)
    # What is younger is marked already, and being worked on.
    end = (now - timedelta(minutes=3)).replace(second=0, microsecond=0)
    with system_session() as session:
        found = writes.mark_gaps(session, end - _GAPS_LOOKED_FOR, end)
    if found:
        log.warning("minutes were not merged", minutes=found)


@celery.task(name="measurements.partitions")
def partitions() -> None:
    """Make partitions ahead, and drop what is older than what is kept."""
    now = datetime.now(UTC)
    raw_from = now - timedelta(days=settings().retention_raw_days)
    minutes_from = now - timedelta(days=settings().retention_1m_days)
    with system_session() as session:
        writes.make_partitions(session, now, settings().retention_raw_days)
    for table, kept_from in (
        ("probe_frames", raw_from),
        ("probe_frames_1m", minutes_from),
        ("spikes", minutes_from),
    ):
        with system_session() as session:  # each waits for its own lock, and may fail alone
            dropped = writes.drop_before(session, table, kept_from.date())
        if dropped:
            log.info("retention", table=table, partitions=dropped)
    with system_session() as session:
        writes.forget_latest(session, raw_from)


@celery.task(name="measurements.shorten")
def shorten() -> None:
    """Delete what tenants may keep for fewer days than the installation does."""
    now = datetime.now(UTC)
    with system_session() as session:
        days = {row.tenant_id: effective(row) for row in session.scalars(select(TenantQuota))}
    for tenant_id, limits in days.items():
        for table, kept_days, most in (
            ("probe_frames", limits.raw_days, settings().retention_raw_days),
            ("probe_frames_1m", limits.minute_days, settings().retention_1m_days),
            ("spikes", limits.minute_days, settings().retention_1m_days),
        ):
            if kept_days < most:
                with system_session() as session:
                    gone = writes.delete_before(session, table, tenant_id, now - timedelta(days=kept_days))
                if gone:
                    log.info("retention of a tenant", tenant=str(tenant_id), table=table, rows=gone)
