"""Headers and body of a request as they arrived, for paths where Starlette's objects cost more than the work."""

from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope


def header_of(scope: Scope, name: bytes) -> bytes:
    """Return the first header of a lower-case `name`; empty without one."""
    for key, value in scope["headers"]:
        if key == name:
            found: bytes = value
            return found
    return b""


def text_of(scope: Scope, name: bytes) -> str:
    """Return the same as text, without the spaces around it."""
    return header_of(scope, name).decode("latin-1").strip()


def bearer_of(scope: Scope) -> str:
    """Return the credential of `Authorization: Bearer` (RFC 6750, section 2.1); empty without one."""
    scheme, credential = get_authorization_scheme_param(text_of(scope, b"authorization"))
    return credential if scheme.lower() == "bearer" else ""


async def body_of(receive: Receive) -> bytes:
    """Return the whole body. ClientDisconnect when the client leaves before its end."""
    pieces: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
