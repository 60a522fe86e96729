"""The built front end, served together with the API. Hashed assets are cached forever; pages get `index.html`.

The build writes compressed files next to the originals: `index.html.br`, `index.html.gz`.
"""

import base64
import hashlib
import mimetypes
import re
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from sinemora.kit.http.encoding import accepts

_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
# The smallest first. Browsers accept Brotli only over HTTPS and from the machine itself.
_CODINGS = (("br", ".br"), ("gzip", ".gz"))
_RESERVED = ("v1/", "assets/", "packages/", "healthz", "readyz", "metrics")


def content_policy(page: str) -> str:
    """Return the Content-Security-Policy of `page` (HTML): files of this origin, and inline scripts by their hash."""
    inline = [
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in _INLINE_SCRIPT.findall(page)
    ]
    return "; ".join(
        [
            "default-src 'self'",
            " ".join(["script-src 'self'", *inline]),
            "style-src 'self' 'unsafe-inline'",  # the component kit sets sizes and colours in style attributes
            "img-src 'self' data: blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def serve_frontend(app: FastAPI, folder: Path) -> None:
    """Serve the files of `folder`. Paths of pages get `index.html`; unknown API routes do not."""
    root = folder.resolve()

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def page(request: Request, path: str) -> Response:
        file = (root / path).resolve()
        if path and file.is_relative_to(root) and file.is_file():
            hashed = path.startswith("assets/")
            return _send(
                request, file, {"Cache-Control": "public, max-age=31536000, immutable" if hashed else "no-cache"}
            )
        index = root / "index.html"
        if path.startswith(_RESERVED) or not index.is_file():
            raise HTTPException(404)
        policy = content_policy(index.read_text())
        return _send(request, index, {"Cache-Control": "no-cache", "Content-Security-Policy": policy})


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
