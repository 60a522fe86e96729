"""Requests to URLs that a tenant chose.

A host is resolved once, refused if its network is not allowed, and connected to at the resolved address. Redirects are
not followed, a response is read up to a limit of bytes, and the whole exchange ends at a time limit.
"""

import http.client
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from sinemora.kit import host_names, special_networks
from sinemora.kit.deadline import Deadline
from sinemora.kit.special_networks import Network

POST_S = 10.0
"""Time limit of `post`, from the look-up of the host to the end of the response, s."""
_SILENCE_S = 10.0
_LIMIT_BYTES = 64 << 10


class EgressError(Exception):
    """Request that failed; the message is for the user who chose the URL."""


class EgressRefused(EgressError):
    """Request to a network that the operator does not allow. A retry does not help."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Response: status, beginning of the body, and the seconds of `Retry-After` if it has any.

    `complete`: False if the time limit passed before the end of the body, or its first bytes up to the limit.
    """

    status: int
    body: bytes
    retry_after_s: int | None
    complete: bool = True


def post(url: str, body: bytes, headers: Mapping[str, str], networks: Sequence[Network]) -> HttpResponse:
    """POST to a URL within `POST_S`; return the status with at most 64 KiB of the body, which may be incomplete.

    Raises like `request`.
    """
    return _exchange("POST", url, networks, headers, body, _LIMIT_BYTES, POST_S)


def request(
    method: str,
    url: str,
    networks: Sequence[Network],
    headers: Mapping[str, str],
    body: bytes | None,
    limit: int,
    limit_s: float,
) -> HttpResponse:
    """Send a request to a URL and read at most `limit` bytes of the response, within `limit_s` seconds in all.

    `networks` are allowed as the public internet is. A server that is silent for 10 s is given up on earlier.
    Raises `EgressError`, `EgressRefused`.
    """
    response = _exchange(method, url, networks, headers, body, limit, limit_s)
    if not response.complete:
        raise EgressError(f"{_server(url)} did not finish its answer within {limit_s:g} s")
    return response


def _exchange(
    method: str,
    url: str,
    networks: Sequence[Network],
    headers: Mapping[str, str],
    body: bytes | None,
    limit: int,
    limit_s: float,
) -> HttpResponse:
    host, port, secure, target = _parts(url)
    headers = _authorization(url) | dict(headers)
    with Deadline(limit_s) as deadline:
        try:
            connection = _connected(deadline, host, port, networks, secure=secure)
            try:
                connection.request(method, target, body=body, headers=dict(headers))
                response = connection.getresponse()
                content = _read(response, limit, deadline)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as error:
            if deadline.passed or isinstance(error, TimeoutError):
                waited = f"within {limit_s:g} s" if deadline.passed else f"for {min(_SILENCE_S, limit_s):g} s"
                raise EgressError(f"{host}:{port} did not answer {waited}") from None
            raise EgressError(f"{host}:{port} cannot be reached: {error}") from None
        after = response.headers.get("Retry-After", "")
        return HttpResponse(response.status, content, int(after) if after.isdigit() else None, not deadline.passed)


def _parts(url: str) -> tuple[str, int, bool, str]:
    """Return host, port, whether it is encrypted, and target of a URL. Raises `EgressRefused`."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise EgressRefused(f"invalid URL: {error}") from None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        host = host_names.ascii_of(parts.hostname or "")
    except UnicodeError as error:
        raise EgressRefused(f"invalid host {parts.hostname}: {error}") from None
    return host, port, parts.scheme == "https", target


def _authorization(url: str) -> dict[str, str]:
    """Return the header for user and password in a URL (RFC 7617, UTF-8); none without a user."""
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _server(url: str) -> str:
    host, port, _, _ = _parts(url)
    return f"{host}:{port}"


def _connected(
    deadline: Deadline, host: str, port: int, networks: Sequence[Network], *, secure: bool
) -> http.client.HTTPConnection:
    """Return a connection to a host whose addresses are all allowed. Raises OSError, `EgressError`, `EgressRefused`."""
    address = resolved(host, port, networks, deadline)
    plain = socket.create_connection((address, port), min(_SILENCE_S, deadline.left_s()))
    try:
        deadline.watch(plain)
        plain.settimeout(_SILENCE_S)
        connection = http.client.HTTPConnection(host, port)
        connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
    except BaseException:
        plain.close()
        raise
    return connection


def _read(response: http.client.HTTPResponse, limit: int, deadline: Deadline) -> bytes:
    """Return the beginning of a body: what has come when the time limit passes."""
    parts: list[bytes] = []
    while limit > 0:
        try:
            part = response.read1(limit)
        except (OSError, http.client.HTTPException):
            if not deadline.passed:
                raise
            break
        if not part:
            break
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def resolved(host: str, port: int, networks: Sequence[Network], deadline: Deadline) -> str:
    """Return an address of a host whose addresses are all allowed.

    Raises `EgressError`, `EgressRefused`; TimeoutError at the deadline.
    """
    try:
        addresses = deadline.addresses(host, port)
    except TimeoutError:
        raise
    except (OSError, UnicodeError) as error:
        raise EgressError(f"unknown host {host}: {getattr(error, 'strerror', None) or error}") from None
    if not all(special_networks.is_allowed(address, networks) for address in addresses):
        # The address is not shown: names of the operator's network would be readable through it.
        raise EgressRefused(
            f"{host} is not on the public internet; use a public address, or ask the operator of this installation to"
            " allow its network"
        )
    return addresses[0]
