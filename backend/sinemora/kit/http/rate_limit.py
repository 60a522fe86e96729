"""Rate limit of requests per minute and caller, reported in `RateLimit-*` headers; 429 with Retry-After beyond it.

A fixed window is counted in Redis. Without Redis no caller is limited: requests must not depend on a counter.
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
    """Count a request of `caller` (an id, not a secret). ProductError `too_many_requests` (429) beyond the limit."""
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
    request.state.response_headers.update(headers)
    if used > allowed:
        raise ProductError(
            "too_many_requests",
            429,
            f"Too many requests: more than {allowed} in a minute.",
            headers={"Retry-After": str(reset_s)},
        )


def count(key: str, window_s: int) -> int | None:
    """Count `key` once and return its number in the window; None when Redis is unavailable."""
    try:
        with client().pipeline(transaction=True) as pipe:
            pipe.incr(key)
            pipe.expire(key, window_s, nx=True)
            return int(pipe.execute()[0])
    except RedisError:
        return None


def uncount(key: str) -> None:
    """Undo one count of `key`."""
    with suppress(RedisError):
        client().decr(key)
