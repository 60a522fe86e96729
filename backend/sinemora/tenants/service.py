"""Use cases of tenants: the first owner, sign-in and sign-out, API keys."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.security import check_password, digest, hash_password, new_secret, shown_prefix
from sinemora.tenants import audit, queries, throttle
from sinemora.tenants.access import KEY_PREFIX, Actor
from sinemora.tenants.models import ApiKey, BrowserSession, Membership, Role, Tenant, User
from sinemora.tenants.schemas import ApiKeyCreate, SignIn

_KEY_LIFETIME_MAX = timedelta(days=366)


@dataclass(frozen=True)
class OwnerCreated:
    """Result of `create_owner`. `password` is set only if one was generated."""

    tenant_id: UUID
    user_id: UUID
    created: bool
    password: str | None


@dataclass(frozen=True)
class SignInResult:
    """New browser session: user, tenant, role, the secret for its cookie, and a token of the browser."""

    user: User
    tenant: Tenant
    role: Role
    secret: str
    device: str


@dataclass(frozen=True)
class Browser:
    """Sender of a sign-in or sign-out: its address, its `User-Agent`, and its device token if it has one."""

    address: str
    user_agent: str
    device: str | None = None

    def described(self) -> dict[str, str]:
        """Return the fields of an audit entry."""
        return {"address": self.address, "user_agent": self.user_agent[:200]}


def create_owner(tenant_name: str, email: str, password: str | None = None) -> OwnerCreated:
    """Ensure that this tenant exists and this user owns it; safe to repeat.

    A new user gets `password`, or a generated one that only the result contains. The password of an existing user
    does not change. ValueError for an invalid address or a password of fewer than 10 characters.
    """
    if "@" not in email:
        raise ValueError(f"not an e-mail address: {email!r}")
    if password is not None and len(password) < 10:
        raise ValueError("password too short: it needs at least 10 characters")
    with system_session() as session:
        tenant = queries.tenant_by_name(session, tenant_name)
        if tenant is None:
            tenant = Tenant(name=tenant_name)
            session.add(tenant)
        user = queries.user_by_email(session, email)
        created = user is None
        generated = secrets.token_urlsafe(12) if created and password is None else None
        if user is None:
            user = User(email=email.lower(), password_hash=hash_password(password or generated or ""))
            session.add(user)
        session.flush()
        membership = session.get(Membership, (tenant.id, user.id))
        if membership is None:
            session.add(Membership(tenant_id=tenant.id, user_id=user.id, role=Role.owner))
        else:
            membership.role = Role.owner
        return OwnerCreated(tenant.id, user.id, created, generated)


def sign_in(body: SignIn, browser: Browser) -> SignInResult:
    """Open a browser session. ProductError `bad_credentials` (401), `too_many_attempts` (429).

    An unknown user costs the same time as a wrong password. Failures are counted, see `throttle`, and recorded.
    """
    email = body.email.strip().lower()
    now = datetime.now(UTC)
    with system_session() as session:
        user = queries.user_by_email(session, email)
    device = browser.device
    known = user is not None and device is not None and throttle.is_known_device(user.password_hash, device)
    try:
        counted = throttle.begin(email, browser.address, device if known else None)
    except ProductError:
        if user is not None and throttle.is_first_refusal(email):
            _record(user, "session.locked", browser)
        raise
    # Outside a transaction: hashing is slow and needs no connection.
    fits = check_password(user.password_hash if user else None, body.password.get_secret_value())
    if user is not None and not fits:
        _record(user, "session.refused", browser)
    with system_session() as session:
        membership = queries.first_membership(session, user.id) if user and fits else None
        if user is None or membership is None:
            raise ProductError("bad_credentials", 401, "Bad credentials: e-mail address or password is wrong.")
        throttle.forgive(counted)
        secret = secrets.token_urlsafe(32)
        session.add(
            BrowserSession(
                tenant_id=membership.tenant_id,
                user_id=user.id,
                secret_digest=digest(secret),
                expires_at=now + timedelta(hours=settings().session_hours),
            )
        )
        audit.record_session(session, membership.tenant_id, user, "session.created", browser.described())
        tenant = session.get_one(Tenant, membership.tenant_id)
        return SignInResult(user, tenant, membership.role, secret, throttle.device_token(user.password_hash))


def sign_out(secret: str, browser: Browser) -> None:
    """End the browser session with this cookie. An expired session is no error."""
    with system_session() as session:
        row = queries.signed_in(session, digest(secret), datetime.now(UTC))
        queries.end_session(session, digest(secret))
        if row is not None:
            _, membership, tenant = row
            audit.record_session(session, tenant.id, membership.user, "session.ended", browser.described())


def _record(user: User, action: str, browser: Browser) -> None:
    """Record what happened at the sign-in of a user in the audit log of each of their tenants."""
    with system_session() as session:
        for membership in queries.memberships(session, user.id):
            audit.record_session(session, membership.tenant_id, user, action, browser.described())


def create_api_key(session: Session, actor: Actor, body: ApiKeyCreate) -> tuple[ApiKey, str]:
    """Return a new key and its secret. ProductError `api_key_name_taken`, `api_key_life_invalid` (409)."""
    now = datetime.now(UTC)
    if not now < body.expires_at <= now + _KEY_LIFETIME_MAX:
        raise ProductError("api_key_life_invalid", 409, "Invalid expiry: it must be in the future and within a year.")
    if queries.api_key_by_name(session, body.name):
        raise ProductError("api_key_name_taken", 409, "Name taken: another API key has this name.")
    secret = new_secret(KEY_PREFIX)
    key = ApiKey(
        name=body.name,
        prefix=shown_prefix(secret),
        secret_digest=digest(secret),
        scopes=sorted(set(body.scopes)),
        expires_at=body.expires_at,
    )
    audit.created(session, actor, "api_key", key, scopes=list(key.scopes))
    return key, secret


def delete_api_key(session: Session, actor: Actor, key_id: UUID) -> None:
    """Delete an API key; it is invalid at once. ProductError `api_key_unknown`."""
    key = session.get(ApiKey, key_id)
    if key is None:
        raise NotFound("api key")
    session.delete(key)
    audit.record(session, actor, "api_key.deleted", key.id, key.name)
