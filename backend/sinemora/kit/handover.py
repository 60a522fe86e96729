"""Handing the result of a long run to a Sinemora server, from a program that needs nothing else of the product."""

import json
import urllib.error
import urllib.request
import uuid
from typing import Any


class HandoverError(Exception):
    """What the server says, or why it cannot be reached."""


def upload_result(url: str, key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST `body` to `path` of the server at `url` with an API key; what was made. Raises `HandoverError`."""
    if not url.startswith(("http://", "https://")):
        raise HandoverError(f"{url} is no address of a server; it begins with https://")
    request = urllib.request.Request(
        url.rstrip("/") + path,
        json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            made: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        raise HandoverError(f"{url} refuses it: {_detail(error)}") from None
    except (OSError, ValueError) as error:
        raise HandoverError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from None
    return made


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)
        return str(problem.get("detail") or problem.get("title"))
    except ValueError:
        return f"{error.code} {error.reason}"
