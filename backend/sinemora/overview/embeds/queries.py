"""SQL of embed links. `active_link` and `mark_used` run in a system session, since a token names its tenant."""

from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import Tenant
from sinemora.overview.embeds.models import EmbedLink

_EXACT = timedelta(minutes=1)


def active_link(session: Session, digest: bytes, now: datetime) -> tuple[EmbedLink, Tenant] | None:
    """Return the link with this digest, unless it has expired, and its tenant."""
    return session.execute(
        select(EmbedLink, Tenant)
        .join(Tenant, Tenant.id == EmbedLink.tenant_id)
        .where(EmbedLink.secret_digest == digest, EmbedLink.expires_at > now)
    ).one_or_none()


def mark_used(session: Session, link: EmbedLink, now: datetime) -> None:
    """Store the time of a use; once a minute, so that readers do not write with each request."""
    if link.last_used_at is not None and link.last_used_at >= now - _EXACT:
        return
    session.execute(
        update(EmbedLink)
        .where(EmbedLink.id == link.id, or_(EmbedLink.last_used_at.is_(None), EmbedLink.last_used_at < now - _EXACT))
        .values(last_used_at=now)
    )


def count(session: Session) -> int:
    """Return the number of links of the tenant."""
    return session.scalar(select(func.count()).select_from(EmbedLink)) or 0
