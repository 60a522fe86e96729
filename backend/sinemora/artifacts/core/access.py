"""Access between agents: which agent may fetch blocks from which other, without a secret on the wire.

The backend gives each agent a serving key, and each agent that may fetch from it a token: an HMAC of the serving key
over the fetching VM and an expiry. The fetching agent proves that it has the token by an HMAC over a nonce of the
server, which computes the token again. Only peers that the backend named can fetch, and only until the expiry.
"""

import hashlib
import hmac
from uuid import UUID

TOKEN_S = 900
"""Validity of a token, s."""


def serving_key(secret: str, agent_id: UUID) -> bytes:
    """Return the serving key of an agent, 32 bytes, from the secret of the installation."""
    return hmac.digest(
        hashlib.sha256(b"sinemora artifact peers" + secret.encode()).digest(), agent_id.bytes, hashlib.sha256
    )


def token(key: bytes, vm_key: int, expires_s: int) -> bytes:
    """Return the token with which a VM may fetch from the agent of a serving key until `expires_s` (Unix s)."""
    return hmac.digest(key, vm_key.to_bytes(4, "little") + expires_s.to_bytes(8, "little"), hashlib.sha256)


def proof(token: bytes, nonce: bytes) -> bytes:
    """Return the proof that the holder of a token sends for a nonce."""
    return hmac.digest(token, nonce, hashlib.sha256)
