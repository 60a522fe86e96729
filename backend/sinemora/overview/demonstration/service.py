"""Current state of the demonstration, in Redis. It expires unless the demonstration renews it."""

from uuid import UUID

import structlog
from pydantic import ValidationError
from redis import RedisError

from sinemora.kit import redis
from sinemora.kit.mesh_limit import MeshLimit
from sinemora.overview.demonstration.schemas import Demonstration

log = structlog.get_logger(__name__)
_LASTS_S = 20


def publish(tenant_id: UUID, mesh_id: UUID, demonstration: Demonstration) -> None:
    """Set what a tenant's demonstration plays on a mesh, for twenty seconds."""
    try:
        redis.client().set(_key(tenant_id), f"{mesh_id} {demonstration.model_dump_json(by_alias=True)}", ex=_LASTS_S)
    except RedisError as error:
        log.warning("demonstration not published", error=str(error))


def playing(tenant_id: UUID, limit: MeshLimit | None = None) -> Demonstration | None:
    """Return what a tenant's demonstration plays; None without one, or while Redis is unavailable.

    Callers who do not see its mesh see none.
    """
    try:
        text = redis.client().get(_key(tenant_id))
    except RedisError:
        return None
    if text is None:
        return None
    mesh_id, _, content = str(text).partition(" ")
    if limit is not None and mesh_id not in map(str, limit.ids):
        return None
    try:
        return Demonstration.model_validate_json(content)
    except ValidationError:  # of another version
        return None


def _key(tenant_id: UUID) -> str:
    return f"demonstration:{tenant_id}"
