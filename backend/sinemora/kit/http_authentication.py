"""Servers at URLs that a tenant chose: the form of the URL, and the authentication there."""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from sinemora.kit.schemas import Write


def check_http(text: str) -> None:
    """Check that a text is the URL of a server. ValueError."""
    parts = urlsplit(text)  # ValueError for http://[::1 too, which pydantic shows
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("should look like https://prometheus.example:9090")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must have neither user, query nor fragment")


def _http(text: str) -> str:
    check_http(text)
    return text.rstrip("/")


def _credential(text: str) -> str:
    # They become an HTTP header (RFC 9110, 5.5).
    if not text.isascii() or not text.isprintable():
        raise ValueError("must be printable ASCII")
    return text


def _header(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,100}", name) or name.lower() in _OURS or name.lower().startswith("content-"):
        raise ValueError("must be the name of a header such as X-Scope-OrgID that the backend does not set itself")
    return name


_OURS = {"accept", "connection", "host", "transfer-encoding", "upgrade"}
Credential = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_credential)]
Username = Annotated[str, Field(min_length=1, max_length=200, pattern="^[^:]+$"), AfterValidator(_credential)]
HeaderName = Annotated[str, AfterValidator(_header)]
Scheme = Literal["bearer", "basic", "header"]
Url = Annotated[str, Field(max_length=500), AfterValidator(_http)]


class BearerAuthentication(Write):
    """`Authorization: Bearer …` (RFC 6750)."""

    scheme: Literal["bearer"]
    token: Credential


class BasicAuthentication(Write):
    """User and password (RFC 7617)."""

    scheme: Literal["basic"]
    username: Username
    password: Credential


class HeaderAuthentication(Write):
    """Custom header."""

    scheme: Literal["header"]
    name: HeaderName
    value: Credential


Authentication = Annotated[
    BearerAuthentication | BasicAuthentication | HeaderAuthentication,
    Field(discriminator="scheme", description="Authentication at the server; stored encrypted, never shown"),
]


def headers_of(authentication: Mapping[str, str]) -> dict[str, str]:
    """Return the authentication header: bearer (RFC 6750), basic (RFC 7617, UTF-8), custom, or none."""
    match authentication.get("scheme"):
        case "bearer":
            return {"Authorization": f"Bearer {authentication['token']}"}
        case "basic":
            pair = f"{authentication['username']}:{authentication['password']}"
            return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        case "header":
            return {authentication["name"]: authentication["value"]}
    return {}
