"""Rate limit of requests per minute and caller, reported in `RateLimit-*` headers; 429 with Retry-After beyond it.

Requests without valid credentials are limited by address.

A fixed window is counted in Redis. Without Redis no caller is limited: requests must not depend on a counter.
"""

import ipaddress
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


def limit_address(request: Request) -> None:
    """Count a request without valid credentials by its address. ProductError `too_many_requests` (429)."""
    allowed = settings().anonymous_limit_per_minute
    now = int(time.time())
    network = network_of(request.client.host if request.client else "")
    used = count(f"rate:address:{network}:{now // _WINDOW_S}", _WINDOW_S)
    if used is not None and used > allowed:
        raise ProductError(
            "too_many_requests",
            429,
            f"Too many requests without valid credentials: more than {allowed} in a minute from {network}.",
            headers={"Retry-After": str(_WINDOW_S - now % _WINDOW_S)},
        )


def network_of(address: str) -> str:
    """Return the network that one customer of a provider has: an IPv4 address, or the /64 of an IPv6 address.

    An IPv6 customer chooses among 2^64 addresses (RFC 4291 §2.5.4), so a limit of single ones would be none.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network((ip, 64), strict=False))


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
