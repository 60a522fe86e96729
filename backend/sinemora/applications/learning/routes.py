"""Routes of learning in production."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.applications.learning import schemas, service
from sinemora.applications.learning.models import MetricSource
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition, tag, tagged
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1/metric-sources", "learning")


@router.get("", response_model=Page[schemas.MetricSourceRead])
def list_metric_sources(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    curve_id: Annotated[UUID | None, Query(description="Only those that refresh this curve")] = None,
) -> Slice[schemas.MetricSourceRead]:
    """List the tenant's metric sources by name."""
    statement = select(MetricSource)
    rows = paginate(
        session,
        statement if curve_id is None else statement.where(MetricSource.curve_id == curve_id),
        page,
        MetricSource.name,
    )
    return Slice([service.shown(source) for source in rows.items], rows.next_cursor)


@router.post("", status_code=201, responses={**responses(404, 409, 422), **tagged(201)})
def create_metric_source(
    request: Request, body: schemas.MetricSourceCreate, session: SessionDep, actor: Editor
) -> schemas.MetricSourceRead:
    """Declare the source of an application's metric and the paths it waits for."""
    return _shown(request, service.create_source(session, actor, body))


@router.get("/{metric_source_id}", responses={**responses(404), **tagged(200)})
def read_metric_source(
    request: Request, metric_source_id: UUID, session: SessionDep, actor: Viewer
) -> schemas.MetricSourceRead:
    """Return a metric source with its latest finding."""
    return _shown(request, service.get_source(session, metric_source_id))


@router.patch("/{metric_source_id}", responses={**responses(404, 409, 412, 422, 428), **tagged(200)})
def update_metric_source(
    request: Request,
    metric_source_id: UUID,
    body: schemas.MetricSourceUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> schemas.MetricSourceRead:
    """Update, pause or resume a metric source."""
    return _shown(request, service.update_source(session, actor, metric_source_id, body, precondition))


@router.delete("/{metric_source_id}", status_code=204, responses=responses(404, 412))
def delete_metric_source(
    metric_source_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition
) -> None:
    """Delete a metric source and its values; its curve stays."""
    service.delete_source(session, actor, metric_source_id, precondition)


@router.post("/{metric_source_id}/points", responses=responses(404, 409, 413, 422))
def create_metric_points(
    metric_source_id: UUID, body: schemas.MetricPointsCreate, session: SessionDep, actor: Editor
) -> schemas.MetricPointsRead:
    """Push values of the metric."""
    return schemas.MetricPointsRead(stored=service.push(session, metric_source_id, body.points))


@router.get("/{metric_source_id}/pairs", responses=responses(404))
def read_metric_pairs(metric_source_id: UUID, session: SessionDep, actor: Viewer) -> schemas.PairsRead:
    """Return the newest 2,000 minutes with both the metric and the round trips of all its paths."""
    return service.pairs_shown(session, metric_source_id)


@router.post("/{metric_source_id}/findings", responses={**responses(404), **tagged(200)})
def create_metric_finding(
    request: Request, metric_source_id: UUID, session: SessionDep, actor: Editor
) -> schemas.MetricSourceRead:
    """Evaluate all pairs now instead of waiting for the worker."""
    return _shown(request, service.judge(session, metric_source_id, datetime.now(UTC)))


def _shown(request: Request, source: MetricSource) -> schemas.MetricSourceRead:
    tag(request, source)
    return service.shown(source)
