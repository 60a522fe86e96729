"""Use cases of tenants: the first owner."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from sinemora.access.tenants import queries
from sinemora.access.tenants.models import Membership, Role, Tenant, User
from sinemora.kit import names, password_rules
from sinemora.kit.db import system_session
from sinemora.kit.security import hash_password


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
    does not change. ValueError for an invalid name or address, or a new password that breaks the rules.
    """
    if "@" not in email:
        raise ValueError(f"not an e-mail address: {email!r}")
    tenant_name = names.checked_name(tenant_name)
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
