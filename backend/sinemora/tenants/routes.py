"""HTTP of tenants: signing in and out, API keys, audit."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import select

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute, secret_once
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.tenants import queries, service
from sinemora.tenants.access import (
    Admin,
    SignedIn,
    Viewer,
)
from sinemora.tenants.models import ApiKey, AuditEntry
from sinemora.tenants.schemas import (
    ApiKeyCreate,
    ApiKeyCreated,
    ApiKeyRead,
    AuditEntryRead,
)

router = APIRouter(prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, responses=responses(401, 403, 429))


@router.get("/api-keys", tags=["api-keys"], response_model=Page[ApiKeyRead])
def list_api_keys(session: SessionDep, actor: Viewer, page: Paging) -> Slice[ApiKey]:
    """List the tenant's API keys by name, without their secrets."""
    return paginate(session, select(ApiKey), page, ApiKey.name)


@router.post("/api-keys", status_code=201, tags=["api-keys"], responses=responses(409, 422))
@secret_once
def create_api_key(body: ApiKeyCreate, session: SessionDep, actor: Admin) -> ApiKeyCreated:
    """Create an API key. Only this response contains its secret."""
    key, secret = service.create_api_key(session, actor, body)
    return ApiKeyCreated(**ApiKeyRead.model_validate(key).model_dump(), secret=secret)


@router.delete("/api-keys/{api_key_id}", status_code=204, tags=["api-keys"], responses=responses(404))
def delete_api_key(api_key_id: UUID, session: SessionDep, actor: Admin) -> None:
    """Delete an API key. It is invalid at once."""
    service.delete_api_key(session, actor, api_key_id)


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
