"""Relying party of passkeys (WebAuthn Level 3, 4): the host and the origin of this installation."""

import ipaddress
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError

NAME = "Sinemora"
# The library refuses bad credentials with its own errors, and malformed ones also with those of Python.
_REFUSALS = (WebAuthnException, ValueError, TypeError, KeyError, IndexError, AttributeError)


@dataclass(frozen=True)
class RelyingParty:
    """Host and origin that browsers bind passkeys to."""

    id: str
    origin: str

    def creation_options(self, user_handle: bytes, email: str, challenge: str, existing: list[bytes]) -> dict[str, Any]:
        """Return the options with which a browser creates a passkey; `existing` ids are not created again."""
        options = generate_registration_options(
            rp_id=self.id,
            rp_name=NAME,
            user_id=user_handle,
            user_name=email,
            challenge=base64url_to_bytes(challenge),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.PREFERRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=id) for id in existing],
        )
        return dict(json.loads(options_to_json(options)))

    def request_options(self, challenge: str, allowed: list[bytes], *, verify_user: bool) -> dict[str, Any]:
        """Return the options with which a browser proves a passkey; without `allowed` ids the person chooses one."""
        options = generate_authentication_options(
            rp_id=self.id,
            challenge=base64url_to_bytes(challenge),
            allow_credentials=[PublicKeyCredentialDescriptor(id=id) for id in allowed],
            user_verification=UserVerificationRequirement.REQUIRED
            if verify_user
            else UserVerificationRequirement.PREFERRED,
        )
        return dict(json.loads(options_to_json(options)))

    def registered(self, credential: dict[str, Any], challenge: str) -> VerifiedRegistration | None:
        """Return the new public key of a credential; None when it does not verify."""
        try:
            return verify_registration_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self.id,
                expected_origin=self.origin,
            )
        except _REFUSALS:
            return None

    def authenticated(
        self, credential: dict[str, Any], challenge: str, public_key: bytes, sign_count: int, *, verify_user: bool
    ) -> VerifiedAuthentication | None:
        """Return the verified use of a passkey; None for a wrong signature, a copied key or an unverified user."""
        try:
            return verify_authentication_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self.id,
                expected_origin=self.origin,
                credential_public_key=public_key,
                credential_current_sign_count=sign_count,
                require_user_verification=verify_user,
            )
        except _REFUSALS:
            return None


def relying_party() -> RelyingParty:
    """Return the relying party of SINEMORA_PUBLIC_URL. ProductError `passkeys_unavailable` (409) for an IP address.

    A loopback address counts as `localhost`, the only host that browsers accept without TLS.
    """
    parts = urlsplit(settings().public_url)
    host = parts.hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        if not address.is_loopback:
            raise ProductError(
                "passkeys_unavailable",
                409,
                f"Passkeys unavailable: browsers need a host name, and SINEMORA_PUBLIC_URL has the address {host}.",
            )
        host = "localhost"
    port = f":{parts.port}" if parts.port else ""
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


def challenge_of(credential: dict[str, Any]) -> str | None:
    """Return the challenge that a credential claims to answer (base64url); None for a malformed one."""
    try:
        claimed = json.loads(base64url_to_bytes(credential["response"]["clientDataJSON"]))["challenge"]
    except (ValueError, TypeError, KeyError):
        return None
    return claimed if isinstance(claimed, str) else None


def credential_id_of(credential: dict[str, Any]) -> bytes | None:
    """Return the id of a credential; None for a malformed one."""
    try:
        return base64url_to_bytes(credential["rawId"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
