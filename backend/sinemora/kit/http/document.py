"""The OpenAPI document over HTTP: written and compressed once, and not sent again to a client that has it."""

import hashlib
import json
from functools import cache

from fastapi import FastAPI, Request, Response

from sinemora.kit.http.encoding import CODINGS, accepts, compress


def serve_document(app: FastAPI, path: str) -> None:
    """Serve the OpenAPI document to everybody. Its ETag is weak, since it is one for all codings."""

    @cache
    def document() -> tuple[bytes, str]:
        body = json.dumps(app.openapi(), ensure_ascii=False, separators=(",", ":")).encode()
        return body, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'

    @cache
    def compressed(accepted: str) -> tuple[bytes, dict[str, str]]:
        return compress(document()[0], accepted, thorough=True)

    def openapi(request: Request) -> Response:
        headers = {"ETag": document()[1], "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        known = request.headers.get("if-none-match", "").replace("W/", "").split(",")
        if document()[1].removeprefix("W/") in [tag.strip() for tag in known]:
            return Response(status_code=304, headers=headers)
        header = request.headers.get("accept-encoding", "")
        body, coding = compressed(next((one for one in CODINGS if accepts(header, one)), ""))
        return Response(body, media_type="application/json", headers=headers | coding)

    app.add_api_route(path, openapi, include_in_schema=False)
