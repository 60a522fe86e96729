"""SQL of tenants. Authentication runs in a system session, the rest in the tenant's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import CursorResult, Select, delete, select, update
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import AuditEntry, BrowserSession, Membership, Tenant, User


def tenant_by_name(session: Session, name: str) -> Tenant | None:
    return session.scalars(select(Tenant).where(Tenant.name == name)).one_or_none()


def user_by_email(session: Session, email: str) -> User | None:
    """Return the user of this address, case-insensitively."""
    return session.scalars(select(User).where(User.email == email.lower())).one_or_none()


def ways_in(session: Session, user_id: UUID) -> Sequence[tuple[Membership, Tenant]]:
    """Return the memberships that a sign-in may open: of the tenant that was opened last first, then the oldest."""
    rows = session.execute(
        select(Membership, Tenant)
        .join(Tenant, Tenant.id == Membership.tenant_id)
        .where(Membership.user_id == user_id)
        .order_by(Membership.opened_at.desc().nulls_last(), Membership.created_at, Membership.tenant_id)
    )
    return [(membership, tenant) for membership, tenant in rows]


def memberships(session: Session, user_id: UUID) -> Sequence[Membership]:
    """Return all memberships of a user, oldest first."""
    return session.scalars(
        select(Membership).where(Membership.user_id == user_id).order_by(Membership.created_at, Membership.tenant_id)
    ).all()


def signed_in(session: Session, digest: bytes, now: datetime) -> tuple[BrowserSession, Membership, Tenant] | None:
    """Return the unexpired browser session with this digest, its membership and its tenant."""
    row = session.execute(
        select(BrowserSession, Membership, Tenant)
        .join(
            Membership,
            (Membership.tenant_id == BrowserSession.tenant_id) & (Membership.user_id == BrowserSession.user_id),
        )
        .join(Tenant, Tenant.id == BrowserSession.tenant_id)
        .where(BrowserSession.secret_digest == digest, BrowserSession.expires_at > now)
    ).one_or_none()
    return row


def mark_used(session: Session, session_id: UUID, now: datetime) -> None:
    """Store when a browser session was last used."""
    session.execute(update(BrowserSession).where(BrowserSession.id == session_id).values(last_used_at=now))


def end_session(session: Session, digest: bytes) -> None:
    """Delete a browser session."""
    session.execute(delete(BrowserSession).where(BrowserSession.secret_digest == digest))


def delete_expired_sessions(session: Session, now: datetime) -> int:
    """Delete expired browser sessions. Return their number."""
    result = session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= now))
    assert isinstance(result, CursorResult)
    return result.rowcount


@dataclass(frozen=True)
class AuditFilter:
    """Selection of audit entries; `action` ends with a dot to match all actions that begin with it."""

    action: str | None = None
    actor_name: str | None = None
    subject_name: str | None = None
    address: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def audit_entries(wanted: AuditFilter) -> Select[AuditEntry]:
    """Return the statement of the audit entries of a selection."""
    action, since, until = wanted.action, wanted.since, wanted.until
    statement = select(AuditEntry)
    for name in ("actor_name", "subject_name", "address"):
        if (value := getattr(wanted, name)) is not None:
            statement = statement.where(getattr(AuditEntry, name) == value)
    if action is not None:
        prefix = AuditEntry.action.startswith(action, autoescape=True)
        statement = statement.where(prefix if action.endswith(".") else AuditEntry.action == action)
    if since is not None:
        statement = statement.where(AuditEntry.created_at >= since)
    if until is not None:
        statement = statement.where(AuditEntry.created_at < until)
    return statement
