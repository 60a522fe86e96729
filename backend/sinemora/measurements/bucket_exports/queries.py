"""SQL of bucket exports."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.models import Mesh
from sinemora.jobs.models import FINAL, Job
from sinemora.measurements.bucket_exports.models import BucketExport, BucketExportProgress, ExportedDay
from sinemora.measurements.imports.service import IMPORT_KIND


class Exported(NamedTuple):
    """Sums of what a bucket has."""

    days: int
    rows: int
    bytes: int


def is_mesh_kept(session: Session, mesh_id: UUID) -> bool:
    """Return whether a mesh exists; it then does until the end of the transaction."""
    statement = select(Mesh.id).where(Mesh.id == mesh_id).with_for_update(read=True, key_share=True)
    return session.scalar(statement) is not None


def place_taken(session: Session, endpoint: str, bucket: str, prefix: str) -> str | None:
    """Return the name of the export to this place; None without one."""
    return session.scalar(
        select(BucketExport.name).where(
            BucketExport.endpoint == endpoint, BucketExport.bucket == bucket, BucketExport.prefix == prefix
        )
    )


def sums(session: Session, ids: Sequence[UUID]) -> dict[UUID, Exported]:
    """Return what the buckets of these exports have."""
    rows = session.execute(
        select(
            ExportedDay.bucket_export_id,
            func.count().filter(ExportedDay.rows > 0),
            func.sum(ExportedDay.rows),
            func.sum(ExportedDay.bytes),
        )
        .where(ExportedDay.bucket_export_id.in_(ids))
        .group_by(ExportedDay.bucket_export_id)
    )
    return {id: Exported(days, int(rows), int(size)) for id, days, rows, size in rows}


def forget_days(session: Session, export_id: UUID) -> None:
    """Forget what a bucket has: another one begins empty."""
    session.execute(delete(ExportedDay).where(ExportedDay.bucket_export_id == export_id))


def due(session: Session, now: datetime) -> list[tuple[UUID, UUID]]:
    """Return tenant and id of the exports whose time has come. In a system session."""
    rows = session.execute(
        select(BucketExport.tenant_id, BucketExport.id)
        .join(BucketExportProgress, BucketExportProgress.bucket_export_id == BucketExport.id)
        .where(BucketExportProgress.next_at <= now, BucketExport.paused.is_(False))
        .order_by(BucketExportProgress.next_at)
    )
    return [(tenant_id, id) for tenant_id, id in rows]


def set_progress(session: Session, export_id: UUID, **values: Any) -> None:
    """Change the progress of an export; nothing where it was deleted."""
    session.execute(
        update(BucketExportProgress).where(BucketExportProgress.bucket_export_id == export_id).values(**values)
    )


def days(session: Session, export_id: UUID, mesh_id: UUID, table: str) -> dict[date, ExportedDay]:
    """Return the exported days of a table of a mesh."""
    rows = session.scalars(
        select(ExportedDay).where(
            ExportedDay.bucket_export_id == export_id, ExportedDay.mesh_id == mesh_id, ExportedDay.table == table
        )
    )
    return {row.day: row for row in rows}


def imported(session: Session, mesh_id: UUID) -> list[tuple[date, date]]:
    """Return the first and last days of the imports into a mesh whose jobs are kept.

    One that failed or was cancelled may have stored windows of any day.
    """
    results = session.scalars(
        select(Job.result).where(
            Job.kind == IMPORT_KIND, Job.state.in_(FINAL), Job.params["mesh_id"].as_string() == str(mesh_id)
        )
    )
    return [_days_of(result) if result else (date.min, date.max) for result in results]


def _days_of(result: dict[str, Any]) -> tuple[date, date]:
    return datetime.fromisoformat(result["from"]).date(), datetime.fromisoformat(result["to"]).date()


def write_day(
    session: Session, tenant_id: UUID, export_id: UUID, mesh_id: UUID, table: str, day: date, **values: Any
) -> None:
    """Store values of an exported day, in place of earlier ones."""
    key = {"bucket_export_id": export_id, "mesh_id": mesh_id, "table": table, "day": day}
    empty = dict.fromkeys(
        ("revision", "parts", "writing_parts", "rows", "bytes", "seen_rows", "seen_targets", "seen_merged_ms"), 0
    )
    statement = insert(ExportedDay).values(
        {"tenant_id": tenant_id, "exported_at": func.now(), **key, **empty, **values}
    )
    session.execute(statement.on_conflict_do_update(constraint="pk_exported_days", set_=values))


def first_start(session: Session, name: str, mesh_key: int) -> datetime | None:
    """Return the start of the oldest row of a table of a mesh, in the database or aged; None without rows."""
    key = "tenant_key = :tenant_key AND mesh_key = :mesh_key"
    found: datetime | None = session.scalar(
        text(
            f"SELECT least((SELECT min(started_at) FROM {name} WHERE {key}),"
            f" (SELECT min(started_at) FROM aged_objects WHERE {key} AND tier = :tier AND state = 'current'))"
        ),
        {"tenant_key": session.info["tenant_key"], "mesh_key": mesh_key, "tier": name},
    )
    return found
