"""Current state of the demonstration, in Redis. It expires unless the demonstration renews it."""

from uuid import UUID

import structlog
from pydantic import ValidationError
from redis import RedisError

from sinemora.demonstration.schemas import Demonstration
from sinemora.kit import redis

log = structlog.get_logger(__name__)
_LASTS_S = 20


def publish(tenant_id: UUID, demonstration: Demonstration) -> None:
    """Set what a tenant's demonstration plays, for twenty seconds."""
    try:
        redis.client().set(_key(tenant_id), demonstration.model_dump_json(by_alias=True), ex=_LASTS_S)
    except RedisError as error:
        log.warning("demonstration not published", error=str(error))


def playing(tenant_id: UUID) -> Demonstration | None:
    """Return what a tenant's demonstration plays; None without one, or while Redis is unavailable."""
    try:
        text = redis.client().get(_key(tenant_id))
    except RedisError:
        return None
    try:
        return None if text is None else Demonstration.model_validate_json(str(text))
    except ValidationError:  # of another version
        return None


def _key(tenant_id: UUID) -> str:
    return f"demonstration:{tenant_id}"
