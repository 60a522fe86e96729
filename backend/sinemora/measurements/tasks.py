"""Sweeps of measurements. Each finds its work in the database, so one that was lost is caught up by the next."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.measurements import metrics
from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.aggregate import merge, rollup
from sinemora.measurements.codec.frame import Frame
from sinemora.measurements.store import corrections, inserts, invalidation
from sinemora.measurements.store import frames as frame_queries
from sinemora.measurements.store import partitions as partition_queries
from sinemora.measurements.store.inserts import FrameRow, RosterKeys
from sinemora.measurements.store.retention import kept_from_of, kept_tables
from sinemora.measurements.store.tiers import ROLLED, Tier, TierRange, floor
from sinemora.tenants.models import TenantQuota
from sinemora.tenants.quotas import effective

log = structlog.get_logger(__name__)

# Agents send a window within seconds of its end; who is later marks the minute again.
_GRACE = timedelta(seconds=10)
_STEPS_AT_ONCE = 5
_VMS_AT_ONCE = 20
_GAPS_LOOKED_FOR = timedelta(hours=3)

_rosters = RosterKeys()


@celery.task(name="measurements.roll_up")
def roll_up() -> None:
    """Merge the frames of every step that is over and has new ones, tier by tier."""
    due = datetime.now(UTC) - _GRACE
    for tier in ROLLED:
        with system_session() as session:
            meshes = invalidation.meshes(session, tier, due)
        for tenant_key, mesh_key in meshes:
            while roll_up_mesh(tenant_key, mesh_key, tier, due):
                pass


def roll_up_mesh(tenant_key: int, mesh_key: int, tier: Tier, due: datetime) -> int:
    """Merge some marked steps of a mesh in one transaction; how many. Each marks its step of the next tier."""
    learnt: dict[tuple[int, bytes], int] = {}
    with system_session() as session:
        steps = invalidation.take(session, tenant_key, mesh_key, tier, due, _STEPS_AT_ONCE)
        for start in steps:
            stretch = TierRange(tier.finer, start, start + timedelta(seconds=tier.step_s))
            learnt |= _roll_up_step(session, tenant_key, mesh_key, tier, stretch)
        if tier.coarser:
            following = {floor(start, tier.coarser.step_s) for start in steps}
            invalidation.add(session, tenant_key, mesh_key, tier.coarser, following)
    _rosters.learn(learnt)
    metrics.ROLLED_MINUTES.inc(len(steps) if tier is Tier.MINUTE else 0)
    return len(steps)


def _roll_up_step(
    session: Session, tenant_key: int, mesh_key: int, tier: Tier, stretch: TierRange
) -> dict[tuple[int, bytes], int]:
    """Merge and store one step of a tier, its VMs and its zones; rosters learnt on the way."""
    learnt: dict[tuple[int, bytes], int] = {}
    started_at_s = int(stretch.start.timestamp())
    zones = frame_queries.zones_of_vms(session, tenant_key) if tier is Tier.MINUTE else None
    # Delays of VMs are corrected when they are read; those of zones, whose pairs are no longer known then, here.
    known = corrections.of_mesh(session, tenant_key, mesh_key, stretch.start, stretch.end) if zones is not None else []
    between: list[Frame] = []
    vms = frame_queries.vms_within(session, tenant_key, mesh_key, stretch)
    for first in range(0, len(vms), _VMS_AT_ONCE):
        some = vms[first : first + _VMS_AT_ONCE]
        stored = frame_queries.frames_within(session, tenant_key, mesh_key, stretch, some)
        merged = merge.merged_frames(stored)
        counts = Counter(one.vm_key for one in stored)
        learnt |= inserts.store_merged(
            session, tier, _rows(merged, tenant_key, mesh_key, started_at_s, tier.step_s), counts, _rosters
        )
        if zones is not None:
            frames = [merge.corrected(one, started_at_s, known) for one in merged]
            between += rollup.merge_zones(frames, *zones)
    if zones is None:
        of_zones = frame_queries.zone_frames_within(session, tenant_key, mesh_key, stretch)
        merged, counts = merge.merged_frames(of_zones), Counter(one.vm_key for one in of_zones)
    else:
        merged, counts = rollup.merge(between), Counter(part.vm_key for part in between)
    if merged:
        rows = _rows(merged, tenant_key, mesh_key, started_at_s, tier.step_s)
        learnt |= inserts.store_merged_zones(session, tier, rows, counts, _rosters)
    return learnt


def _rows(merged: Sequence[Frame], tenant_key: int, mesh_key: int, started_at_s: int, step_s: int) -> list[FrameRow]:
    """Frames of one step as rows."""
    return [row for whole in merged for row in inserts.rows_of(whole, tenant_key, mesh_key, started_at_s, step_s)]


@celery.task(name="measurements.correct")
def correct() -> None:
    """Find corrections of one-way delays for every mesh whose agents have told their clocks anew."""
    with system_session() as session:
        meshes = corrections.due_meshes(session)
    for tenant_key, mesh_key in meshes:
        with system_session() as session:
            told, window_s = corrections.clock_reports(session, tenant_key, mesh_key)
            ended_at = datetime.fromtimestamp(max(one.ended_at_s for one in told), UTC)
            shifts, loops = clock_corrections.compute_shifts(told)
            started_at = ended_at - timedelta(seconds=window_s)
            corrections.store(session, tenant_key, mesh_key, started_at, ended_at, shifts, loops)


@celery.task(name="measurements.find_gaps")
def find_gaps() -> None:
    """Mark steps that should have been merged and were not."""
    now = datetime.now(UTC)
    for tier in ROLLED:
        # What is younger is marked already, and being worked on.
        end = floor(now - timedelta(minutes=2, seconds=tier.step_s), tier.step_s)
        start = floor(end - max(_GAPS_LOOKED_FOR, timedelta(seconds=2 * tier.step_s)), tier.step_s)
        with system_session() as session:
            found = invalidation.add_gaps(session, tier, start, end)
        if found:
            log.warning("steps were not merged", tier=tier.name.lower(), steps=found)


@celery.task(name="measurements.partitions")
def partitions() -> None:
    """Make partitions ahead, and drop what is older than what is kept."""
    now = datetime.now(UTC)
    with system_session() as session:
        partition_queries.make_ahead(session, now, settings().retention_raw_days)
    for table, kept_from in kept_tables(now).items():
        with system_session() as session:  # each waits for its own lock, and may fail alone
            dropped = partition_queries.drop_before(session, table, kept_from.date())
        if dropped:
            log.info("retention", table=table, partitions=dropped)
    kept = kept_from_of(now)
    with system_session() as session:
        partition_queries.delete_latest(session, kept[Tier.RAW])
        # A roster is written at least once a day while it is in use.
        partition_queries.drop_rosters(session, min(kept.values()) - timedelta(days=2))
        corrections.delete_before(session, min(kept.values()))


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
            ("zone_frames_1m", limits.minute_days, settings().retention_1m_days),
            ("spikes", limits.minute_days, settings().retention_1m_days),
        ):
            if kept_days < most:
                with system_session() as session:
                    gone = partition_queries.delete_before(session, table, tenant_id, now - timedelta(days=kept_days))
                if gone:
                    log.info("retention of a tenant", tenant=str(tenant_id), table=table, rows=gone)
