"""Upload of a result to a Sinemora server, with the standard library only."""

import json
import urllib.error
import urllib.request
import uuid
from typing import Any


class HandoverError(Exception):
    """Upload that failed: the server refused it or cannot be reached."""


def upload_result(url: str, key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST `body` to `path` of the server at `url` with an API key. Return the response. Raises `HandoverError`."""
    if not url.startswith(("http://", "https://")):
        raise HandoverError(f"Invalid server URL: {url}. It begins with https://.")
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
        with urllib.request.urlopen(request, timeout=60) as response:
            result: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        raise HandoverError(f"Refused by {url}: {_detail(error)}") from None
    except (OSError, ValueError) as error:
        raise HandoverError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from None
    return result


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.load(error)
        return str(problem.get("detail") or problem.get("title"))
    except ValueError:
        return f"{error.code} {error.reason}"
