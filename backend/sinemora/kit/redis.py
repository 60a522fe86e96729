"""Redis or Valkey: counters, pub/sub, broker. Nothing durable lives there, and the product answers without it."""

from functools import lru_cache

import redis
import redis.asyncio

from sinemora.kit.config import settings

# A server that is away must cost a request little: callers treat RedisError as "do without".
_PATIENCE_S = 0.5


@lru_cache
def client() -> redis.Redis:
    """Return the blocking client of this process, answering text."""
    return redis.Redis.from_url(
        settings().redis_url,
        decode_responses=True,
        socket_timeout=_PATIENCE_S,
        socket_connect_timeout=_PATIENCE_S,
        retry=None,
    )


def async_client() -> redis.asyncio.Redis:
    """Return a client for the running event loop, answering bytes; the caller closes it."""
    return redis.asyncio.Redis.from_url(settings().redis_url, socket_connect_timeout=_PATIENCE_S)


def broker_url(url: str) -> str:
    """Return the same server as Celery's transport names it: `unix:///path?db=1` is
    `redis+socket:///path?virtual_host=1`.
    """
    if not url.startswith("unix://"):
        return url
    return "redis+socket://" + url.removeprefix("unix://").replace("db=", "virtual_host=")
