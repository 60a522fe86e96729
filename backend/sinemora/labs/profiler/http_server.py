"""A small HTTP server for the recipe `http`: 200 bytes for every request."""

from collections.abc import Awaitable, Callable
from typing import Any

_BODY = b"x" * 200
_HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"200")]


async def answer(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Answer every request with 200 bytes (an ASGI application)."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _BODY})
