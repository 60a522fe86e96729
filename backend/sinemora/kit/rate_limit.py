"""Requests per minute and caller, told in `RateLimit-*` headers; 429 with Retry-After beyond it.

A fixed window counted in Redis. Without Redis nobody is held back: a counter that is away must not close the product.
"""

import time
from contextlib import suppress

from fastapi import Request
from redis import RedisError

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.redis import client

_WINDOW_S = 60


def limit(request: Request, caller: str) -> None:
    """Count one request of `caller` (an id, never a secret) and refuse it when too many came this minute."""
    allowed = settings().rate_limit_per_minute
    now = time.time()
    reset_s = _WINDOW_S - int(now) % _WINDOW_S
    used = count(f"rate:{caller}:{int(now) // _WINDOW_S}", _WINDOW_S)
    if used is None:
        return
    headers = {
        "RateLimit-Limit": str(allowed),
        "RateLimit-Remaining": str(max(0, allowed - used)),
        "RateLimit-Reset": str(reset_s),
    }
    request.state.answer_headers.update(headers)
    if used > allowed:
        raise ProductError(
            "too_many_requests",
            429,
            f"More than {allowed} requests in a minute.",
            headers={"Retry-After": str(reset_s)},
        )


def count(key: str, window_s: int) -> int | None:
    """How often `key` was counted in its window, this time included; None when Redis is away."""
    try:
        with client().pipeline(transaction=True) as pipe:
            pipe.incr(key)
            pipe.expire(key, window_s, nx=True)
            return int(pipe.execute()[0])
    except RedisError:
        return None


def uncount(key: str) -> None:
    """Take one back."""
    with suppress(RedisError):
        client().decr(key)
