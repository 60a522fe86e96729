"""SQL of sign-in, all in system sessions."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from sinemora.access.signin.models import Identity, OneTimeToken, Passkey, Purpose, RecoveryCode, TotpSecret
from sinemora.access.tenants.models import BrowserSession, Membership, Method, Tenant


def token(session: Session, digest: bytes, purpose: Purpose, now: datetime) -> OneTimeToken | None:
    """Return the unexpired token with this digest and purpose, locked until the transaction ends."""
    return session.scalars(
        select(OneTimeToken)
        .where(OneTimeToken.secret_digest == digest, OneTimeToken.purpose == purpose, OneTimeToken.expires_at > now)
        .with_for_update()
    ).one_or_none()


def tokens_since(session: Session, user_id: UUID, purpose: Purpose, since: datetime) -> int:
    """Return the number of tokens of a user that were created after `since`."""
    return (
        session.scalar(
            select(func.count())
            .select_from(OneTimeToken)
            .where(OneTimeToken.user_id == user_id, OneTimeToken.purpose == purpose, OneTimeToken.created_at > since)
        )
        or 0
    )


def delete_tokens(session: Session, user_id: UUID, purpose: Purpose) -> None:
    session.execute(delete(OneTimeToken).where(OneTimeToken.user_id == user_id, OneTimeToken.purpose == purpose))


def delete_expired_tokens(session: Session, before: datetime) -> None:
    session.execute(delete(OneTimeToken).where(OneTimeToken.expires_at < before))


def sessions(user_id: UUID, now: datetime) -> Select[BrowserSession]:
    """Return the statement of a user's unexpired browser sessions, in all tenants."""
    return select(BrowserSession).where(BrowserSession.user_id == user_id, BrowserSession.expires_at > now)


def oldest_sessions(session: Session, user_id: UUID, tenant_id: UUID | None, kept: int) -> Sequence[BrowserSession]:
    """Return the sessions of a user beyond the `kept` newest: by the identity provider of a tenant, or all others."""
    by_provider = BrowserSession.method == Method.identity_provider
    counted = by_provider & (BrowserSession.tenant_id == tenant_id) if tenant_id else ~by_provider
    return session.scalars(
        select(BrowserSession)
        .where(BrowserSession.user_id == user_id, counted)
        .order_by(BrowserSession.created_at.desc(), BrowserSession.id)
        .offset(kept)
    ).all()


def end_sessions(session: Session, user_id: UUID, kept: UUID | None = None, tenant_id: UUID | None = None) -> int:
    """Delete the browser sessions of a user in all tenants, or in one, except `kept`. Return their number."""
    statement = delete(BrowserSession).where(BrowserSession.user_id == user_id)
    if tenant_id is not None:
        statement = statement.where(BrowserSession.tenant_id == tenant_id)
    if kept is not None:
        statement = statement.where(BrowserSession.id != kept)
    return len(session.scalars(statement.returning(BrowserSession.id)).all())


def tenants(session: Session, user_id: UUID) -> Sequence[Tenant]:
    return session.scalars(
        select(Tenant).join(Membership, Membership.tenant_id == Tenant.id).where(Membership.user_id == user_id)
    ).all()


def confirmed_totp(session: Session, user_id: UUID) -> TotpSecret | None:
    """Return the confirmed secret of a user's authenticator app, locked until the transaction ends."""
    return session.scalars(
        select(TotpSecret).where(TotpSecret.user_id == user_id, TotpSecret.confirmed_at.is_not(None)).with_for_update()
    ).one_or_none()


def has_identity(session: Session, user_id: UUID) -> bool:
    """Return whether a user has signed in at the provider of the installation."""
    return session.scalar(select(Identity.subject).where(Identity.user_id == user_id).limit(1)) is not None


def passkeys(session: Session, user_id: UUID) -> Sequence[Passkey]:
    """Return the passkeys of a user, oldest first."""
    return session.scalars(
        select(Passkey).where(Passkey.user_id == user_id).order_by(Passkey.created_at, Passkey.id)
    ).all()


def passkey(session: Session, credential_id: bytes) -> Passkey | None:
    """Return the passkey with this credential id, locked until the transaction ends."""
    return session.scalars(
        select(Passkey).where(Passkey.credential_id == credential_id).with_for_update()
    ).one_or_none()


def unused_code(session: Session, user_id: UUID, digest: bytes) -> RecoveryCode | None:
    """Return an unused recovery code, locked until the transaction ends."""
    return session.scalars(
        select(RecoveryCode)
        .where(RecoveryCode.user_id == user_id, RecoveryCode.secret_digest == digest, RecoveryCode.used_at.is_(None))
        .with_for_update()
    ).one_or_none()


def unused_codes(session: Session, user_id: UUID) -> int:
    """Return the number of unused recovery codes of a user."""
    return (
        session.scalar(
            select(func.count())
            .select_from(RecoveryCode)
            .where(RecoveryCode.user_id == user_id, RecoveryCode.used_at.is_(None))
        )
        or 0
    )


def delete_codes(session: Session, user_id: UUID) -> None:
    """Delete all recovery codes of a user."""
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
