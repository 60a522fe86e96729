"""SQL of members and invitations."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from sinemora.access.members.models import Invitation
from sinemora.access.tenants.models import Membership, Role, Tenant, User

_LOCK = 84200012


def lock(session: Session, tenant_key: int) -> None:
    """Take the lock for changes of a tenant's members until the end of this transaction."""
    session.execute(text("SELECT pg_advisory_xact_lock(:lock, :key)"), {"lock": _LOCK, "key": tenant_key})


def membership(session: Session, tenant_id: UUID, user_id: UUID) -> Membership | None:
    """Return a membership as it is in the database now."""
    return session.get(Membership, (tenant_id, user_id), populate_existing=True)


def owners(session: Session, tenant_id: UUID) -> Sequence[Membership]:
    return session.scalars(
        select(Membership).where(Membership.tenant_id == tenant_id, Membership.role == Role.owner)
    ).all()


def is_member(session: Session, email: str) -> bool:
    """Return whether the session's tenant has a member with this address, in lower case."""
    found = session.scalar(
        select(Membership.user_id).join(User, User.id == Membership.user_id).where(User.email == email)
    )
    return found is not None


def open_invitation(session: Session, email: str) -> Invitation | None:
    """Return the tenant's invitation of this address that is neither accepted nor revoked; it may have expired."""
    return session.scalars(
        select(Invitation).where(
            Invitation.email == email, Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None)
        )
    ).one_or_none()


def invitation_with(session: Session, digest: bytes, *, locked: bool = False) -> tuple[Invitation, Tenant] | None:
    """Return the invitation with this digest and its tenant; `locked` until the end of the transaction."""
    statement = (
        select(Invitation, Tenant)
        .join(Tenant, Tenant.id == Invitation.tenant_id)
        .where(Invitation.secret_digest == digest)
        .execution_options(populate_existing=True)
    )
    row = session.execute(statement.with_for_update(of=Invitation) if locked else statement).one_or_none()
    return None if row is None else (row[0], row[1])


def delete_old_invitations(session: Session, ended_before: datetime) -> None:
    """Delete invitations that were accepted or revoked, or that expired, before a time."""
    ended = func.coalesce(Invitation.accepted_at, Invitation.revoked_at, Invitation.expires_at)
    session.execute(delete(Invitation).where(ended < ended_before))


def has_membership(session: Session, user_id: UUID) -> bool:
    """Return whether a user belongs to any tenant."""
    return session.scalar(select(Membership.user_id).where(Membership.user_id == user_id).limit(1)) is not None


def delete_people_without_tenant(session: Session, created_before: datetime) -> int:
    """Delete users who belong to no tenant any more. Return their number.

    They are locked first: a membership that commits meanwhile would be deleted with its user.
    """
    none = ~select(Membership.user_id).where(Membership.user_id == User.id).exists()
    locked = select(User.id).where(none, User.created_at < created_before).with_for_update(skip_locked=True)
    ids = session.scalars(locked).all()
    if not ids:
        return 0
    return len(session.scalars(delete(User).where(User.id.in_(ids), none).returning(User.id)).all())


def tenants_of(session: Session, user_id: UUID) -> list[tuple[Tenant, Membership]]:
    """Return the tenants of a user, by name, with the memberships in them, in a system session."""
    rows = session.execute(
        select(Tenant, Membership)
        .join(Membership, Membership.tenant_id == Tenant.id)
        .where(Membership.user_id == user_id)
        .order_by(Tenant.name, Tenant.id)
    )
    return [(tenant, member) for tenant, member in rows]
