"""Requests to one installation with one key: headers, retries, errors."""

import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2

from sinemora_client.errors import SinemoraError, Unreachable, error_of, retry_after_of
from sinemora_client.retries import Retries

# Repeating one of these after a lost response changes nothing; a POST is safe with its idempotency key.
_REPEATABLE = {"GET", "HEAD", "PUT"}


class Transport:
    """Connection to the installation at `url`. `key` is an API key, or empty for what needs none."""

    def __init__(
        self, url: str, key: str, *, timeout_s: float, retries: Retries, http: httpx2.BaseTransport | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise SinemoraError(f"Invalid address: {url}. It begins with https://.")
        self.url = url.rstrip("/")
        self.retries = retries
        headers = {"User-Agent": f"sinemora-client/{_own_version()} Python/{platform.python_version()}"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._http = httpx2.Client(
            headers=headers, timeout=httpx2.Timeout(timeout_s, connect=10.0), transport=http, follow_redirects=False
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Return the response, with its body. Options as in `stream`. Raises `ApiError`, `Unreachable`."""
        with self.stream(method, path, **options) as response:
            try:
                response.read()
            except httpx2.TransportError as error:
                raise self._unreachable(error) from error
            return response

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | str | None = None,
        media_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Iterator[httpx2.Response]:
        """Yield the response to a request, before its body is read.

        `params` are query parameters: lists are repeated, None is left out, times need a time zone. `body` is sent as
        JSON, `content` as it is with its `media_type`. A POST has an idempotency key: the one given, else a random one.
        """
        payload = json.dumps(body).encode() if body is not None else content
        fields = dict(headers or {})
        if payload is not None:
            fields["Content-Type"] = media_type
        if method == "POST":
            fields.setdefault("Idempotency-Key", idempotency_key or str(uuid4()))
        request = self._http.build_request(
            method, self.url + path, params=query_of(params or {}) or None, content=payload, headers=fields
        )
        response = self._send(request, repeatable=method in _REPEATABLE or method == "POST")
        try:
            if response.is_error:
                response.read()
                raise error_of(response, time.time())
            yield response
        finally:
            response.close()

    def _send(self, request: httpx2.Request, *, repeatable: bool) -> httpx2.Response:
        for attempt in count(1):
            try:
                response = self._http.send(request, stream=True, follow_redirects=request.method == "GET")
            except httpx2.TransportError as error:
                wait_s = self.retries.wait_after_failure(attempt, error, repeatable)
                if wait_s is None:
                    raise self._unreachable(error) from error
            except httpx2.InvalidURL as error:
                raise SinemoraError(f"Invalid address: {self.url}: {error}.") from error
            else:
                retry_after_s = retry_after_of(response, time.time())
                wait_s = self.retries.wait_after_status(attempt, response.status_code, retry_after_s, repeatable)
                if wait_s is None:
                    return response
                response.close()
            self.retries.sleep(wait_s)
        raise AssertionError("unreachable")

    def _unreachable(self, error: httpx2.TransportError) -> Unreachable:
        return Unreachable(f"{self.url} cannot be reached: {str(error) or type(error).__name__}.")


def segment(value: str | UUID) -> str:
    """Return a value as one segment of a path."""
    return quote(str(value), safe="")


def query_of(params: Mapping[str, Any]) -> list[tuple[str, str | int | float | bool | None]]:
    """Return query parameters as text: lists repeated, None left out.

    Raises `SinemoraError` for a time without zone.
    """
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in params.items():
        values = value if isinstance(value, list | tuple | set) else [value]
        pairs += [(name, _text(name, one)) for one in values if one is not None]
    return pairs


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise SinemoraError(f"{name} needs a time zone: datetime.now(UTC), not datetime.now().")
        return value.isoformat()
    return str(value)


def _own_version() -> str:
    try:
        return version("sinemora-client")
    except PackageNotFoundError:  # run from a checkout
        return "0"
