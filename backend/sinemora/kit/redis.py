"""Redis or Valkey: counters, pub/sub, broker. It stores nothing durable, and the API works without it."""

from functools import lru_cache

import redis
import redis.asyncio

from sinemora.kit.config import settings

# Short, so that an unavailable server delays requests little; callers continue without Redis on RedisError.
_TIMEOUT_S = 0.5


@lru_cache
def client() -> redis.Redis:
    """Return the blocking client of this process; it returns text."""
    return redis.Redis.from_url(
        settings().redis_url,
        decode_responses=True,
        socket_timeout=_TIMEOUT_S,
        socket_connect_timeout=_TIMEOUT_S,
        retry=None,
    )


def async_client() -> redis.asyncio.Redis:
    """Return a client for the running event loop; it returns bytes. The caller closes it."""
    return redis.asyncio.Redis.from_url(settings().redis_url, socket_connect_timeout=_TIMEOUT_S)


def broker_url(url: str) -> str:
    """Return the URL for Celery's transport: `unix:///path?db=1` becomes `redis+socket:///path?virtual_host=1`."""
    if not url.startswith("unix://"):
        return url
    return "redis+socket://" + url.removeprefix("unix://").replace("db=", "virtual_host=")
