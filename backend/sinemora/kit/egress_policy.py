"""Requests to URLs that a tenant chose.

A host is resolved once, refused if its network is not allowed, and connected to at the resolved address. Redirects are
not followed, and a response is read up to a limit.
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
    """Request that failed; the message is for the user who chose the URL."""


class EgressRefused(EgressError):
    """Request to a network that the operator does not allow. A retry does not help."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Response: status, beginning of the body, and the seconds of `Retry-After` if it has any."""

    status: int
    body: bytes
    retry_after_s: int | None


def post(url: str, body: bytes, headers: Mapping[str, str], networks: str) -> HttpResponse:
    """POST to a URL and read at most 64 KiB of the response. Raises like `request`."""
    return request("POST", url, networks, headers, body, _LIMIT_BYTES)


def request(
    method: str, url: str, networks: str, headers: Mapping[str, str], body: bytes | None, limit: int
) -> HttpResponse:
    """Send a request to a URL and read at most `limit` bytes of the response.

    `networks`: `public`, `private` or `local`. Raises `EgressError`, `EgressRefused`.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise EgressRefused("invalid URL: the port is not a number") from None
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
                response = connection.getresponse()
                content = response.read(limit)
            finally:
                connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise EgressError(f"{host}:{port} cannot be reached: {error}") from None
    after = response.headers.get("Retry-After", "")
    return HttpResponse(response.status, content, int(after) if after.isdigit() else None)


def resolved(host: str, port: int, networks: str) -> str:
    """Return an address of a host whose addresses are all allowed. Raises `EgressError`, `EgressRefused`."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise EgressError(f"unknown host {host}: {error.strerror}") from None
    addresses = [str(info[4][0]) for info in infos]
    for address in addresses:
        if not allowed(address, networks):
            raise EgressRefused(f"{host} resolves to {address}; only {networks} networks are allowed")
    return addresses[0]


def allowed(address: str, networks: str) -> bool:
    """Return whether requests to an IP address are allowed. Link-local addresses (metadata of clouds) never are."""
    ip = ipaddress.ip_address(address)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback:
        return networks == "local"
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
        return False
    return ip.is_global or networks in ("private", "local")
