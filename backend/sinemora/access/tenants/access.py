"""Authentication and authorisation: session cookies, API keys, roles."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Security
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute

from sinemora.access.tenants import mesh_limits, queries
from sinemora.access.tenants.models import BrowserSession, Method, Role, Tenant
from sinemora.kit import mesh_limit
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError, Status, responses
from sinemora.kit.http import rate_limit
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.http.routes import before_body
from sinemora.kit.mesh_limit import MeshLimit
from sinemora.kit.security import csrf_token, digest, equal

SESSION_COOKIE = "sinemora_session"
CSRF_COOKIE = "sinemora_csrf"
DEVICE_COOKIE = "sinemora_device"
CSRF_HEADER = "x-csrf-token"
# Of these, the path is not the whole host.
_CONFINED = {DEVICE_COOKIE, "sinemora_sign_in"}
KEY_PREFIX = "sm_"
_SAFE = {"GET", "HEAD", "OPTIONS"}
CONFIRMED_FOR = timedelta(minutes=10)
"""Time for which a sign-in or a confirmation counts as recent, for sensitive changes."""
_USED_AGAIN = timedelta(minutes=1)
# Open to members who still have to set up the second factor that their tenant requires.
_BEFORE_SECOND_FACTOR = ("/v1/auth/", "/v1/account")
# Open to sessions of one tenant, which see and end those of this tenant.
_OWN_SESSIONS = "/v1/account/sessions"
_RANK = {role: role.rank for role in Role}


def cookie_name(name: str) -> str:
    """Return the name of a cookie: over TLS with its prefix (RFC 6265bis §4.1.3), so that no other host can set it.

    `__Host-` also forbids other domains and paths; cookies for some paths only get `__Secure-`. The name ends with the
    port that the public URL names: browsers do not tell the ports of a host apart (§8.5), and each may be another
    installation.
    """
    port = urlsplit(settings().public_url).port
    named = f"{name}_{port}" if port else name
    if not settings().cookie_secure:
        return named
    return f"__Secure-{named}" if name in _CONFINED else f"__Host-{named}"


def cookie_of(request: Request, name: str) -> str | None:
    """Return the value of a cookie of the product; None without it."""
    return request.cookies.get(cookie_name(name))


@dataclass(frozen=True)
class Actor:
    """Caller of a request: a `user` (by cookie), an `api_key`, or the bearer of another kind of token.

    `name` is the e-mail address, or the name of the key or token. `session_id` is the browser session of a user, and
    `authenticated_at` the time at which the user last proved who they are. `mesh_limit`: the meshes that the caller
    sees, None for all. `of_one_tenant`: the tenant's identity provider vouches for the user, so the session opens
    neither the account nor other tenants of the person.
    """

    tenant_id: UUID
    tenant_key: int
    tenant_name: str
    kind: str
    id: UUID
    name: str
    role: Role
    session_id: UUID | None = None
    authenticated_at: datetime | None = None
    second_factor_due: bool = False
    mesh_limit: MeshLimit | None = None
    of_one_tenant: bool = False


# Authenticates the bearer of a token for a request; it refuses requests that the token does not grant.
Authenticate = Callable[[Request, str], Actor]
_accepted: dict[str, Authenticate] = {}


def accept(prefix: str, authenticate: Authenticate) -> None:
    """Accept tokens that begin with `prefix`. Features above this one add their kinds when they are imported."""
    _accepted[prefix] = authenticate


def accepted_tokens() -> list[Authenticate]:
    """Return the functions that authenticate the bearers of each kind of token."""
    return list(_accepted.values())


# FastAPI lists them in openapi.json as the security schemes.
_cookie = APIKeyCookie(
    name=SESSION_COOKIE,
    scheme_name="session",
    description="Set by POST /v1/auth/sign-in, as `sinemora_session_PORT` where the public URL names a port; "
    "unsafe methods also take the header X-CSRF-Token.",
    auto_error=False,
)
_key = HTTPBearer(scheme_name="api_key", description="An API key, `sm_…`.", auto_error=False)


def authenticate(request: Request) -> Actor:
    """Return the actor of this request and set its tenant, for the transaction of the request.

    ProductError `sign_in_required`, `bad_credentials` (401), `csrf_token_invalid` (403), `too_many_requests` (429).
    """
    try:
        actor = _actor_of(request)
    except ProductError as error:
        if error.status == 401:
            rate_limit.limit_address(request)
        raise
    request.state.tenant_id, request.state.tenant_key = actor.tenant_id, actor.tenant_key
    request.state.mesh_limit = actor.mesh_limit
    request.state.caller = f"{actor.kind}:{actor.id}"
    rate_limit.limit(request, request.state.caller, actor.tenant_key)
    request.state.actor = actor
    return actor


def _actor_of(request: Request) -> Actor:
    scheme, token = get_authorization_scheme_param(request.headers.get("Authorization"))
    if scheme.lower() == "bearer" and token:
        return _by_token(request, token)
    return _by_cookie(request, cookie_of(request, SESSION_COOKIE))


def still_signed_in(request: Request) -> Callable[[], Awaitable[bool]]:
    """Return a function that looks up whether the session or key of `request` is still valid.

    It must be in the same tenant and see the same meshes.
    """
    before: tuple[UUID, MeshLimit | None] = request.state.tenant_id, request.state.mesh_limit

    def look_up() -> bool:
        try:
            actor = _actor_of(request)
            return (actor.tenant_id, actor.mesh_limit) == before
        except ProductError:
            return False
        except SQLAlchemyError:
            return True  # a database away ends no session

    return partial(run_in_threadpool, look_up)


# The schemes are parameters only for the OpenAPI document. `async` although it awaits nothing: see `_at_least`.
async def signed_in(
    request: Request,
    session: Annotated[str | None, Security(_cookie)],
    key: Annotated[HTTPAuthorizationCredentials | None, Security(_key)],
) -> Actor:
    """Return the actor of this request, whom `authenticate` has found before the body was read."""
    actor: Actor = request.state.actor
    return actor


async def authenticate_early(request: Request) -> None:
    """Authenticate a request before its body is read."""
    actor = await run_in_threadpool(authenticate, request)
    # In the context of the request, for the sessions that it opens while it sends its response.
    mesh_limit.set_present(actor.mesh_limit)


before_body(signed_in, authenticate_early)


def signed_in_or_none(
    request: Request,
    session: Annotated[str | None, Security(_cookie)],
    key: Annotated[HTTPAuthorizationCredentials | None, Security(_key)],
) -> Actor | None:
    """Return the actor of this request; None without a valid session. ProductError `bad_credentials` (401)."""
    try:
        return authenticate(request)
    except ProductError as error:
        if error.code != "sign_in_required":
            raise
        return None


def person_or_none(request: Request) -> Actor | None:
    """Return the person signed in to this browser; None without a valid session. Other credentials do not count.

    ProductError `csrf_token_invalid` (403).
    """
    try:
        return _by_cookie(request, cookie_of(request, SESSION_COOKIE))
    except ProductError as error:
        if error.code != "sign_in_required":
            raise
        return None


def _by_token(request: Request, token: str) -> Actor:
    for prefix, authenticate in _accepted.items():
        if token.startswith(prefix):
            return authenticate(request, token)
    raise refused_token()


def refused_token() -> ProductError:
    """Return the refusal of a token that is unknown or has expired."""
    return ProductError(
        "bad_credentials",
        401,
        "Bad credentials: the API key is unknown or has expired.",
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )


def _by_cookie(request: Request, secret: str | None) -> Actor:
    row, limit = None, None
    now = datetime.now(UTC)
    if secret:
        with system_session() as session:
            row = queries.signed_in(session, digest(secret), now)
            if row is not None and not row[1].opens_by(Method(row[0].method), row[2], now):
                row = None
            if row is not None:
                limit = mesh_limits.limit(session, row[2].id, mesh_limits.of_member(row[1]))
                if now - row[0].last_used_at > _USED_AGAIN:
                    queries.mark_used(session, row[0].id, now)
    if not secret or row is None:
        raise ProductError(
            "sign_in_required",
            401,
            "Not signed in: sign in, or send an API key.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if request.method not in _SAFE and not equal(request.headers.get(CSRF_HEADER, ""), csrf_token(secret)):
        raise ProductError(
            "csrf_token_invalid",
            403,
            f"CSRF token invalid: send the value of the cookie {cookie_name(CSRF_COOKIE)} as header X-CSRF-Token.",
        )
    browser, membership, tenant = row
    due = is_factor_due(tenant, browser)
    if due and not request.url.path.startswith(_BEFORE_SECOND_FACTOR):
        raise ProductError(
            "second_factor_due",
            403,
            f"Second factor required: {tenant.name} requires one. Set it up on the page Account.",
        )
    return Actor(
        tenant_id=tenant.id,
        tenant_key=tenant.key,
        tenant_name=tenant.name,
        kind="user",
        id=membership.user_id,
        name=membership.user.email,
        role=Role(membership.role),
        session_id=browser.id,
        authenticated_at=browser.authenticated_at,
        second_factor_due=due,
        mesh_limit=limit,
        of_one_tenant=browser.method == Method.identity_provider,
    )


def is_factor_due(tenant: Tenant, browser: BrowserSession) -> bool:
    """Return whether a session lacks the second factor that its tenant requires.

    The tenant's identity provider asks for its factors itself.
    """
    is_own = browser.method == Method.identity_provider
    return tenant.second_factor_required and not browser.second_factor and not is_own


def of_one_tenant_only(tenant_name: str) -> ProductError:
    """Return the refusal of what concerns the account or other tenants in a session of one tenant."""
    return ProductError(
        "session_of_one_tenant",
        403,
        f"Not allowed: the identity provider of {tenant_name} opened this session, for this tenant alone. Sign in with"
        " a password or a passkey.",
    )


_required: dict[Callable[..., Any], Role] = {}


def _at_least(role: Role) -> Callable[[Actor], Awaitable[Actor]]:
    # `async` although it awaits nothing: FastAPI calls other functions on a thread, which has to be waited for.
    async def allowed(actor: Annotated[Actor, Depends(signed_in)]) -> Actor:
        if _RANK[actor.role] < _RANK[role]:
            raise ProductError("not_allowed", 403, f"Not allowed: this needs the role {role}, yours is {actor.role}.")
        return actor

    _required[allowed] = role
    return allowed


async def _person(actor: Annotated[Actor, Depends(signed_in)]) -> Actor:
    """Refuse programs where only a person may act. ProductError `person_required` (403)."""
    if actor.kind != "user":
        raise ProductError("person_required", 403, "Not allowed: a person has to do this, not an API key.")
    return actor


async def _all_tenants(request: Request, actor: Annotated[Actor, Depends(signed_in)]) -> None:
    """Refuse changes of a person's account in a session of one tenant. ProductError `session_of_one_tenant` (403)."""
    changes = request.method not in _SAFE and not request.url.path.startswith(_OWN_SESSIONS)
    if actor.of_one_tenant and changes:
        raise of_one_tenant_only(actor.tenant_name)


