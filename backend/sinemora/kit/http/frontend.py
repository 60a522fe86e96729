"""The built front end, served together with the API. Hashed assets are cached forever; pages get `index.html`."""

import base64
import hashlib
import re
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
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
            cache_control = "public, max-age=31536000, immutable" if hashed else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache_control})
        index = root / "index.html"
        if path.startswith(_RESERVED) or not index.is_file():
            raise HTTPException(404)
        content = index.read_text()
        policy = content_policy(content)
        return Response(
            content, media_type="text/html", headers={"Cache-Control": "no-cache", "Content-Security-Policy": policy}
        )
