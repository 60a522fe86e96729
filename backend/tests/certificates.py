"""A private certificate authority, and a server's certificate that it signed."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.object_storage_server import Certificate


def certificate(
    folder: Path,
    end: timedelta = timedelta(days=1),
    *,
    begin: timedelta = timedelta(days=-9),
    host: str = "127.0.0.1",
    purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> Certificate:
    """Write the certificate of a server at an address or `localhost`, its key, and its authority's into a folder.

    They are valid until `end` from now, that of the server since `begin` from now.
    """
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root, server = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "server"))
    root_id = x509.SubjectKeyIdentifier.from_public_key(root_key.public_key())
    authority = (
        _begun(root, root, root_key.public_key(), timedelta(days=-9), end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(root_id, critical=False)
        .sign(root_key, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [
        x509.DNSName(host) if host == "localhost" else x509.IPAddress(ipaddress.ip_address(host))
    ]
    leaf = (
        _begun(server, root, key.public_key(), begin, end)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(root_id), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    made = Certificate(folder / "chain.pem", folder / "key.pem", folder / "authority.pem")
    made.chain.write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    made.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    made.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))
    return made


def _begun(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, begin: timedelta, end: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begin)
        .not_valid_after(now + end)
    )