async def _confirmed(actor: Annotated[Actor, Depends(_person)]) -> Actor:
    if actor.authenticated_at is None or datetime.now(UTC) - actor.authenticated_at > CONFIRMED_FOR:
        raise ProductError(
            "confirmation_required",
            403,
            "Confirmation required: send your password or a second factor to POST /v1/account/confirmations first.",
        )
    return actor


def required_role(route: APIRoute) -> Role | None:
    """Return the least role that a route needs; None for routes of agents and of everyone."""
    calls = [dependency.call for dependency in _flat(route.dependant)]
    roles = [_required[call] for call in calls if call in _required]
    if roles:
        return max(roles, key=lambda role: role.rank)
    return Role.viewer if signed_in in calls else None


def is_for_people(route: APIRoute) -> bool:
    """Return whether no API key may call a route."""
    return any(one.call is _person for one in _flat(route.dependant))


def describe_roles(contract: dict[str, Any], routes: Sequence[BaseRoute]) -> None:
    """Write the least role of each operation into the OpenAPI document: `x-required-role`, `none` for everyone.

    Routes of agents take the credential of an agent: `agent`. `x-person-only`: no API key may call the operation;
    `x-confirmation`: it needs a proof of who calls, of the last ten minutes.
    """
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                operation = contract["paths"][route.path_format][method.lower()]
                operation["x-required-role"] = _role_of(route, operation)
                if is_for_people(route):
                    operation["x-person-only"] = True
                if any(one.call is _confirmed for one in _flat(route.dependant)):
                    operation["x-confirmation"] = True


