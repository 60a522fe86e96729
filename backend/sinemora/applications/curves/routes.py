"""Routes of curves."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Request
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.applications.curves import cost, schemas, service
from sinemora.applications.curves.catalogue import CatalogueEntry, of_stored
from sinemora.applications.curves.models import CurveVersion, StoredCurve
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http import known_ids
from sinemora.kit.http.etag import Precondition, tag, tagged
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.http.routes import accepts
from sinemora.kit.names import Name

known_ids.register(curve_id=StoredCurve)
router = signed_in_router("/v1/curves", "curves")

_LATENCY_MAX_US = 60e6
_CSV = {"requestBody": {"content": {"text/csv": {"schema": {"type": "string"}}}}}
Number = Annotated[int | None, Query(ge=1, description="Version; the newest by default")]
InQuery = Query(description="With a CSV body")


@router.get("", response_model=Page[schemas.CurveRead])
def list_curves(
    session: SessionDep, actor: Viewer, page: Paging, origin: Annotated[schemas.CurveOrigin | None, Query()] = None
) -> Slice[schemas.CurveRead]:
    """List the tenant's own curves by name, then the published ones, each with an outline to draw."""
    return service.list_curves(session, page, origin)


@router.post("", status_code=201, openapi_extra=_CSV, responses={**responses(409, 413, 422), **tagged(201)})
@accepts(lambda settings: settings.data_limit_bytes)
def create_curve(
    request: Request,
    body: schemas.CurveCreate,
    session: SessionDep,
    actor: Editor,
    name: Annotated[Name | None, InQuery] = None,
    description: Annotated[schemas.Description | None, InQuery] = None,
    unit: Annotated[schemas.Unit | None, InQuery] = None,
    source: Annotated[schemas.Source | None, InQuery] = None,
) -> schemas.CurveDetail:
    """Fit measurements of an application and store the curve. Accepts `text/csv` bodies."""
    fields = {"name": name, "description": description, "unit": unit, "source": source}
    body = body.model_copy(update={field: value for field, value in fields.items() if value is not None})
    return _shown(request, service.create_curve(session, actor, body), 1)


@router.get("/{curve_id}", responses={**responses(404), **tagged(200)})
def read_curve(
    request: Request, curve_id: str, session: SessionDep, actor: Viewer, number: Number = None
) -> schemas.CurveDetail:
    """Return a curve by id or published key, with samples, candidates and warnings of one version."""
    return _shown(request, *service.find(session, curve_id, number))


@router.patch("/{curve_id}", responses={**responses(404, 409, 412, 422, 428), **tagged(200)})
def update_curve(
    request: Request,
    curve_id: str,
    body: schemas.CurveUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> schemas.CurveDetail:
    """Update the name and description of a curve."""
    entry = service.update_curve(session, actor, curve_id, body, precondition)
    return _shown(request, entry, entry.number)


@router.delete("/{curve_id}", status_code=204, responses=responses(404, 409, 412))
def delete_curve(curve_id: str, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a curve of the tenant with all its versions."""
    service.delete_curve(session, actor, curve_id, precondition)


@router.get("/{curve_id}/versions", response_model=Page[schemas.CurveVersionRead], responses=responses(404))
def list_curve_versions(
    curve_id: str, session: SessionDep, actor: Viewer, page: Paging
) -> Slice[schemas.CurveVersionRead]:
    """List the versions of a curve, newest first."""
    entry, _ = service.find(session, curve_id)
    if entry.stored is None:
        return Slice([entry.version_read()], None)
    curve = entry.stored[0]
    versions = select(CurveVersion).where(CurveVersion.curve_id == curve.id)
    rows = paginate(session, versions, page, CurveVersion.number, descending=True)
    return Slice([of_stored(curve, row).version_read() for row in rows.items], rows.next_cursor)


@router.post(
    "/{curve_id}/versions",
    status_code=201,
    openapi_extra=_CSV,
    responses={**responses(404, 409, 413, 422), **tagged(201)},
)
@accepts(lambda settings: settings.data_limit_bytes)
def create_curve_version(
    request: Request,
    curve_id: str,
    body: schemas.CurveVersionCreate,
    session: SessionDep,
    actor: Editor,
    source: Annotated[schemas.Source | None, InQuery] = None,
) -> schemas.CurveDetail:
    """Fit newer measurements of the same application. Accepts `text/csv` bodies."""
    if source is not None:
        body = body.model_copy(update={"source": source})
    entry = service.create_version(session, actor, curve_id, body)
    return _shown(request, entry, entry.number)


@router.get("/{curve_id}/points", responses=responses(404, 409, 422))
def read_curve_points(
    curve_id: str,
    session: SessionDep,
    actor: Viewer,
    step_us: Annotated[float, Query(gt=0, le=_LATENCY_MAX_US, description="µs from one point to the next")] = 10,
    number: Number = None,
) -> schemas.CurveTableRead:
    """Return the curve and its band as a table, from 0 to the end of its domain."""
    return service.table_of(service.find(session, curve_id, number)[0], step_us)


def _where(
    mesh_id: Annotated[
        UUID | None, Query(description="With a pair of VMs or zones: in addition to measured latency")
    ] = None,
    source_vm_id: UUID | None = None,
    target_vm_id: UUID | None = None,
    source_zone_id: UUID | None = None,
    target_zone_id: UUID | None = None,
    from_: Annotated[
        datetime | None, Query(alias="from", description="With `to`: merge all windows begun in it")
    ] = None,
    to: Annotated[datetime | None, Query(description="Without both: the newest windows")] = None,
) -> cost.Where | None:
    return cost.where(mesh_id, (source_vm_id, target_vm_id), (source_zone_id, target_zone_id), from_, to)


@router.get("/{curve_id}/cost", responses=responses(404, 422, 503))
def read_curve_cost(
    curve_id: str,
    session: SessionDep,
    actor: Viewer,
    at: Annotated[cost.Where | None, Depends(_where)],
    added_us: Annotated[float, Query(ge=0, le=_LATENCY_MAX_US, description="Added round trip, µs")] = 0,
    reference_us: Annotated[
        float | None,
        Query(ge=0, le=_LATENCY_MAX_US, description="Round trip of the test bed, µs; default: that of the curve"),
    ] = None,
    waiting: Annotated[
        schemas.Waiting | None, Query(description="By default `requests` for a rate, `rounds` for a duration")
    ] = None,
    number: Number = None,
) -> schemas.CostRead:
    """Return the cost of added latency: without measured latency, and on top of measured round trips."""
    entry, _ = service.find(session, curve_id, number)
    return cost.cost(session, entry, added_us, reference_us, waiting, at)


def _shown(request: Request, entry: CatalogueEntry, newest: int) -> schemas.CurveDetail:
    if entry.stored is not None:
        tag(request, entry.stored[0])
    return entry.detail(newest)
