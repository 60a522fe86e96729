"""SQL of retention: creates partitions ahead, and drops partitions and rows beyond the retention."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session


def make_ahead(session: Session, now: datetime, raw_days: int) -> int:
    """Create partitions from the oldest accepted report to three days ahead. Return the number of new ones."""
    today = now.astimezone(UTC).date()
    created = session.scalar(
        text("SELECT make_measurement_partitions(:first, :last)"),
        {"first": today - timedelta(days=raw_days), "last": today + timedelta(days=3)},
    )
    if created:
        session.execute(text("SELECT tune_measurement_partitions()"))
    return int(created or 0)


def drop_before(session: Session, table: str, day: date) -> int:
    """Drop the partitions of `table` that end before `day`, except pinned ranges. Return the number dropped whole."""
    dropped = session.scalar(text("SELECT forget_measurements_before(:table, :day)"), {"table": table, "day": day})
    return int(dropped or 0)


def delete_windows_before(session: Session, table: str, tenant_id: UUID, before: datetime) -> int:
    """Delete a tenant's windows of VMs in `table` before a time. Return their number."""
    statement = (
        f"DELETE FROM {table} f USING tenants t WHERE t.id = :id AND f.tenant_key = t.key AND started_at < :before"
    )
    return int(session.execute(text(statement), {"id": tenant_id, "before": before}).rowcount)  # type: ignore[attr-defined]


def delete_before(session: Session, table: str, tenant_id: UUID, before: datetime) -> int:
    """Delete a tenant's rows of `table` before a time, except its pins. Return their number."""
    parameters = {"id": tenant_id, "before": before}
    key = session.scalar(text("SELECT key FROM tenants WHERE id = :id"), parameters)
    pins = session.execute(
        text(
            "SELECT array_agg(m.key) AS meshes, array_agg(p.started_at - interval '1 minute') AS starts,"
            " array_agg(p.ended_at) AS ends FROM pins p JOIN meshes m ON m.id = p.mesh_id"
            " WHERE p.tenant_id = :id AND p.started_at < :before"
        ),
        parameters,
    ).one()
    # The pins are values and not a join: measurements may be on other servers than the inventory.
    deleted = session.execute(
        text(
            f"DELETE FROM {table} f WHERE tenant_key = :key AND started_at < :before AND NOT EXISTS (SELECT 1"
            " FROM unnest(CAST(:meshes AS int[]), CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[]))"
            " AS p(mesh_key, start, ended_at)"
            " WHERE p.mesh_key = f.mesh_key AND f.started_at > p.start AND f.started_at < p.ended_at)"
        ),
        {"key": key, "before": before, **{name: pins._mapping[name] or [] for name in ("meshes", "starts", "ends")}},
    )
    return int(deleted.rowcount)  # type: ignore[attr-defined]


def delete_latest(session: Session, before: datetime) -> None:
    """Delete newest windows older than the retention: those paths are no longer measured."""
    session.execute(text("DELETE FROM path_latest WHERE started_at < :before"), {"before": before})


def drop_rosters(session: Session, before: datetime) -> int:
    """Delete rosters not written since `before`, and those of deleted tenants. Return their number."""
    deleted = session.execute(
        text(
            "DELETE FROM rosters r WHERE written_at < :before"
            " OR NOT EXISTS (SELECT FROM tenants t WHERE t.key = r.tenant_key) RETURNING 1"
        ),
        {"before": before},
    )
    return len(deleted.all())
