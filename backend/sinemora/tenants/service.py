"""Use cases of tenants: the first owner, sign-in and sign-out, API keys."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit import password_rules
from sinemora.kit.db import system_session
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.security import digest, hash_password, new_secret, shown_prefix
from sinemora.tenants import audit, queries
from sinemora.tenants.access import KEY_PREFIX, Actor
from sinemora.tenants.models import ApiKey, Membership, Role, Tenant, User
from sinemora.tenants.schemas import ApiKeyCreate

_KEY_LIFETIME_MAX = timedelta(days=366)


@dataclass(frozen=True)
class OwnerCreated:
    """Result of `create_owner`. `password` is set only if one was generated."""

    tenant_id: UUID
    user_id: UUID
    created: bool
    password: str | None


def create_owner(tenant_name: str, email: str, password: str | None = None) -> OwnerCreated:
    """Ensure that this tenant exists and this user owns it; safe to repeat.

    A new user gets `password`, or a generated one that only the result contains. The password of an existing user
    does not change. ValueError for an invalid address or a new password that breaks the rules.
    """
    if "@" not in email:
        raise ValueError(f"not an e-mail address: {email!r}")
    with system_session() as session:
        tenant = queries.tenant_by_name(session, tenant_name)
        if tenant is None:
            tenant = Tenant(name=tenant_name)
            session.add(tenant)
        user = queries.user_by_email(session, email)
        created = user is None
        reason = password_rules.weakness(password, [email, tenant_name]) if created and password is not None else None
        if reason is not None:
            raise ValueError(f"password refused: {reason}")
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
