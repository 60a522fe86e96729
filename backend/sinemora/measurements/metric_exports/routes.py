"""HTTP of metric exports."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants.access import Admin, Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.measurements.metric_exports import service
from sinemora.measurements.metric_exports.models import MetricExport
from sinemora.measurements.metric_exports.schemas import (
    MetricExportCreate,
    MetricExportRead,
    MetricExportTestRead,
    MetricExportUpdate,
)

router = signed_in_router("/v1/metric-exports", "tenants")


@router.get("", response_model=Page[MetricExportRead])
def list_metric_exports(session: SessionDep, actor: Viewer, page: Paging) -> Slice[MetricExportRead]:
    """List exports to servers of the tenant's monitoring by name, without their secrets."""
    slice_ = paginate(session, select(MetricExport), page, MetricExport.name, MetricExport.id)
    return Slice([service.read(actor, row) for row in slice_.items], slice_.next_cursor)


@router.post("", status_code=201, responses=responses(404, 409, 422))
def create_metric_export(body: MetricExportCreate, session: SessionDep, actor: Admin) -> MetricExportRead:
    """Create an export: each minute its values are sent by Prometheus remote write or OTLP."""
    return service.read(actor, service.create_export(session, actor, body))


@router.get("/{metric_export_id}", responses=responses(404))
def read_metric_export(metric_export_id: UUID, session: SessionDep, actor: Viewer) -> MetricExportRead:
    """Read one export with its state, without its secret."""
    return service.read(actor, service.get_export(session, metric_export_id))


@router.patch("/{metric_export_id}", responses=responses(404, 409, 412, 422, 428))
def update_metric_export(
    metric_export_id: UUID, body: MetricExportUpdate, session: SessionDep, actor: Admin, precondition: Precondition
) -> MetricExportRead:
    """Change an export; an omitted authentication stays, unless the URL leads to another server."""
    return service.read(actor, service.update_export(session, actor, metric_export_id, body, precondition))


@router.delete("/{metric_export_id}", status_code=204, responses=responses(404, 412))
def delete_metric_export(metric_export_id: UUID, session: SessionDep, actor: Admin, precondition: Precondition) -> None:
    """Delete an export and its secret."""
    service.delete_export(session, actor, metric_export_id, precondition)


@router.post("/{metric_export_id}/tests", responses=responses(404, 409))
def test_metric_export(metric_export_id: UUID, session: SessionDep, actor: Editor) -> MetricExportTestRead:
    """Test the server: send one value of `sinemora_export_test`."""
    return service.test_export(session, actor, metric_export_id)
