"""Content codings of responses: the ones that a client accepts, and compressed bodies (RFC 9110 §8.4, §12.5.3)."""

import gzip

import zstandard
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sinemora.kit.http.raw import text_of

CODINGS = ("zstd", "gzip")
"""Codings of bodies made at request time, the fastest first."""
# A smaller body fits a packet or two: compressing it saves nothing.
_LEAST_BYTES = 1024
# Compressing more would hold up other requests of the process for more than a millisecond.
_INLINE_BYTES = 256 * 1024
_JSON = ("application/json", "application/problem+json")


def accepts(header: str, coding: str) -> bool:
    """Return True when an Accept-Encoding header allows `coding`. A quality of 0 forbids it."""
    qualities: dict[str, str] = {}
    for part in header.lower().split(","):
        name, _, quality = part.replace(" ", "").partition(";q=")
        qualities[name] = quality
    quality = qualities.get(coding, qualities.get("*", "0"))
    return quality == "" or quality.strip("0.") != ""


def compress(body: bytes, header: str, *, thorough: bool = False) -> tuple[bytes, dict[str, str]]:
    """Return a body in the fastest coding that an Accept-Encoding header allows, and the header that names it.

    `thorough` takes ten times as long for a fifth fewer bytes: for what is compressed once and sent often.
    """
    coding = next((one for one in CODINGS if accepts(header, one)), None)
    if coding is None or len(body) < _LEAST_BYTES:
        return body, {}
    level = 9 if thorough else 1
    if coding == "zstd":
        compressed = zstandard.ZstdCompressor(level=level).compress(body)
    else:
        compressed = gzip.compress(body, compresslevel=level)
    return compressed, {"Content-Encoding": coding}


class CompressedJson:
    """ASGI middleware: compress JSON that is sent whole.

    A response with an ETag stays as it is: a strong tag stands for the bytes too, and clients send it back as If-Match.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        accepted = text_of(scope, b"accept-encoding") if scope["type"] == "http" else ""
        if not accepted:
            await self.app(scope, receive, send)
            return
        head: Message | None = None

        async def send_compressed(message: Message) -> None:
            nonlocal head
            if message["type"] == "http.response.start" and _is_plain_json(message, scope):
                head = message
                return
            if head is not None:
                if not message.get("more_body"):
                    message = await _replaced(head, message, accepted)
                await send(head)
                head = None
            await send(message)

        await self.app(scope, receive, send_compressed)


def _is_plain_json(head: Message, scope: Scope) -> bool:
    headers = MutableHeaders(raw=head["headers"])
    tagged = "etag" in headers or "ETag" in scope["state"]["response_headers"]
    return headers.get("content-type", "") in _JSON and "content-encoding" not in headers and not tagged


async def _replaced(head: Message, message: Message, accepted: str) -> Message:
    """Compress the body of a message, and name that in the headers of its head."""
    body = message.get("body", b"")
    if len(body) > _INLINE_BYTES:
        body, coding = await run_in_threadpool(compress, body, accepted)
    else:
        body, coding = compress(body, accepted)
    head["headers"] = list(head["headers"])
    headers = MutableHeaders(raw=head["headers"])
    headers.add_vary_header("Accept-Encoding")
    if coding:
        headers.update({"Content-Length": str(len(body)), **coding})
    return {**message, "body": body}
