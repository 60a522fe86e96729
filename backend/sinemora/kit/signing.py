"""Signatures of documents that third parties verify: Ed25519 (RFC 8032) over canonical JSON (RFC 8785).

The key of an installation is derived from SINEMORA_SECRET_KEY. The first of several keys signs; the public keys of all
are published, so that documents signed before a change of the key still verify.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sinemora.kit.encryption import secret_keys

ALGORITHM = "Ed25519"
# Numbers beyond this differ between readers of JSON (RFC 8785, 3.2.2.3).
_INT_MAX = 2**53 - 1
# About 0.1 s and 32 MiB: the public key is no quick check of a guessed secret.
_COST, _BLOCK, _MEMORY = 2**15, 8, 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature, and the id of its key: the first 16 hexadecimal digits of the SHA-256 of the public key."""

    key_id: str
    value: str


def canonical(value: Any) -> bytes:
    """Return JSON as RFC 8785 has it: sorted keys, no spaces, UTF-8. ValueError for numbers that are not exact.

    Fractions are refused, because their text depends on the writer, and so are keys that are not ASCII.
    """
    _check(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sign(document: Any) -> Signature:
    """Sign a JSON document. ProductError `secret_key_missing`; ValueError as `canonical`."""
    return sign_with_each(document)[0]


def sign_with_each(document: Any) -> list[Signature]:
    """Sign a JSON document with every key of this installation, the one in use first.

    A reader that trusts one of them can verify it. ProductError `secret_key_missing`; ValueError as `canonical`.
    """
    content = canonical(document)
    signatures = []
    for private in map(_private_key, secret_keys()):
        value = base64.b64encode(private.sign(content)).decode()
        signatures.append(Signature(key_id(_raw(private.public_key())), value))
    return signatures


def public_keys() -> list[bytes]:
    """Return the public keys of this installation, 32 bytes each, the one in use first.

    ProductError `secret_key_missing`.
    """
    return [_raw(_private_key(secret).public_key()) for secret in secret_keys()]


def key_id(public_key: bytes) -> str:
    return hashlib.sha256(public_key).hexdigest()[:16]


def verifies(document: Any, signature: str, public_key: bytes) -> bool:
    """Return whether a signature (base64) of a JSON document is that of a public key (32 bytes)."""
    try:
        content = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(public_key).verify(content, canonical(document))
    except (InvalidSignature, ValueError):
        return False
    return True


def _check(value: Any) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str) or not name.isascii():
                raise ValueError(f"Invalid key: {name!r} is not ASCII text.")
            _check(item)
    elif isinstance(value, list):
        for item in value:
            _check(item)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) > _INT_MAX):
        raise ValueError(f"Invalid number: {value} has no canonical form here.")


@lru_cache(maxsize=8)
def _private_key(secret: str) -> Ed25519PrivateKey:
    seed = hashlib.scrypt(secret.encode(), salt=b"sinemora evidence", n=_COST, r=_BLOCK, p=1, maxmem=_MEMORY, dklen=32)
    return Ed25519PrivateKey.from_private_bytes(seed)


def _raw(public_key: Ed25519PublicKey) -> bytes:
    return public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
