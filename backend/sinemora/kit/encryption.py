"""Encryption at rest of secrets that are used again, such as the key of a receiver.

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
    """Encrypt a secret for the database. ProductError `secret_key_missing`."""
    return _fernet().encrypt(json.dumps(secret).encode())


def decrypt(encrypted: bytes | None) -> dict[str, Any]:
    """Decrypt the result of `encrypt`; `{}` for None. ProductError `secret_key_missing`, `secret_unreadable`."""
    if encrypted is None:
        return {}
    try:
        secret: dict[str, Any] = json.loads(_fernet().decrypt(encrypted))
    except InvalidToken:
        raise ProductError(
            "secret_unreadable",
            409,
            "Secret unreadable: it was stored with another SINEMORA_SECRET_KEY. Enter it again.",
        ) from None
    return secret


def secret_keys() -> list[str]:
    """Return the keys of SINEMORA_SECRET_KEY, the one in use first. ProductError `secret_key_missing`."""
    setting = settings().secret_key
    keys = [part.strip() for part in setting.get_secret_value().split(",") if part.strip()] if setting else []
    if not keys:
        raise ProductError(
            "secret_key_missing",
            409,
            "Secret key missing: the operator must set SINEMORA_SECRET_KEY before secrets can be stored.",
        )
    return keys


def _fernet() -> MultiFernet:
    return MultiFernet(
        [
            Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"sinemora vault" + key.encode()).digest()))
            for key in secret_keys()
        ]
    )
