"""One-time tokens: created for a purpose, valid for minutes, redeemed once."""

import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.access.signin.models import OneTimeToken, Purpose
from sinemora.kit.security import digest


def create(
    session: Session, purpose: Purpose, user_id: UUID | None, life: timedelta, now: datetime, **data: Any
) -> str:
    """Store a token of 256 random bits and return it; `data` is JSON."""
    secret = secrets.token_urlsafe(32)
    session.add(
        OneTimeToken(secret_digest=digest(secret), purpose=purpose, user_id=user_id, data=data, expires_at=now + life)
    )
    return secret
