"""Secrets that must be readable again (a receiver's key, not a password): encrypted at rest.

AES-128-CBC with HMAC-SHA-256 (Fernet), under a key derived from SINEMORA_SECRET_KEY. Several keys, separated by commas,
let it be changed: the first encrypts, all decrypt.
"""

import base64
import hashlib
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError


def encrypt(secret: dict[str, Any]) -> bytes:
    """Return the secret as bytes for the database. ProductError `secret_key_missing`."""
    return _fernet().encrypt(json.dumps(secret).encode())


def decrypt(sealed: bytes | None) -> dict[str, Any]:
    """Return the secret of `seal`; nothing for None. ProductError `secret_key_missing`, `secret_unreadable`."""
    if sealed is None:
        return {}
    try:
        found: dict[str, Any] = json.loads(_fernet().decrypt(sealed))
    except InvalidToken:
        raise ProductError(
            "secret_unreadable", 409, "This secret was stored under another SINEMORA_SECRET_KEY. Enter it again."
        ) from None
    return found


def _fernet() -> MultiFernet:
    given = settings().secret_key
    keys = [part.strip() for part in given.get_secret_value().split(",") if part.strip()] if given else []
    if not keys:
        raise ProductError(
            "secret_key_missing", 409, "Secrets cannot be stored: the operator has not set SINEMORA_SECRET_KEY."
        )
    return MultiFernet(
        [Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"sinemora vault" + key.encode()).digest())) for key in keys]
    )
