"""An authenticator in software (WebAuthn Level 3, 6): ES256 keys, no attestation."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

USER_PRESENT, USER_VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def text(data: bytes) -> str:
    """Return base64url without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def data(text: str) -> bytes:
    """Return what `text` encodes."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One credential. `verifies` its user, for example by a fingerprint; `origin` is that of the page."""

    origin: str
    verifies: bool = True
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user_handle: bytes = b""
    count: int = 0

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return a new credential."""
        self.user_handle = data(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        attested = bytes(16) + len(self.id).to_bytes(2) + self.id + cbor2.dumps(public)
        state = self._state(options["rp"]["id"], ATTESTED) + attested
        response = {
            "clientDataJSON": text(self._client_data("webauthn.create", options)),
            "attestationObject": text(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": state})),
            "transports": ["internal"],
        }
        return self._credential(response)

    def use(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return a proof that the person has the credential."""
        self.count += 1
        state, client = self._state(options["rpId"], 0), self._client_data("webauthn.get", options)
        signature = self.key.sign(state + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": text(client),
            "authenticatorData": text(state),
            "signature": text(signature),
            "userHandle": text(self.user_handle),
        }
        return self._credential(response)

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        id = text(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}}

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _state(self, rp_id: str, flags: int) -> bytes:
        flags |= USER_PRESENT | (USER_VERIFIED if self.verifies else 0)
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)
