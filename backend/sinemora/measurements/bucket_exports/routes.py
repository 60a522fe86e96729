"""HTTP of bucket exports."""

from uuid import UUID

from fastapi.responses import Response
from sqlalchemy import select

from sinemora.access.tenants.access import Admin, Editor, Viewer, signed_in_router
from sinemora.jobs.responses import ACCEPTED, accepted
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.measurements.bucket_exports import job, service
from sinemora.measurements.bucket_exports.models import BucketExport
from sinemora.measurements.bucket_exports.schemas import (
    BucketExportCreate,
    BucketExportRead,
    BucketExportUpdate,
    BucketTestRead,
)

router = signed_in_router("/v1/bucket-exports", "tenants")


@router.get("", response_model=Page[BucketExportRead])
def list_bucket_exports(session: SessionDep, actor: Viewer, page: Paging) -> Slice[BucketExportRead]:
    """List exports to buckets by name, without their secrets."""
    slice_ = paginate(session, select(BucketExport), page, BucketExport.name, BucketExport.id)
    return Slice(service.read(session, slice_.items), slice_.next_cursor)


@router.post("", status_code=201, responses=responses(409, 422))
def create_bucket_export(body: BucketExportCreate, session: SessionDep, actor: Admin) -> BucketExportRead:
    """Create an export of merged measurements to a bucket, as Parquet files, on a schedule."""
    return service.read(session, [service.create_export(session, actor, body)])[0]


@router.get("/{bucket_export_id}", responses=responses(404))
def read_bucket_export(bucket_export_id: UUID, session: SessionDep, actor: Viewer) -> BucketExportRead:
    """Read one export with its state, without its secret."""
    return service.read(session, [service.get_export(session, bucket_export_id)])[0]


@router.patch("/{bucket_export_id}", responses=responses(404, 409, 412, 422, 428))
def update_bucket_export(
    bucket_export_id: UUID, body: BucketExportUpdate, session: SessionDep, actor: Admin, precondition: Precondition
) -> BucketExportRead:
    """Change an export; an omitted secret stays. At another place all days are exported again."""
    row = service.update_export(session, actor, bucket_export_id, body, precondition)
    return service.read(session, [row])[0]


@router.delete("/{bucket_export_id}", status_code=204, responses=responses(404, 412))
def delete_bucket_export(bucket_export_id: UUID, session: SessionDep, actor: Admin, precondition: Precondition) -> None:
    """Delete an export and its secret. Objects in the bucket stay."""
    service.delete_export(session, actor, bucket_export_id, precondition)


@router.post("/{bucket_export_id}/tests", responses=responses(404, 409))
def test_bucket_export(bucket_export_id: UUID, session: SessionDep, actor: Editor) -> BucketTestRead:
    """Test the bucket: write one object and delete it."""
    return service.test_bucket(session, actor, bucket_export_id)


@router.post("/{bucket_export_id}/runs", status_code=202, responses=responses(404) | ACCEPTED)
def run_bucket_export(bucket_export_id: UUID, session: SessionDep, actor: Editor) -> Response:
    """Run an export now, as a job; a run that is queued or running is returned instead of a second one."""
    return accepted(job.submit(session, actor, service.get_export(session, bucket_export_id)))
