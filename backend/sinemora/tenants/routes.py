"""HTTP of tenants: signing in and out, API keys, audit."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from sinemora.kit.config import settings
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute, secret_once
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.http.routes import BoundedRoute
from sinemora.kit.security import csrf_token
from sinemora.tenants import queries, service
from sinemora.tenants.access import (
    CSRF_COOKIE,
    DEVICE_COOKIE,
    SESSION_COOKIE,
    Actor,
    Admin,
    MaybeSignedIn,
    SignedIn,
    Viewer,
)
from sinemora.tenants.models import ApiKey, AuditEntry
from sinemora.tenants.schemas import (
    ApiKeyCreate,
    ApiKeyCreated,
    ApiKeyRead,
    AuditEntryRead,
    SessionRead,
    SignIn,
    SignInStatus,
    TenantRead,
    UserRead,
)

_DEVICE_S = 366 * 86_400

sign_in_router = APIRouter(prefix="/v1/auth", route_class=BoundedRoute, tags=["auth"])
router = APIRouter(prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, responses=responses(401, 403, 429))


@sign_in_router.post("/sign-in", responses=responses(401, 422, 429))
def sign_in(body: SignIn, request: Request, response: Response) -> SessionRead:
    """Open a browser session. It sets a cookie hidden from scripts, and one to send back as `X-CSRF-Token`."""
    opened = service.sign_in(body, _browser(request))
    csrf = csrf_token(opened.secret)
    life_s = settings().session_hours * 3600
    secure = bool(settings().cookie_secure)
    response.set_cookie(
        SESSION_COOKIE, opened.secret, max_age=life_s, httponly=True, secure=secure, samesite="lax", path="/"
    )
    response.set_cookie(CSRF_COOKIE, csrf, max_age=life_s, secure=secure, samesite="lax", path="/")
    response.set_cookie(
        DEVICE_COOKIE,
        opened.device,
        max_age=_DEVICE_S,
        httponly=True,
        secure=secure,
        samesite="strict",
        path="/v1/auth/sign-in",
    )
    return SessionRead(
        user=UserRead.model_validate(opened.user),
        tenant=TenantRead.model_validate(opened.tenant),
        role=opened.role,
        csrf_token=csrf,
    )


@sign_in_router.get("/status", responses=responses(401, 429))
def read_sign_in_status(request: Request, actor: MaybeSignedIn) -> SignInStatus:
    """Return the session of this browser, or null: for a page that asks whether anyone is signed in."""
    return SignInStatus(session=_session_of(request, actor) if actor else None)


@router.post("/auth/sign-out", status_code=204, tags=["auth"])
def sign_out(request: Request, response: Response, actor: Viewer) -> None:
    """End this browser session. An API key stays valid."""
    secret = request.cookies.get(SESSION_COOKIE)
    if actor.kind == "user" and secret:
        service.sign_out(secret, _browser(request))
    response.delete_cookie(SESSION_COOKIE, path="/")
    response.delete_cookie(CSRF_COOKIE, path="/")


@router.get("/auth/session", tags=["auth"])
def read_session(request: Request, actor: Viewer) -> SessionRead:
    """Return the signed-in user. For an API key, `user` is the key and there is no CSRF token."""
    return _session_of(request, actor)


def _browser(request: Request) -> service.Browser:
    address = request.client.host if request.client else ""
    return service.Browser(address, request.headers.get("User-Agent", ""), request.cookies.get(DEVICE_COOKIE))


def _session_of(request: Request, actor: Actor) -> SessionRead:
    secret = request.cookies.get(SESSION_COOKIE) if actor.kind == "user" else None
    return SessionRead(
        user=UserRead(id=actor.id, email=actor.name),
        tenant=TenantRead(id=actor.tenant_id, key=actor.tenant_key, name=actor.tenant_name),
        role=actor.role,
        csrf_token=csrf_token(secret) if secret else "",
    )


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
