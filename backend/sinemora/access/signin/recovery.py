"""Recovery codes: ten codes of 80 random bits that replace a second factor once each."""

import base64
import hashlib
import secrets
from uuid import UUID

COUNT = 10
_BYTES = 10


def new_codes() -> list[str]:
    """Return ten codes such as `k7tq-2mzd-x4pw-hn3f`."""
    return [_grouped(base64.b32encode(secrets.token_bytes(_BYTES)).decode().lower()) for _ in range(COUNT)]


def digest(user_id: UUID, code: str) -> bytes:
    """Return the digest under which a code is stored. Spaces, dashes and case do not matter."""
    plain = "".join(code.lower().split()).replace("-", "")
    return hashlib.sha256(user_id.bytes + plain.encode()).digest()


def looks_like_one(code: str) -> bool:
    """Return whether a text has the form of a recovery code, unlike the digits of an app."""
    return len("".join(code.split()).replace("-", "")) == _BYTES * 8 // 5


def _grouped(code: str) -> str:
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))
