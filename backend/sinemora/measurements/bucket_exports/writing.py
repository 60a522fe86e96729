"""Writing of a day to a bucket: new objects, then the manifest that names them, then deletion of the old ones.

Wherever it stops, the manifest in the bucket names whole objects, and the next run finishes the day: the database
knows every object that may have been written.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.kit.tenant_bucket import TenantBucket
from sinemora.measurements.bucket_exports import layout, queries, service, tier_tables
from sinemora.measurements.bucket_exports.days import DueDay
from sinemora.measurements.bucket_exports.layout import Part
from sinemora.measurements.bucket_exports.models import BucketExport
from sinemora.measurements.query.tables import Batch, Format, ResultTable, write

PART_ROWS = 1_000_000
"""Rows of one object, about; memory for one object is some tens of MB."""

OpenSession = Callable[[], AbstractContextManager[Session]]


def write_day(
    open_session: OpenSession, export: BucketExport, bucket: TenantBucket, due: DueDay, check: Callable[[], None]
) -> tuple[int, int]:
    """Write a day and record it; return its rows and bytes: none when its mesh was deleted meanwhile.

    `check` raises when the job must stop. BucketError, ProductError `bucket_export_unknown`, `bucket_export_changed`.
    """
    folder = layout.folder(export.prefix, due.of.mesh.id, due.of.name, due.day)
    due = _continued(bucket, folder, due)
    revision = due.revision + 1
    parts: list[Part] = []
    with open_session() as reader:
        names = _names(reader, zones=due.of.zones)
        rows = tier_tables.batches(reader, due.of.mesh.key, due.part, names, zones=due.of.zones)
        for number, (content, count) in enumerate(_files(rows), 1):
            check()
            so_far = {"revision": due.revision, "parts": due.parts, "writing_parts": max(number, due.writing_parts)}
            if not _recorded(open_session, export, due, **so_far):
                return 0, 0
            part = Part(layout.part_name(revision, number), count, len(content), hashlib.sha256(content).hexdigest())
            bucket.put(f"{folder}/{part.name}", content)
            parts.append(part)
    if parts:
        mesh = due.of.mesh
        now = datetime.now(UTC)
        bucket.put(
            f"{folder}/{layout.MANIFEST}",
            layout.manifest(mesh.id, mesh.name, due.of.name, due.day, revision, now, parts),
        )
        for number in range(1, due.parts + 1):
            bucket.delete(f"{folder}/{layout.part_name(due.revision, number)}")
        for number in range(len(parts) + 1, due.writing_parts + 1):  # of a run that stopped
            bucket.delete(f"{folder}/{layout.part_name(revision, number)}")
    rows_written, bytes_written = sum(part.rows for part in parts), sum(part.bytes for part in parts)
    _recorded(
        open_session,
        export,
        due,
        revision=revision if parts else due.revision,
        parts=len(parts),
        writing_parts=0,
        seen_rows=due.seen.rows,
        seen_targets=due.seen.targets,
        seen_merged_ms=due.seen.merged_ms,
        exported_at=func.now(),
        rows=rows_written,
        bytes=bytes_written,
    )
    return rows_written, bytes_written


def _continued(bucket: TenantBucket, folder: str, due: DueDay) -> DueDay:
    """Return a day that is new here with the revision that an earlier export left in the bucket, if the key may read.

    Its objects are deleted then: a reader of all objects would see the rows of both.
    """
    if due.revision or not due.seen.rows:
        return due
    left = bucket.readable(f"{folder}/{layout.MANIFEST}")
    if left is None:
        return due
    revision, parts = layout.revision_of(left, due.of.mesh.id, due.of.name, due.day)
    return replace(due, revision=revision, parts=parts)


def _recorded(open_session: OpenSession, export: BucketExport, due: DueDay, **values: Any) -> bool:
    """Record values of a day. Return False when its mesh was deleted."""
    with open_session() as session:
        service.check_place(session, export)
        if not queries.is_mesh_kept(session, due.of.mesh.id):
            return False
        key = {"tenant_id": export.tenant_id, "export_id": export.id, "mesh_id": due.of.mesh.id}
        queries.write_day(session, **key, table=due.of.name, day=due.day, **values)
        return True


def _files(batches: Iterable[Batch]) -> Iterator[tuple[bytes, int]]:
    """Yield Parquet files of about `PART_ROWS` rows, each with its number of rows."""
    rest = iter(batches)
    for first in rest:
        counted = _Counted(first, rest)
        content = b"".join(write(ResultTable("", tier_tables.COLUMNS, counted), Format.PARQUET))
        yield content, counted.rows


class _Counted:
    """Batches from `first` on until they have `PART_ROWS` rows; `rows` is their number after iteration."""

    def __init__(self, first: Batch, rest: Iterator[Batch]) -> None:
        self.rows = 0
        self._first, self._rest = first, rest

    def __iter__(self) -> Iterator[Batch]:
        batch: Batch | None = self._first
        while batch is not None:
            self.rows += len(batch[0])
            yield batch
            batch = next(self._rest, None) if self.rows < PART_ROWS else None


def _names(session: Session, *, zones: bool) -> Mapping[int, str]:
    """Return the names of the tenant's VMs or zones by their keys in time series."""
    if zones:
        return {
            key: f"{region}/{name}" for key, region, name in session.execute(select(Zone.key, Zone.region, Zone.name))
        }
    return {key: name for key, name in session.execute(select(Vm.key, Vm.name))}
