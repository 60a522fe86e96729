"""Sign-in through an OpenID provider: that of the installation, or a tenant's. The role follows the person's groups.

The operator sets the provider of the installation, which vouches for everybody. A tenant's vouches for people of the
tenant's verified domains, in this tenant alone: the session that it opens reaches nothing else of a person.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from sinemora.access.signin import (
    domains,
    group_roles,
    identity_provider,
    queries,
    service,
    sessions,
    tenant_people,
    tokens,
)
from sinemora.access.signin.models import Identity, IdentityProvider, Purpose
from sinemora.access.signin.openid import OpenIdClient, OpenIdError
from sinemora.access.signin.service import STEP_LIFE, Pending
from sinemora.access.signin.sessions import Browser, Opened
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.models import Membership, Method, Role, User
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError, existing
from sinemora.kit.host_names import domain_of
from sinemora.kit.security import digest

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Answer:
    """Authorization response: state, code and issuer (RFC 9207), each empty if it is missing."""

    state: str
    code: str
    issuer: str


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


def has_provider(domain: str) -> bool:
    """Return whether people of a domain sign in at the provider of a tenant."""
    with system_session() as session:
        return _of_domain(session, domain) is not None


def _of_domain(session: Session, domain: str) -> IdentityProvider | None:
    try:
        owner = session.scalars(domains.verified(domain_of(domain))).one_or_none()
    except ValueError:  # no domain: of nobody
        return None
    return identity_provider.find(session, owner.tenant_id) if owner else None


def _provider() -> OpenIdClient:
    """Return the client of the settings. ProductError `provider_unknown` (404)."""
    if not settings().oidc_issuer:
        raise NotFound("provider")
    secret = settings().oidc_client_secret
    return _client(
        settings().oidc_issuer,
        settings().oidc_client_id,
        secret.get_secret_value() if secret else "",
        identity_provider.redirect_uri(),
        settings().oidc_scopes,
    )


def begin(next_path: str, domain: str | None) -> BegunSignIn:
    """Start a sign-in that ends at `next_path`, at the provider of a domain or of the installation.

    ProductError `provider_unknown` (404), `provider_failed` (409).
    """
    tenant_id = None
    if domain is None:
        client = _provider()
    else:
        with system_session() as session:
            row = existing(_of_domain(session, domain), "provider")
            client, tenant_id = identity_provider.client_of(row), row.tenant_id
    try:
        request = client.authorization()
    except OpenIdError as error:
        raise _failed(error, tenant_id) from None
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
            tenant_id=str(tenant_id) if tenant_id else None,
            issuer=client.issuer,
            client_id=client.client_id,
        )
    return BegunSignIn(request.url, secret)


def finish(step_secret: str | None, answer: Answer, browser: Browser) -> tuple[Opened | Pending, str]:
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
    if not kept or not secrets.compare_digest(str(kept["state"]), answer.state):
        raise _expired()
    tenant_id = UUID(kept["tenant_id"]) if kept.get("tenant_id") else None
    client = _provider() if tenant_id is None else _client_of(tenant_id)
    # A code goes to the provider that issued it alone, although the settings have another one by now.
    if (client.issuer, client.client_id) != (kept.get("issuer"), kept.get("client_id")):
        raise _expired()
    try:
        client.refuse_mixed_up(answer.issuer)
        claims = client.claims(answer.code, kept["nonce"], kept["verifier"])
    except OpenIdError as error:
        raise _failed(error, tenant_id) from None
    # "mfa" (RFC 8176): the provider has asked for several factors itself.
    strong = "mfa" in claims["amr"] if isinstance(claims.get("amr"), list) else False
    with system_session() as session:
        try:
            if tenant_id is None:
                user, membership = _admit(session, claims, browser, now)
            else:
                user, membership = tenant_people.admit(session, tenant_id, client, claims, browser, now)
        except IntegrityError:  # the same new person in two browsers at once
            raise _expired() from None
        method = Method.provider if tenant_id is None else Method.identity_provider
        known = browser.device_of(user) is not None
        result: Opened | Pending
        if strong or tenant_id is not None:
            result = sessions.open_session(
                session, user, membership, browser, method, second_factor=strong, known=known
            )
        else:
            result = service.after_first_factor(session, user, membership, browser, method, known=known)
        return result, kept["next"]


def _client_of(tenant_id: UUID) -> OpenIdClient:
    """Return the client of a tenant. ProductError `sign_in_expired`: it has no provider any more."""
    with system_session() as session:
        row = identity_provider.find(session, tenant_id)
        if row is None:
            raise _expired()
        return identity_provider.client_of(row)


def _admit(session: Session, claims: dict[str, Any], browser: Browser, now: datetime) -> tuple[User, Membership]:
    """Return the person of the claims as a member of the tenant, both created if necessary."""
    tenant = tenant_queries.tenant_by_name(session, settings().oidc_tenant)
    if tenant is None:
        raise _failed(OpenIdError(f"no tenant is named {settings().oidc_tenant!r}: see SINEMORA_OIDC_TENANT"), None)
    user = _user(session, claims, now)
    groups = group_roles.groups_of(claims, settings().oidc_groups_claim)
    role = group_roles.role_of(groups, group_roles.parse(settings().oidc_roles))
    membership = session.get(Membership, (tenant.id, user.id), with_for_update={"of": Membership})
    if role is None:
        if membership is not None:
            sessions.record(session, user, "session.refused", browser, reason="no role for the groups")
            session.commit()  # the refusal is recorded although it is an error
        raise tenant_people.no_role()
    if membership is None:
        membership = Membership(tenant_id=tenant.id, user_id=user.id, role=role)
        session.add(membership)
        session.flush()
        sessions.record(session, user, "member.joined", browser, role=role.value)
    elif membership.role not in (role, Role.owner):  # a provider must not leave a tenant without an owner
        sessions.record(session, user, "member.role_changed", browser, before=membership.role, after=role.value)
        membership.role = role
    if not membership.opens_by(Method.provider, tenant, now):
        raise service.single_sign_on_required()
    return user, membership


def _user(session: Session, claims: dict[str, Any], now: datetime) -> User:
    """Return the user of an identity at the provider, found by it or by the verified address, or a new one."""
    identity = session.get(Identity, (claims["iss"], claims["sub"]))
    if identity is not None:
        identity.last_used_at = now
        return session.get_one(User, identity.user_id)
    email = tenant_people.address(claims)
    if claims.get("email_verified") is not True or email is None:
        raise tenant_people.unverified()
    user = tenant_queries.user_by_email(session, email) or tenant_people.new_user(session, email)
    session.add(Identity(issuer=claims["iss"], subject=claims["sub"], user_id=user.id, last_used_at=now))
    return user


def _expired() -> ProductError:
    return ProductError("sign_in_expired", 409, "Sign-in expired: start it again.")


def _failed(error: OpenIdError, tenant_id: UUID | None) -> ProductError:
    log.warning("OpenID provider failed", error=str(error), tenant_id=str(tenant_id) if tenant_id else None)
    return ProductError(
        "provider_failed",
        409,
        "Provider failed: try again, or inform the operator, whose log has the reason. An owner can test the provider"
        " of a tenant.",
    )
