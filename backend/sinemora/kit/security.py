"""Secrets: generated here, shown once, stored as digests only."""

import hashlib
import hmac
import os
import secrets
import threading
from base64 import urlsafe_b64encode

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# OWASP's second recommended setting: 19 MiB, two passes. The gate bounds memory and processors when many sign in at
# once: one processor is left for other requests.
_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_AT_ONCE = max(2, (os.cpu_count() or 2) - 1)
_gate = threading.BoundedSemaphore(_AT_ONCE)
_turns: RunVar[CapacityLimiter] = RunVar("_turns")
_no_user_hash = _hasher.hash(secrets.token_urlsafe(16))


def new_secret(prefix: str) -> str:
    """Return a token of 256 random bits, e.g. `sm_…`; the prefix lets people and scanners recognise it."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return the SHA-256 of a random token. A slow hash is not needed: tokens have full entropy."""
    return hashlib.sha256(secret.encode()).digest()


def shown_prefix(secret: str) -> str:
    """Return the first characters of a token, enough to distinguish tokens, too few to guess one."""
    return secret[:10]


def csrf_token(session_secret: str) -> str:
    """Return the CSRF token that a page sends with unsafe requests. It is derived from the session, never stored."""
    mac = hmac.digest(session_secret.encode(), b"sinemora csrf", "sha256")
    return urlsafe_b64encode(mac).decode().rstrip("=")


def equal(first: str, second: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(first.encode(), second.encode())


def hash_password(password: str) -> str:
    """Return the argon2id hash of a password; the text contains the parameters."""
    with _gate:
        return _hasher.hash(password)


def check_password(password_hash: str | None, password: str) -> bool:
    """Return whether the password matches. A hash of None (unknown user) takes as long and never matches."""
    with _gate:
        try:
            return _hasher.verify(password_hash or _no_user_hash, password) and password_hash is not None
        except (VerificationError, InvalidHashError):
            return False


async def hash_password_in_turn(password: str) -> str:
    """Return the hash of a password. Callers wait on the event loop, so they take no thread of other requests."""
    return await to_thread.run_sync(hash_password, password, limiter=_limiter())


async def check_password_in_turn(password_hash: str | None, password: str) -> bool:
    """Return `check_password`. Callers wait on the event loop, so they take no thread of other requests."""
    return await to_thread.run_sync(check_password, password_hash, password, limiter=_limiter())


def _limiter() -> CapacityLimiter:
    limiter = _turns.get(None)
    if limiter is None:
        limiter = CapacityLimiter(_AT_ONCE)
        _turns.set(limiter)
    return limiter
