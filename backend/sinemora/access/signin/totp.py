"""Codes of an authenticator app: TOTP (RFC 6238) with HMAC-SHA-1, 6 digits and steps of 30 s, as all apps expect."""

import base64
import io
import secrets
from urllib.parse import quote, urlencode

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

STEP_S = 30
DIGITS = 6
_SECRET_BYTES = 20  # RFC 4226, section 4: at least 128 bits, 160 recommended
_STEPS_AROUND = 1  # RFC 6238, section 5.2: clocks differ, and a code takes time to type


def new_secret() -> bytes:
    """Return a random secret of 160 bits."""
    return secrets.token_bytes(_SECRET_BYTES)


def in_base32(secret: bytes) -> str:
    """Return the secret as apps take it by hand."""
    return base64.b32encode(secret).decode().rstrip("=")


def code_at(secret: bytes, step: int) -> str:
    return HOTP(secret, DIGITS, SHA1(), enforce_key_length=False).generate(step).decode()


def accepted_step(secret: bytes, code: str, at_s: float, after: int | None) -> int | None:
    """Return the time step whose code this is, at the time `at_s` (Unix); None for a wrong or used code.

    `after` is the step of the newest accepted code: this one and earlier ones are used.
    """
    now = int(at_s) // STEP_S
    for step in range(now - _STEPS_AROUND, now + _STEPS_AROUND + 1):
        if secrets.compare_digest(code_at(secret, step).encode(), code.encode()) and (after is None or step > after):
            return step
    return None


def uri(secret: bytes, account: str, issuer: str) -> str:
    """Return the `otpauth:` URI that apps read from a QR code."""
    label = f"{quote(issuer)}:{quote(account)}"
    return f"otpauth://totp/{label}?" + urlencode({"secret": in_base32(secret), "issuer": issuer}, quote_via=quote)


def qr_code(text: str) -> str:
    """Return a QR code (ISO/IEC 18004) as an SVG element, dark on white whatever the theme."""
    code = segno.make(text, error="m", micro=False)
    buffer = io.BytesIO()
    code.save(buffer, kind="svg", scale=4, border=4, dark="#000", light="#fff", xmldecl=False, nl=False)
    return buffer.getvalue().decode()
