"""Secrets: made here, shown once, kept only as digests."""

import hashlib
import hmac
import secrets
import threading
from base64 import urlsafe_b64encode

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# OWASP's second recommended setting: 19 MiB, two passes. The gate bounds memory when many sign in at once.
_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
_gate = threading.BoundedSemaphore(4)
_nobody = _hasher.hash(secrets.token_urlsafe(16))


def new_secret(prefix: str) -> str:
    """Return a token of 256 random bits, e.g. `sm_…`; the prefix lets people and scanners recognise it."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """SHA-256 of a random token. Tokens have full entropy, so a slow hash would protect nothing."""
    return hashlib.sha256(secret.encode()).digest()


def shown_prefix(secret: str) -> str:
    """Return the first characters of a token, enough to tell tokens apart in a list and too few to help a thief."""
    return secret[:10]


def csrf_token(session_secret: str) -> str:
    """Return the token a page sends back with unsafe requests; derived from the session, never stored."""
    mac = hmac.digest(session_secret.encode(), b"sinemora csrf", "sha256")
    return urlsafe_b64encode(mac).decode().rstrip("=")


def equal(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def hash_password(password: str) -> str:
    """argon2id, with its parameters inside the text."""
    with _gate:
        return _hasher.hash(password)


def check_password(password_hash: str | None, password: str) -> bool:
    """Return whether the password fits. `None` (no such user) takes as long and never fits."""
    with _gate:
        try:
            return _hasher.verify(password_hash or _nobody, password) and password_hash is not None
        except (VerificationError, InvalidHashError):
            return False
