"""The built front end, served together with the API. Hashed assets are cached forever; pages get `index.html`.

The build writes compressed files next to the originals: `index-abc.js.br`, `index-abc.js.gz`. The page itself is
different in each response: it has the nonce that the response allows style elements with (CSP Level 3, §2.3.1).
"""

import base64
import gzip
import hashlib
import mimetypes
import re
import secrets
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from sinemora.kit.http.encoding import accepts

_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
# The smallest first. Browsers accept Brotli only over HTTPS and from the machine itself.
_CODINGS = (("br", ".br"), ("gzip", ".gz"))
EMBED_PAGE = "embed"
NONCE = "nonce-of-the-response"
"""Stands in the built page where the nonce is to be (`vite.config.ts`)."""

_RESERVED = ("v1/", "assets/", "packages/", "healthz", "readyz", "metrics")


def content_policy(page: str, nonce: str, framed_by: str = "'none'") -> str:
    """Return the Content-Security-Policy of `page` (HTML): files of this origin, and inline scripts by their hash.

    Style elements, which the component kit adds, need the `nonce`; style attributes of HTML are refused. `framed_by`:
    the sources of pages that may show it in a frame.
    """
    inline = [
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in _INLINE_SCRIPT.findall(page)
    ]
    return "; ".join(
        [
            "default-src 'self'",
            " ".join(["script-src 'self'", *inline]),
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data: blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors {framed_by}",
        ]
    )


def serve_frontend(app: FastAPI, folder: Path, embed_hosts: str = "none") -> None:
    """Serve the files of `folder`. Paths of pages get `index.html`; unknown API routes do not.

    Pages of `embed_hosts` (`*`, `none`, or sources) may frame the page of embed links, and no other page.
    """
    root = folder.resolve()

    def page(request: Request, path: str) -> Response:
        file = (root / path).resolve()
        if path and file.is_relative_to(root) and file.is_file():
            hashed = path.startswith("assets/")
            headers = {"Cache-Control": "public, max-age=31536000, immutable" if hashed else "no-cache"}
            # A shared worker obeys the policy of its own script: that of the API would let it open no stream.
            return _send(request, file, headers | {"Content-Security-Policy": "default-src 'self'"})
        index = root / "index.html"
        if path.startswith(_RESERVED) or not index.is_file():
            raise HTTPException(404)
        headers = {}
        if path.rstrip("/") == EMBED_PAGE:
            framed_by = "'none'" if embed_hosts == "none" else embed_hosts
            # X-Frame-Options cannot name hosts; browsers would obey it before they read the policy.
            request.state.frameable = embed_hosts != "none"
            headers |= {"Referrer-Policy": "no-referrer"}
        else:
            framed_by = "'none'"
        return _send_page(request, index.read_text("utf-8"), headers, framed_by)

    app.router.add_api_route(
        "/{path:path}", page, methods=["GET"], include_in_schema=False, route_class_override=_PageRoute
    )


class _PageRoute(APIRoute):
    """Route of the pages. Any path is one, so a path is not there for other methods: 404, not 405."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return (Match.NONE, {}) if match is Match.PARTIAL else (match, child)


def _send_page(request: Request, page: str, headers: dict[str, str], framed_by: str) -> Response:
    """Send the page with a new nonce; without an entity tag, since a cached page has the nonce of another response."""
    nonce = secrets.token_urlsafe(16)
    headers = {
        **headers,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": content_policy(page, nonce, framed_by),
        "Vary": "Accept-Encoding",
    }
    body = page.replace(NONCE, nonce).encode()
    if accepts(request.headers.get("accept-encoding", ""), "gzip"):
        body, headers = gzip.compress(body, 6), {**headers, "Content-Encoding": "gzip"}
    return Response(body, media_type="text/html", headers=headers)


def _send(request: Request, file: Path, headers: dict[str, str]) -> Response:
    """Send a file in the best coding that the client accepts; 304 when the client has this representation already."""
    accepted = request.headers.get("accept-encoding", "")
    headers = {**headers, "Vary": "Accept-Encoding"}
    chosen, content_headers = file, {}
    for coding, suffix in _CODINGS:
        compressed = file.with_name(file.name + suffix)
        if accepts(accepted, coding) and compressed.is_file():
            chosen, content_headers = compressed, {"Content-Encoding": coding}
            break
    response = FileResponse(
        chosen,
        media_type=mimetypes.guess_type(file.name)[0],
        headers={**headers, **content_headers},
        stat_result=chosen.stat(),
    )
    # Each coding is a separate file with a separate ETag.
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if response.headers["etag"] not in known:
        return response
    # A browser replaces the headers it has stored by these, the content policy among them.
    return Response(status_code=304, headers={**headers, "ETag": response.headers["etag"]})