def _role_of(route: APIRoute, operation: dict[str, Any]) -> str:
    if any("agent" in scheme for scheme in operation.get("security", ())):
        return "agent"
    return required_role(route) or "none"


def _flat(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from _flat(inner)


# As a dependency of a router: authentication runs before a route's dependencies, its session included.
SignedIn = Depends(signed_in)
PersonOnly = Depends(_person)
OfAllTenants = Depends(_all_tenants)
MaybeSignedIn = Annotated[Actor | None, Depends(signed_in_or_none)]
Person = Annotated[Actor, Depends(_person)]
Confirmed = Depends(_confirmed)
Viewer = Annotated[Actor, Depends(_at_least(Role.viewer))]
Editor = Annotated[Actor, Depends(_at_least(Role.editor))]
Admin = Annotated[Actor, Depends(_at_least(Role.admin))]
Owner = Annotated[Actor, Depends(_at_least(Role.owner))]


def signed_in_router(
    prefix: str, tag: str | None, *statuses: Status, route_class: type[APIRoute] = ProductRoute
) -> APIRouter:
    """Return the router of a feature for callers who are signed in.

    `statuses`: problems that each of its routes may respond with, besides 401, 403 and 429.
    """
    return APIRouter(
        prefix=prefix,
        dependencies=[SignedIn],
        route_class=route_class,
        tags=None if tag is None else [tag],
        responses=responses(401, 403, 429, *statuses),
    )
