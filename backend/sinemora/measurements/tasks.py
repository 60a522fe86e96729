"""Sweeps of measurements. Each finds its work in the database, so the next one makes up for a lost one."""

from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from sinemora.access.tenants.models import TenantQuota
from sinemora.access.tenants.quotas import effective
from sinemora.fleet.meshes import departure
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.measurements import metrics
from sinemora.measurements.aggregate import corrections as clock_corrections
from sinemora.measurements.ingest import presence
from sinemora.measurements.store import corrections, invalidation, traffic_edges
from sinemora.measurements.store import partitions as partition_queries
from sinemora.measurements.store import roll_up as roll_up_service
from sinemora.measurements.store.aged import runs as aged_runs
from sinemora.measurements.store.retention import kept_from_of, kept_tables
from sinemora.measurements.store.tiers import ROLLED, Tier, floor

log = structlog.get_logger(__name__)

# Agents send a window within seconds of its end; a later one marks the minute again.
_GRACE = timedelta(seconds=10)
_GAPS_SEARCHED = timedelta(hours=3)
# The next run continues, an hour after this one began.
_AGING_LIMIT_S = 1800.0


@celery.task(name="measurements.roll_up")
def roll_up() -> None:
    """Merge the frames of every finished step that has new ones, tier by tier."""
    due = datetime.now(UTC) - _GRACE
    for tier in ROLLED:
        with system_session() as session:
            meshes = invalidation.meshes(session, tier, due)
        for tenant_key, mesh_key in meshes:
            try:
                while roll_up_service.roll_up_mesh(tenant_key, mesh_key, tier, due):
                    pass
            except OperationalError:
                raise  # without a database no mesh can be merged
            except Exception:
                # A damaged frame delays no other mesh. The steps stay marked.
                metrics.MERGE_FAILURES.inc()
                log.exception("steps of a mesh were not merged", tier=tier.name.lower(), mesh_key=mesh_key)


@celery.task(name="measurements.correct")
def correct() -> None:
    """Compute corrections of one-way delays for every mesh whose agents have reported clocks since the last run."""
    with system_session() as session:
        meshes = corrections.due_meshes(session)
    for tenant_key, mesh_key in meshes:
        with system_session() as session:
            reports, window_s = corrections.clock_reports(session, tenant_key, mesh_key)
            ended_at = datetime.fromtimestamp(max(report.ended_at_s for report in reports), UTC)
            shifts, loops = clock_corrections.compute_shifts(reports)
            started_at = ended_at - timedelta(seconds=window_s)
            corrections.store(session, tenant_key, mesh_key, started_at, ended_at, shifts, loops)


@celery.task(name="measurements.find_gaps")
def find_gaps() -> None:
    """Mark steps that should have been merged but were not."""
    now = datetime.now(UTC)
    for tier in ROLLED:
        # Younger steps are marked already.
        end = floor(now - timedelta(minutes=2, seconds=tier.step_s), tier.step_s)
        start = floor(end - max(_GAPS_SEARCHED, timedelta(seconds=2 * tier.step_s)), tier.step_s)
        with system_session() as session:
            steps = invalidation.add_gaps(session, tier, start, end)
        if steps:
            log.warning("steps were not merged", tier=tier.name.lower(), steps=steps)


@celery.task(name="measurements.partitions")
def partitions() -> None:
    """Create partitions ahead, and drop rows older than their retention."""
    now = datetime.now(UTC)
    with system_session() as session:
        partition_queries.make_ahead(session, now, settings().retention_raw_days)
    for table, oldest in kept_tables(now).items():
        with system_session() as session:  # each waits for a separate lock and may fail alone
            dropped = partition_queries.drop_before(session, table, oldest.date())
        if dropped:
            log.info("retention", table=table, partitions=dropped)
    kept_from = kept_from_of(now)
    with system_session() as session:
        partition_queries.delete_latest(session, kept_from[Tier.RAW])
        # A roster is written at least once a day while it is in use.
        partition_queries.drop_rosters(session, min(kept_from.values()) - timedelta(days=2))
        corrections.delete_before(session, min(kept_from.values()))
        traffic_edges.delete_old(session, now)


@celery.task(name="measurements.remove_gone")
def remove_gone() -> None:
    """Remove VMs that are gone from meshes whose VMs are short-lived. It needs to know whether agents could report."""
    if removed := departure.remove_gone(datetime.now(UTC), presence.present_since()):
        log.info("VMs removed that were gone", vms=removed)


@celery.task(name="measurements.age")
def age() -> None:
    """Move ranges of merged tiers that are old enough to object storage, where that is set."""
    aged_runs.run(datetime.now(UTC), _AGING_LIMIT_S)


@celery.task(name="measurements.shorten")
def shorten() -> None:
    """Delete data of tenants whose retention is shorter than that of the installation."""
    now = datetime.now(UTC)
    with system_session() as session:
        days = {row.tenant_id: effective(row) for row in session.scalars(select(TenantQuota))}
    for tenant_id, limits in days.items():
        for table, kept_days, installation_days in (
            ("probe_frames", limits.raw_days, settings().retention_raw_days),
            ("probe_frames_1m", limits.minute_days, settings().retention_1m_days),
            ("zone_frames_1m", limits.minute_days, settings().retention_1m_days),
            ("zone_minutes", limits.minute_days, settings().retention_1m_days),
            ("path_minutes", limits.minute_days, settings().retention_1m_days),
            ("spikes", limits.minute_days, settings().retention_1m_days),
        ):
            if kept_days < installation_days:
                with system_session() as session:
                    deleted = partition_queries.delete_before(
                        session, table, tenant_id, now - timedelta(days=kept_days)
                    )
                if deleted:
                    log.info("retention of a tenant", tenant=str(tenant_id), table=table, rows=deleted)
        if limits.raw_days < settings().retention_raw_days:
            with system_session() as session:
                for table in ("vm_traffic", "vm_connections"):
                    partition_queries.delete_windows_before(
                        session, table, tenant_id, now - timedelta(days=limits.raw_days)
                    )
