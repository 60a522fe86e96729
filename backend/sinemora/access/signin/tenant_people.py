"""People for whom the identity provider of a tenant vouches: found or created, admitted, removed.

Anyone who runs the provider can claim any address. So addresses count in the tenant's verified domains alone, and an
existing account with such an address joins this tenant without opening anything else of it.
"""

import secrets
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sinemora.access.signin import domains, group_roles, identity_provider
from sinemora.access.signin.openid import OpenIdClient
from sinemora.access.signin.sessions import Browser
from sinemora.access.tenants import audit
from sinemora.access.tenants import queries as tenant_queries
from sinemora.access.tenants.models import Membership, Role, User
from sinemora.kit.errors import ProductError
from sinemora.kit.host_names import domain_of
from sinemora.kit.mail import is_address
from sinemora.kit.names import checked_name
from sinemora.kit.security import hash_password


def admit(
    session: Session, tenant_id: UUID, client: OpenIdClient, claims: dict[str, Any], browser: Browser, now: datetime
) -> tuple[User, Membership]:
    """Return the person of the claims as a member of the tenant; one without a role is removed from it.

    ProductError `sign_in_expired` (409), `provider_email_unverified`, `provider_no_role` (403), `too_many_objects`
    (409).
    """
    row = identity_provider.find(session, tenant_id, locked=True, shared=True)
    if row is None or (row.issuer, row.client_id) != (client.issuer, client.client_id):
        raise ProductError("sign_in_expired", 409, "Sign-in expired: the provider was changed. Start it again.")
    email = address(claims)
    # Some providers have no such claim. The tenant trusts its own, with its own people.
    if email is None or claims.get("email_verified", True) is not True or not _is_vouched(session, tenant_id, email):
        raise unverified()
    found = select(Membership).where(Membership.tenant_id == tenant_id, Membership.subject == claims["sub"])
    membership = session.scalars(found.with_for_update(of=Membership)).one_or_none()
    user = membership.user if membership else tenant_queries.user_by_email(session, email)
    if user is not None and membership is None:
        membership = session.get(Membership, (tenant_id, user.id), with_for_update={"of": Membership})
    groups = group_roles.groups_of(claims, row.groups_claim)
    role = group_roles.role_of(groups, {group: Role(role) for group, role in row.roles.items()})
    if membership is not None and membership.role == Role.owner:
        role = Role.owner  # a provider must not leave a tenant without an owner
    if role is None:
        if user is not None and membership is not None:
            fields = {"reason": "no role for the groups", "groups": sorted(groups)[:20], **browser.described()}
            audit.record_session(session, tenant_id, user, "member.removed", fields)
            session.delete(membership)
            session.commit()  # the removal holds although it is an error
        raise no_role()
    if membership is None:
        _require_room(session, tenant_id)
        user = user or new_user(session, email, claims.get("name"))
        membership = Membership(tenant_id=tenant_id, user_id=user.id, role=role)
        session.add(membership)
        session.flush()
        audit.record_session(session, tenant_id, user, "member.joined", {"role": role.value, **browser.described()})
    elif membership.role != role:
        fields = {"before": membership.role, "after": role.value, **browser.described()}
        audit.record_session(session, tenant_id, membership.user, "member.role_changed", fields)
        membership.role = role
        session.flush()
    # Its version stays: administrators hold it. Another subject with the address was the same person before.
    own = update(Membership).where(Membership.tenant_id == tenant_id, Membership.user_id == membership.user_id)
    session.execute(own.values(subject=claims["sub"], confirmed_at=now))
    return session.get_one(User, membership.user_id), membership


def address(claims: dict[str, Any]) -> str | None:
    """Return the e-mail address of claims in lower case; None without one."""
    email = str(claims.get("email", "")).strip().lower()
    return email if is_address(email) else None


def new_user(session: Session, email: str, name: Any = None) -> User:
    """Store and return a person who has no password."""
    try:
        name = checked_name(str(name or ""))
    except ValueError:
        name = ""
    user = User(email=email, name=name, password_hash=hash_password(secrets.token_urlsafe(32)))
    session.add(user)
    session.flush()
    user.password_changed_at = None  # no password was ever set; null given to a new row means the default
    return user


def unverified() -> ProductError:
    """Return the refusal of a person whose address nobody vouches for."""
    return ProductError(
        "provider_email_unverified", 403, "Not allowed: the provider has not verified your e-mail address."
    )


def no_role() -> ProductError:
    """Return the refusal of a person without a role."""
    return ProductError("provider_no_role", 403, "Not allowed: none of your groups has a role here.")


def _is_vouched(session: Session, tenant_id: UUID, email: str) -> bool:
    """Return whether the domain of an address is verified by the tenant."""
    try:
        domain = session.scalars(domains.verified(domain_of(email.rpartition("@")[2]))).one_or_none()
    except ValueError:
        return False
    return domain is not None and domain.tenant_id == tenant_id


def _require_room(session: Session, tenant_id: UUID) -> None:
    """Check that the tenant may have another member, which no session of a tenant does here."""
    count = session.scalar(select(func.count()).select_from(Membership).where(Membership.tenant_id == tenant_id))
    if Membership.rows_max is not None and (count or 0) >= Membership.rows_max:
        raise ProductError(
            "too_many_objects",
            409,
            f"Too many members: a tenant has at most {Membership.rows_max:,}. Remove some first.",
        )
