"""HTTP of the audit log: a filtered list, and its export."""

from typing import Annotated, Literal

from fastapi import Depends, Query, Response
from pydantic import AwareDatetime

from sinemora.access.tenants import audit_export, queries
from sinemora.access.tenants.access import Admin, signed_in_router
from sinemora.access.tenants.models import AuditEntry
from sinemora.access.tenants.queries import AuditFilter
from sinemora.access.tenants.schemas import AuditEntryRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import invalid
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1/audit-entries", "audit", 422)


async def _filter(
    action: Annotated[
        str | None, Query(max_length=100, description="Only this action; `session.` for all that begin so")
    ] = None,
    actor_name: Annotated[str | None, Query(max_length=320, description="Only of this person or key")] = None,
    subject_name: Annotated[str | None, Query(max_length=320, description="Only about this subject")] = None,
    address: Annotated[str | None, Query(max_length=64, description="Only from this address")] = None,
    from_: Annotated[AwareDatetime | None, Query(alias="from", description="Not before this time")] = None,
    to: Annotated[AwareDatetime | None, Query(description="Before this time")] = None,
) -> AuditFilter:
    if from_ is not None and to is not None and from_ >= to:
        raise invalid([{"pointer": "#/query/from", "message": "Must be before `to`."}])
    return AuditFilter(action, actor_name, subject_name, address, from_, to)


Wanted = Annotated[AuditFilter, Depends(_filter)]


@router.get("", response_model=Page[AuditEntryRead])
def list_audit_entries(session: SessionDep, actor: Admin, page: Paging, wanted: Wanted) -> Slice[AuditEntry]:
    """List the entries of the audit log, newest first."""
    return paginate(session, queries.audit_entries(wanted), page, AuditEntry.created_at, AuditEntry.id, descending=True)


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}, "application/x-ndjson": {}}, "description": "The entries"}},
)
def export_audit_entries(
    session: SessionDep,
    actor: Admin,
    wanted: Wanted,
    format: Annotated[Literal["csv", "ndjson"], Query(description="CSV, or JSON lines")] = "ndjson",
) -> Response:
    """Return the newest 100,000 entries of a selection as a file. `Sinemora-Truncated: true`: there are more."""
    body, is_truncated = audit_export.export(session, wanted, format)
    media_type = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}[format]
    headers = {"Content-Disposition": f'attachment; filename="audit-log.{format}"'}
    return Response(
        body, media_type=media_type, headers=headers | ({"Sinemora-Truncated": "true"} if is_truncated else {})
    )
