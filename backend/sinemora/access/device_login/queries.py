"""SQL of device logins, in system sessions: a device has no tenant yet."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.signin.models import OneTimeToken, Purpose


def waiting(session: Session, user_code: str, now: datetime) -> OneTimeToken | None:
    """Return the unexpired login with this code that nobody has decided on, locked until the transaction ends."""
    return session.scalars(
        select(OneTimeToken)
        .where(
            OneTimeToken.purpose == Purpose.device_login,
            OneTimeToken.data["user_code"].astext == user_code,
            OneTimeToken.data["state"].astext == "waiting",
            OneTimeToken.expires_at > now,
        )
        .with_for_update()
    ).one_or_none()


def by_device_code(session: Session, digest: bytes) -> OneTimeToken | None:
    """Return the login of a device, expired or not, locked until the transaction ends."""
    return session.scalars(
        select(OneTimeToken)
        .where(OneTimeToken.secret_digest == digest, OneTimeToken.purpose == Purpose.device_login)
        .with_for_update()
    ).one_or_none()
