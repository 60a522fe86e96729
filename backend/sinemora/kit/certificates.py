"""Certificates that this installation signs itself. Their readers know them, or their keys, beforehand."""

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

# A reader who knows the key does not look at the time, and must not have to: its clock may be wrong.
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def self_signed(name: str, encoding: Encoding) -> tuple[bytes, bytes]:
    """Return a new self-signed certificate with a common name, and its private key (PKCS #8), both encoded."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begins, ends = _ALWAYS
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    return signed.public_bytes(encoding), key.private_bytes(encoding, PrivateFormat.PKCS8, NoEncryption())
