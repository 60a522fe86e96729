"""Use cases of bucket exports: create, change, delete, test, run."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.jobs import queries as jobs
from sinemora.kit import encryption
from sinemora.kit.config import settings
from sinemora.kit.db import locked, refuse_taken
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.object_storage import Location
from sinemora.kit.tenant_bucket import LIMIT_S, BucketError, TenantBucket
from sinemora.measurements.bucket_exports import layout, queries, schedule
from sinemora.measurements.bucket_exports.models import BucketExport, BucketExportProgress, Schedule
from sinemora.measurements.bucket_exports.schemas import (
    BucketExportCreate,
    BucketExportRead,
    BucketExportState,
    BucketExportUpdate,
    BucketTestRead,
)

_PLACE = ("endpoint", "bucket", "prefix")
_TIMES = ("schedule", "hour", "paused")
_TEST_S = 10.0


def get_export(session: Session, export_id: UUID) -> BucketExport:
    """Return the tenant's export. ProductError `bucket_export_unknown`."""
    return existing(session.get(BucketExport, export_id), "bucket export")


def check_place(session: Session, export: BucketExport) -> None:
    """Check that an export still is what it was, and lock it.

    ProductError `bucket_export_unknown`, `bucket_export_changed`.
    """
    row = _locked(session, export.id)
    if any(getattr(row, name) != getattr(export, name) for name in _PLACE):
        raise ProductError(
            "bucket_export_changed",
            409,
            f"Export changed: {row.name} got another bucket or prefix during this run. The next run begins there.",
        )


def create_export(session: Session, actor: Actor, body: BucketExportCreate) -> BucketExport:
    """Create an export; its first run is the next of its schedule.

    ProductError `bucket_export_name_taken`, `bucket_place_taken`, `secret_key_missing`.
    """
    refuse_taken(session, BucketExport, body.name, "bucket_export_name_taken")
    _check_place(session, body.endpoint, body.bucket, body.prefix)
    fields = body.model_dump(exclude={"secret"})
    row = BucketExport(**fields, secret=_encrypted(body.secret.get_secret_value()))
    row.progress = BucketExportProgress(next_at=_next_run(body.schedule, body.hour), failures=0)
    audit.created(session, actor, "bucket_export", row)
    return row


def update_export(
    session: Session, actor: Actor, export_id: UUID, body: BucketExportUpdate, precondition: IfMatch
) -> BucketExport:
    """Change an export. Another place begins with all days again.

    ProductError `bucket_export_unknown`, `bucket_export_name_taken`, `bucket_place_taken`, `secret_needed_again`.
    """
    row = _locked(session, export_id)
    precondition.check(row)
    changes = body.model_dump(exclude_unset=True, exclude={"secret"})
    changes = {name: value for name, value in changes.items() if value != getattr(row, name)}
    if "endpoint" in changes and body.secret is None:
        raise ProductError(
            "secret_needed_again",
            422,
            "Secret needed again: it was given for another endpoint. Send `secret` together with the new `endpoint`.",
            errors=[{"pointer": "#/secret", "message": "needed with another endpoint"}],
        )
    if "name" in changes:
        refuse_taken(session, BucketExport, changes["name"], "bucket_export_name_taken")
    if changes.keys() & set(_PLACE):
        _check_place(session, *(changes.get(name, getattr(row, name)) for name in _PLACE))
        queries.forget_days(session, row.id)
    for name, value in changes.items():
        setattr(row, name, value)
    if body.secret is not None:
        row.secret = _encrypted(body.secret.get_secret_value())
    if changes.keys() & set(_TIMES) or row.progress.failures:
        row.progress.next_at = _next_run(row.schedule, row.hour)
    audit.updated(session, actor, "bucket_export", row, [*changes, *(["secret"] if body.secret is not None else [])])
    return row


def delete_export(session: Session, actor: Actor, export_id: UUID, precondition: IfMatch) -> None:
    """Delete an export with its secret; objects in the bucket stay. ProductError `bucket_export_unknown`."""
    row = _locked(session, export_id)
    precondition.check(row)
    audit.deleted(session, actor, "bucket_export", row)


def test_bucket(session: Session, actor: Actor, export_id: UUID) -> BucketTestRead:
    """Write one object to the bucket and delete it. ProductError `bucket_export_unknown`, `secret_unreadable`."""
    row = get_export(session, export_id)
    key = layout.under(row.prefix, f"sinemora-test-{uuid4().hex[:12]}")
    error = None
    try:
        bucket = bucket_of(row, _TEST_S)
        bucket.put(key, b"Test of a bucket by Sinemora; it may be deleted.\n")
        bucket.delete(key)
    except BucketError as failure:
        error = str(failure)
    audit.record(session, actor, "bucket_export.tested", row.id, row.name, error=error)
    return BucketTestRead(object_key=key, error=error)


def bucket_of(row: BucketExport, limit_s: float = LIMIT_S) -> TenantBucket:
    """Return the client of an export's bucket, with a time limit of each request, s.

    BucketError, ProductError `secret_unreadable`.
    """
    secret = encryption.decrypt(row.secret)["secret_key"]
    location = Location(row.endpoint, row.bucket, row.region, row.access_key, secret, settings().storage_ca_file)
    return TenantBucket(location, settings().allowed_bucket_networks, limit_s)


def read(session: Session, rows: Sequence[BucketExport]) -> list[BucketExportRead]:
    """Return exports in their JSON form, in their order."""
    sums = queries.sums(session, [row.id for row in rows])
    open_jobs = {id for _, id in jobs.open_of(session, [row.progress.job_id for row in rows if row.progress.job_id])}
    return [
        _read(row, row.progress, sums.get(row.id, queries.Exported(0, 0, 0)), row.progress.job_id in open_jobs)
        for row in rows
    ]


def _read(
    row: BucketExport, progress: BucketExportProgress, exported: queries.Exported, is_running: bool
) -> BucketExportRead:
    names = ("id", "name", *_PLACE, "region", "access_key", *_TIMES, "tables", "version", "created_at")
    now = ("job_id", "succeeded_at", "failed_at", "failures", "error")
    return BucketExportRead(
        **{name: getattr(row, name) for name in names},
        **{name: getattr(progress, name) for name in now},
        **exported._asdict(),
        next_at=None if row.paused else progress.next_at,
        state=_state(row, progress, is_running),
    )


def _locked(session: Session, export_id: UUID) -> BucketExport:
    """Return an export, its row locked before its progress and its days, as a run does."""
    return existing(locked(session, BucketExport, export_id), "bucket export")


def _state(row: BucketExport, progress: BucketExportProgress, is_running: bool) -> BucketExportState:
    if is_running:
        return BucketExportState.running
    if row.paused:
        return BucketExportState.paused
    if progress.failures:
        return BucketExportState.failing
    return BucketExportState.waiting if progress.succeeded_at is None else BucketExportState.succeeded


def _next_run(when: Schedule, hour: int) -> datetime:
    return schedule.next_run(Schedule(when), hour, datetime.now(UTC))


def _encrypted(secret: str) -> bytes:
    content: dict[str, Any] = {"secret_key": secret}
    return encryption.encrypt(content)


def _check_place(session: Session, endpoint: str, bucket: str, prefix: str) -> None:
    other = queries.place_taken(session, endpoint, bucket, prefix)
    if other is not None:
        raise ProductError(
            "bucket_place_taken",
            409,
            f"Place taken: {other} exports to this bucket and prefix already. Use another prefix.",
        )
