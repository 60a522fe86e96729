"""Calls that the generated operations are made of."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from sinemora_client.transport import Transport

_PAGE = 500


class Calls:
    """Calls over one transport."""

    _transport: Transport

    def _json(self, method: str, path: str, *, version: int | str | None = None, **options: Any) -> Any:
        """Return the JSON of a response; None without a body."""
        response = self._request(method, path, version, options)
        return response.json() if response.content else None

    def _bytes(self, method: str, path: str, **options: Any) -> Any:
        """Return the bytes of a response, or the job that computes it."""
        response = self._request(method, path, None, options)
        return response.json() if response.status_code == 202 else response.content

    def _text(self, method: str, path: str, **options: Any) -> Any:
        """Return the text of a response, or the job that computes it."""
        response = self._request(method, path, None, options)
        return response.json() if response.status_code == 202 else response.text

    def _items(self, path: str, params: Mapping[str, Any]) -> Iterator[Any]:
        """Yield every item of a list, page by page, as they are needed."""
        cursor = None
        while True:
            page = self._json("GET", path, params={**params, "limit": _PAGE, "cursor": cursor})
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _request(self, method: str, path: str, version: int | str | None, options: dict[str, Any]) -> httpx2.Response:
        headers = {"Accept": "application/json"} if options.pop("as_json", False) else {}
        if version is not None:
            headers["If-Match"] = version if version == "*" else f'"{version}"'
        return self._transport.request(method, path, headers=headers, **options)
