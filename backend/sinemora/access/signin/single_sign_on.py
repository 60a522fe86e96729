"""Sign-in through the OpenID provider of the installation; membership and role follow the groups of the person."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import structlog
from sqlalchemy.orm import Session

from sinemora.access.signin import group_roles, queries, service, sessions, tokens
from sinemora.access.signin.models import Identity, Purpose
from sinemora.access.signin.openid import OpenIdClient, OpenIdError
from sinemora.access.signin.service import STEP_LIFE, Pending
from sinemora.access.signin.sessions import Browser, Opened
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.models import Membership, Method, Role, User
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.mail import is_address
from sinemora.kit.security import digest, hash_password

log = structlog.get_logger(__name__)

CALLBACK = "/v1/auth/provider/callback"


@dataclass(frozen=True)
class BegunSignIn:
    """Sign-in that continues at the provider: its URL, and the secret of the browser's cookie."""

    url: str
    secret: str


def provider_name() -> str | None:
    """Return the name of the provider for the sign-in page; None without one."""
    return settings().oidc_name if settings().oidc_issuer else None


@lru_cache(maxsize=1)
def _client(issuer: str, client_id: str, client_secret: str, redirect_uri: str, scopes: str) -> OpenIdClient:
    return OpenIdClient(issuer, client_id, client_secret, redirect_uri, scopes)


def _provider() -> OpenIdClient:
    """Return the client of the settings. ProductError `provider_unknown` (404)."""
    if not settings().oidc_issuer:
        raise NotFound("provider")
    secret = settings().oidc_client_secret
    return _client(
        settings().oidc_issuer,
        settings().oidc_client_id,
        secret.get_secret_value() if secret else "",
        settings().public_url + CALLBACK,
        settings().oidc_scopes,
    )


def begin(next_path: str) -> BegunSignIn:
    """Start a sign-in that ends at `next_path`. ProductError `provider_unknown` (404), `provider_failed` (409)."""
    try:
        request = _provider().authorization()
    except OpenIdError as error:
        raise _failed(error) from None
    with system_session() as session:
        secret = tokens.create(
            session,
            Purpose.provider_sign_in,
            None,
            STEP_LIFE,
            datetime.now(UTC),
            state=request.state,
            nonce=request.nonce,
            verifier=request.verifier,
            next=next_path,
        )
    return BegunSignIn(request.url, secret)


def finish(step_secret: str | None, state: str, code: str, browser: Browser) -> tuple[Opened | Pending, str]:
    """Finish a sign-in with the provider's answer. Return the session, or what it lacks, and the path to open.

    ProductError `sign_in_expired`, `provider_failed`, `provider_email_unverified`, `provider_no_role`.
    """
    now = datetime.now(UTC)
    with system_session() as session:
        step = queries.token(session, digest(step_secret), Purpose.provider_sign_in, now) if step_secret else None
        kept: dict[str, Any] = dict(step.data) if step else {}
        if step is not None:
            session.delete(step)
    # Another browser than the one that began has no cookie: nobody is signed in to an account of somebody else.
    if not kept or not secrets.compare_digest(str(kept["state"]), state):
        raise ProductError("sign_in_expired", 409, "Sign-in expired: start it again.")
    try:
        claims = _provider().claims(code, kept["nonce"], kept["verifier"])
    except OpenIdError as error:
        raise _failed(error) from None
    with system_session() as session:
        user, membership = _admit(session, claims, browser, now)
        known = browser.device_of(user) is not None
        # "mfa" (RFC 8176): the provider has asked for several factors itself.
        strong = "mfa" in claims["amr"] if isinstance(claims.get("amr"), list) else False
        if strong:
            opened = sessions.open_session(
                session, user, membership, browser, Method.provider, second_factor=True, known=known
            )
            return opened, kept["next"]
        result = service.after_first_factor(session, user, membership, browser, Method.provider, known=known)
        return result, kept["next"]


def _admit(session: Session, claims: dict[str, Any], browser: Browser, now: datetime) -> tuple[User, Membership]:
    """Return the person of the claims as a member of the tenant, both created if necessary."""
    tenant = tenant_queries.tenant_by_name(session, settings().oidc_tenant)
    if tenant is None:
        raise _failed(OpenIdError(f"no tenant is named {settings().oidc_tenant!r}: see SINEMORA_OIDC_TENANT"))
    user = _user(session, claims, now)
    role = group_roles.role_of(_groups(claims), group_roles.parse(settings().oidc_roles))
    membership = session.get(Membership, (tenant.id, user.id), with_for_update={"of": Membership})
    if role is None:
        if membership is not None:
            sessions.record(session, user, "session.refused", browser, reason="no role for the groups")
            session.commit()  # the refusal is recorded although it is an error
        raise ProductError("provider_no_role", 403, "Not allowed: none of your groups has a role here.")
    if membership is None:
        membership = Membership(tenant_id=tenant.id, user_id=user.id, role=role)
        session.add(membership)
        session.flush()
        sessions.record(session, user, "member.joined", browser, role=role.value)
    elif membership.role not in (role, Role.owner):  # a provider must not leave a tenant without an owner
        sessions.record(session, user, "member.role_changed", browser, before=membership.role, after=role.value)
        membership.role = role
    return user, membership


def _user(session: Session, claims: dict[str, Any], now: datetime) -> User:
    """Return the user of an identity at the provider, found by it or by the verified address, or a new one."""
    identity = session.get(Identity, (claims["iss"], claims["sub"]))
    if identity is not None:
        identity.last_used_at = now
        return session.get_one(User, identity.user_id)
    email = str(claims.get("email", "")).strip().lower()
    if claims.get("email_verified") is not True or not is_address(email):
        raise ProductError(
            "provider_email_unverified", 403, "Not allowed: the provider has not verified your e-mail address."
        )
    user = tenant_queries.user_by_email(session, email)
    if user is None:
        user = User(email=email, password_hash=hash_password(secrets.token_urlsafe(32)))
        session.add(user)
        session.flush()
        user.password_changed_at = None  # no password was ever set; null given to a new row means the default
    session.add(Identity(issuer=claims["iss"], subject=claims["sub"], user_id=user.id, last_used_at=now))
    return user


def _groups(claims: dict[str, Any]) -> set[str]:
    groups = claims.get(settings().oidc_groups_claim)
    return {str(group) for group in groups} if isinstance(groups, list) else set()


def _failed(error: OpenIdError) -> ProductError:
    log.warning("OpenID provider failed", error=str(error))
    return ProductError(
        "provider_failed", 409, "Provider failed: try again, or inform the operator, whose log has the reason."
    )
