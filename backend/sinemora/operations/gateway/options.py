"""Options of a gateway, checked before it starts."""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

MIB = 1 << 20
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


class GatewayError(Exception):
    """Failure of a gateway to start, with the remedy."""


class Acknowledge(StrEnum):
    """Moment at which a gateway acknowledges a report."""

    STORED = "stored"
    QUEUED = "queued"


@dataclass(frozen=True)
class Tls:
    """PEM files of the server's certificate, with its chain, and of the key."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Options:
    """Options of a gateway. `tls` None is plain HTTP.

    `verify_s` is how long a credential that the backend accepted is accepted without asking it again; `outage_s` is
    how long while the backend does not answer.
    """

    host: str
    port: int
    backend: str
    directory: Path
    acknowledge: Acknowledge = Acknowledge.STORED
    capacity_bytes: int = 1024 * MIB
    verify_s: float = 60.0
    outage_s: float = 24 * 3600.0
    tls: Tls | None = None
    ca_file: Path | None = None


def listen_of(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`; an IPv6 host is in brackets. Raises GatewayError."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise GatewayError(f"--listen {text}: expected HOST:PORT, such as 0.0.0.0:8430 or [::]:8430.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def backend_of(text: str, *, insecure_http: bool) -> str:
    """Return the address of the backend without a slash at its end. Raises GatewayError."""
    expected = GatewayError(f"--backend {text}: expected https://HOST or https://HOST:PORT.")
    try:
        url = urlsplit(text.rstrip("/"))
        host = url.hostname or ""
        is_whole = url.scheme in ("http", "https") and bool(_HOST.fullmatch(host)) and url.port != 0
    except ValueError:  # http://[::1, or a port above 65535
        raise expected from None
    if not is_whole or url.path or url.query or url.fragment or "@" in url.netloc:
        raise expected
    if url.scheme == "http" and not insecure_http and not is_loopback(host):
        raise GatewayError(
            f"--backend {text}: credentials would leave this machine in plain text. Use https://, or --insecure-http on"
            " a network you trust."
        )
    return text.rstrip("/")


def tls_of(host: str, certificate: Path | None, key: Path | None, *, insecure_http: bool) -> Tls | None:
    """Return the files of the server's certificate, None for plain HTTP. Raises GatewayError."""
    if certificate is not None and key is not None:
        for option, file in (("--tls-certificate", certificate), ("--tls-key", key)):
            try:
                file.read_bytes()
            except OSError as error:
                raise GatewayError(f"{option} {file}: {error.strerror}") from error
        return Tls(certificate, key)
    if certificate is not None or key is not None:
        raise GatewayError("--tls-certificate and --tls-key are needed together.")
    if not insecure_http and not is_loopback(host):
        raise GatewayError(
            f"--listen {host}: agents would send credentials in plain text. Give --tls-certificate and --tls-key, or"
            " --insecure-http where a proxy in front adds TLS."
        )
    return None


def is_loopback(host: str) -> bool:
    """Return True for an address, or the name, of this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
