"""Requests to addresses that a tenant chose: resolved once, refused where the operator does not let them lead,
connected to as resolved; no redirect is followed, and an answer is read up to a limit.
"""

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_LIMIT_S = 10.0
_LIMIT_BYTES = 64 << 10


class EgressError(Exception):
    """It could not be asked; says why, for the one who chose the address."""


class EgressRefused(EgressError):
    """The address leads where the operator does not let it: trying again changes nothing."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back: status, the beginning of the body, and after how many seconds to come back, if it says so."""

    status: int
    body: bytes
    retry_after_s: int | None


def post(url: str, body: bytes, headers: Mapping[str, str], networks: str) -> HttpResponse:
    """POST to a URL; 64 KiB of the answer are read. Raises like `request`."""
    return request("POST", url, networks, headers, body, _LIMIT_BYTES)


def request(
    method: str, url: str, networks: str, headers: Mapping[str, str], body: bytes | None, limit: int
) -> HttpResponse:
    """Ask a URL; at most `limit` bytes of the answer are read.

    `networks`: `public`, `private` or `local`. Raises `EgressError`, `EgressRefused`.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise EgressRefused("the port of the address is no number") from None
    address = resolved(host, port, networks)
    try:
        with socket.create_connection((address, port), _LIMIT_S) as plain:
            plain.settimeout(_LIMIT_S)
            secure = parts.scheme == "https"
            connection = http.client.HTTPConnection(host, port)
            connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
            try:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request(method, path, body=body, headers=dict(headers))
                answer = connection.getresponse()
                said = answer.read(limit)
            finally:
                connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise EgressError(f"{host}:{port} cannot be reached: {error}") from None
    after = answer.headers.get("Retry-After", "")
    return HttpResponse(answer.status, said, int(after) if after.isdigit() else None)


def resolved(host: str, port: int, networks: str) -> str:
    """Return the address of a host, all of whose addresses may be asked. Raises `EgressError`, `EgressRefused`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise EgressError(f"{host} is not known: {error.strerror}") from None
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        if not allowed(address, networks):
            raise EgressRefused(f"{host} leads to {address}; only {networks} networks are allowed")
    return addresses[0]


def allowed(address: str, networks: str) -> bool:
    """Return whether an IP address may be asked. Link-local ones, where clouds keep their metadata, never may."""
    ip = ipaddress.ip_address(address)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback:
        return networks == "local"
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
        return False
    return ip.is_global or networks in ("private", "local")
