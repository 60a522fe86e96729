"""SQL of partitions: made ahead of what is reported, and dropped with all else that is not kept any more."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session


def make_ahead(session: Session, now: datetime, raw_days: int) -> int:
    """Partitions for all that may arrive: from the oldest report accepted to three days ahead; how many were made."""
    today = now.astimezone(UTC).date()
    made = session.scalar(
        text("SELECT make_measurement_partitions(:first, :last)"),
        {"first": today - timedelta(days=raw_days), "last": today + timedelta(days=3)},
    )
    if made:
        session.execute(text("SELECT tune_measurement_partitions()"))
    return int(made or 0)


def drop_before(session: Session, table: str, day: date) -> int:
    """Drop the partitions of `table` that end before `day` begins, but for kept ranges; how many went whole."""
    dropped = session.scalar(text("SELECT forget_measurements_before(:table, :day)"), {"table": table, "day": day})
    return int(dropped or 0)


def delete_before(session: Session, table: str, tenant_id: UUID, before: datetime) -> int:
    """Delete what one tenant has in `table` from before a time, but for its kept ranges; how many rows."""
    gone = session.execute(
        text(
            f"DELETE FROM {table} f USING tenants t"
            " WHERE t.id = :id AND f.tenant_key = t.key AND f.started_at < :before AND NOT EXISTS ("
            "  SELECT FROM pins p JOIN meshes m ON m.id = p.mesh_id WHERE m.key = f.mesh_key"
            "  AND f.started_at > p.started_at - interval '1 minute' AND f.started_at < p.ended_at)"
        ),
        {"id": tenant_id, "before": before},
    )
    return int(gone.rowcount)  # type: ignore[attr-defined]


def delete_latest(session: Session, before: datetime) -> None:
    """Forget newest windows older than what is kept: nobody will report on those paths again soon."""
    session.execute(text("DELETE FROM path_latest WHERE started_at < :before"), {"before": before})


def drop_rosters(session: Session, before: datetime) -> int:
    """Drop rosters that nobody has written since `before`, and those of tenants that are gone; how many."""
    gone = session.execute(
        text(
            "DELETE FROM rosters r WHERE written_at < :before"
            " OR NOT EXISTS (SELECT FROM tenants t WHERE t.key = r.tenant_key) RETURNING 1"
        ),
        {"before": before},
    )
    return len(gone.all())
