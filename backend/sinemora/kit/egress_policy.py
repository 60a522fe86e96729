"""Requests to URLs that a tenant chose.

A host is resolved once, refused if its network is not allowed, and connected to at the resolved address. Redirects are
not followed, and a response is read up to a limit.
"""

import http.client
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sinemora.kit import special_networks
from sinemora.kit.special_networks import Network

_LIMIT_S = 10.0
_LIMIT_BYTES = 64 << 10


class EgressError(Exception):
    """Request that failed; the message is for the user who chose the URL."""


class EgressRefused(EgressError):
    """Request to a network that the operator does not allow. A retry does not help."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Response: status, beginning of the body, and the seconds of `Retry-After` if it has any."""

    status: int
    body: bytes
    retry_after_s: int | None


def post(url: str, body: bytes, headers: Mapping[str, str], networks: Sequence[Network]) -> HttpResponse:
    """POST to a URL and read at most 64 KiB of the response. Raises like `request`."""
    return request("POST", url, networks, headers, body, _LIMIT_BYTES)


def request(
    method: str,
    url: str,
    networks: Sequence[Network],
    headers: Mapping[str, str],
    body: bytes | None,
    limit: int,
    *,
    ca_file: Path | None = None,
) -> HttpResponse:
    """Send a request to a URL and read at most `limit` bytes of the response.

    `networks` are allowed as the public internet is; authorities of `ca_file` (PEM) are trusted as the system's are.
    Raises `EgressError`, `EgressRefused`.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise EgressRefused(f"invalid URL: {error}") from None
    host = parts.hostname or ""
    address = resolved(host, port, networks)
    try:
        with socket.create_connection((address, port), _LIMIT_S) as plain:
            plain.settimeout(_LIMIT_S)
            secure = parts.scheme == "https"
            connection = http.client.HTTPConnection(host, port)
            connection.sock = _trusting(ca_file).wrap_socket(plain, server_hostname=host) if secure else plain
            try:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request(method, path, body=body, headers=dict(headers))
                response = connection.getresponse()
                content = response.read(limit)
            finally:
                connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise EgressError(f"{host}:{port} cannot be reached: {error}") from None
    after = response.headers.get("Retry-After", "")
    return HttpResponse(response.status, content, int(after) if after.isdigit() else None)


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Return the TLS context that trusts the authorities of the system and those of a file."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


def resolved(host: str, port: int, networks: Sequence[Network]) -> str:
    """Return an address of a host whose addresses are all allowed. Raises `EgressError`, `EgressRefused`."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise EgressError(f"unknown host {host}: {error.strerror}") from None
    addresses = [str(info[4][0]) for info in infos]
    if not all(special_networks.is_allowed(address, networks) for address in addresses):
        # The address is not shown: names of the operator's network would be readable through it.
        raise EgressRefused(
            f"{host} is not on the public internet; use a public address, or ask the operator of this installation to"
            " allow its network"
        )
    return addresses[0]
