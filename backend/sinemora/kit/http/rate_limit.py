"""Rate limit of requests in a minute, reported in `RateLimit-*` headers; 429 with Retry-After beyond it.

Requests are limited by caller and by tenant, so that many keys of one tenant are not many limits. Requests without
valid credentials are limited by address.

The minute slides: of the last fixed minute, the share that is less than a minute ago counts. Redis counts for all
processes; without Redis each process counts its own requests.
"""

import ipaddress
import threading
import time
from contextlib import suppress
from math import ceil

from fastapi import Request
from redis import RedisError

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError, too_many
from sinemora.kit.redis import client

_WINDOW_S = 60


def limit(request: Request, caller: str, tenant_key: int) -> None:
    """Count a request of `caller` (an id, not a secret). ProductError `too_many_requests` (429) beyond a limit."""
    now = time.time()
    allowed = settings().rate_limit_per_minute
    used = _used(f"rate:{caller}", now)
    remaining = max(0, int(allowed - used))
    request.state.response_headers.update(
        {
            "RateLimit-Limit": str(allowed),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": str(_WINDOW_S - int(now) % _WINDOW_S),
        }
    )
    if used > allowed:
        raise _too_many(f"more than {allowed} in a minute", used, allowed)
    of_tenant = settings().tenant_limit_per_minute
    used = _used(f"rate:tenant:{tenant_key}", now)
    if used > of_tenant:
        raise _too_many(f"more than {of_tenant} in a minute by all callers of the tenant", used, of_tenant)


def limit_address(request: Request) -> None:
    """Count a request without valid credentials by its address. ProductError `too_many_requests` (429)."""
    allowed = settings().anonymous_limit_per_minute
    network = network_of(request.client.host if request.client else "")
    used = _used(f"rate:address:{network}", time.time())
    if used > allowed:
        raise _too_many(f"more than {allowed} in a minute without valid credentials from {network}", used, allowed)


def _too_many(reason: str, used: float, allowed: int) -> ProductError:
    # The last minute leaves at an even rate, which takes no longer than a minute.
    wait_s = min(_WINDOW_S, ceil(_WINDOW_S * (used - allowed) / used))
    return too_many("too_many_requests", f"Too many requests: {reason}.", max(1, wait_s))


def _used(key: str, now: float) -> float:
    """Count a request and return the number of requests in the minute before `now`."""
    minute, past_s = divmod(now, _WINDOW_S)
    present, before = f"{key}:{int(minute)}", f"{key}:{int(minute) - 1}"
    try:
        with client().pipeline(transaction=True) as pipe:
            pipe.incr(present)
            pipe.expire(present, 2 * _WINDOW_S, nx=True)
            pipe.get(before)
            counted, _, earlier = pipe.execute()
    except RedisError:
        counted, earlier = _local.count(present, 2 * _WINDOW_S), _local.value(before)
    return int(counted) + int(earlier or 0) * (1 - past_s / _WINDOW_S)


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


def count(key: str, window_s: int) -> int:
    """Count `key` once and return its number in the window, which begins with its first count."""
    try:
        with client().pipeline(transaction=True) as pipe:
            pipe.incr(key)
            pipe.expire(key, window_s, nx=True)
            return int(pipe.execute()[0])
    except RedisError:
        return _local.count(key, window_s)


def uncount(key: str) -> None:
    """Undo one count of `key`."""
    _local.undo(key)
    with suppress(RedisError):
        client().decr(key)


class LocalCounts:
    """Counts of this process, for the time without Redis; at most `keys_max` keys."""

    def __init__(self, keys_max: int = 100_000) -> None:
        self.keys_max = keys_max
        self._counts: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def count(self, key: str, window_s: int) -> int:
        """Count `key` once and return its number in the window."""
        with self._lock:
            now = time.monotonic()
            ends_at, number = self._counts.get(key, (0.0, 0))
            if ends_at <= now:
                ends_at, number = now + window_s, 0
                self._counts.pop(key, None)  # the newest are last
                if len(self._counts) >= self.keys_max:
                    self._make_room(now)
            self._counts[key] = (ends_at, number + 1)
            return number + 1

    def value(self, key: str) -> int:
        """Return the number of `key` in the window."""
        with self._lock:
            ends_at, number = self._counts.get(key, (0.0, 0))
            return number if ends_at > time.monotonic() else 0

    def undo(self, key: str) -> None:
        """Undo one count of `key`."""
        with self._lock:
            if key in self._counts:
                ends_at, number = self._counts[key]
                self._counts[key] = (ends_at, max(0, number - 1))

    def _make_room(self, now: float) -> None:
        """Forget ended windows, and the oldest tenth if none has ended."""
        self._counts = {key: one for key, one in self._counts.items() if one[0] > now}
        if len(self._counts) >= self.keys_max:
            for key in list(self._counts)[: self.keys_max // 10 + 1]:
                del self._counts[key]


_local = LocalCounts()
