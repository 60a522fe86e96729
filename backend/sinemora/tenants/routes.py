"""HTTP of the audit log."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.tenants import queries
from sinemora.tenants.access import (
    Admin,
    SignedIn,
)
from sinemora.tenants.models import AuditEntry
from sinemora.tenants.schemas import (
    AuditEntryRead,
)

router = APIRouter(prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, responses=responses(401, 403, 429))


@router.get("/audit-entries", tags=["audit"], response_model=Page[AuditEntryRead], responses=responses(422))
def list_audit_entries(
    session: SessionDep,
    actor: Admin,
    page: Paging,
    action: Annotated[
        str | None, Query(max_length=100, description="Only this action; `session.` for all that begin so")
    ] = None,
    actor_name: Annotated[str | None, Query(max_length=320, description="Only of this person or key")] = None,
    from_: Annotated[datetime | None, Query(alias="from", description="Not before this time")] = None,
    to: Annotated[datetime | None, Query(description="Before this time")] = None,
) -> Slice[AuditEntry]:
    """List the entries of the audit log, newest first."""
    statement = queries.audit_entries(action, actor_name, from_, to)
    return paginate(session, statement, page, AuditEntry.created_at, AuditEntry.id, descending=True)
