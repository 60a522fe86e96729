"""SQL of API keys. `active_key` and `mark_used` run in a system session, since a key names its tenant."""

from datetime import datetime, timedelta

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from sinemora.access.api_keys.models import ApiKey
from sinemora.access.tenants.models import Tenant

_EXACT = timedelta(minutes=1)


def active_key(session: Session, digest: bytes, now: datetime) -> tuple[ApiKey, Tenant] | None:
    """Return the API key with this digest, unless it has expired, and its tenant."""
    previous = and_(ApiKey.previous_digest == digest, ApiKey.previous_expires_at > now)
    return session.execute(
        select(ApiKey, Tenant)
        .join(Tenant, Tenant.id == ApiKey.tenant_id)
        .where(or_(ApiKey.secret_digest == digest, previous), ApiKey.expires_at > now)
    ).one_or_none()


def mark_used(session: Session, key: ApiKey, address: str, now: datetime) -> None:
    """Store the time and address of a use; once a minute, so that programs do not write with each request."""
    if key.last_used_at is not None and key.last_used_at >= now - _EXACT:
        return
    session.execute(
        update(ApiKey)
        .where(ApiKey.id == key.id, or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < now - _EXACT))
        .values(last_used_at=now, last_used_from=address)
    )
