"""The client: an operation of the API is a method, named after its `operationId`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import httpx2

from sinemora_client import profiles
from sinemora_client.errors import JobFailed, JobTimeout
from sinemora_client.operations import Operations
from sinemora_client.retries import Retries
from sinemora_client.transport import Transport

if TYPE_CHECKING:
    from sinemora_client.models import JobRead

_OVER = ("succeeded", "failed", "cancelled")
_SHOWN_EACH_S = 2
_WAIT_MAX_S = 30

Progress: TypeAlias = "Callable[[JobRead], None]"


class Client(Operations):
    """Client of one installation with one API key.

    Lists are iterators over all pages. Times are text (RFC 3339), delays integer nanoseconds. Requests are repeated as
    `retries` says. Raises `ApiError` when the API refuses, `Unreachable` without a response.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = 120.0,
        retries: Retries | None = None,
        http: httpx2.BaseTransport | None = None,
    ) -> None:
        """Open a client; `timeout_s` is for each read of a response, `http` replaces the transport of httpx."""
        self.url = url.rstrip("/")
        self.key = key
        self._transport = Transport(url, key, timeout_s=timeout_s, retries=retries or Retries(), http=http)

    @classmethod
    def from_profile(cls, name: str | None = None, **options: Any) -> Self:
        """Return a client for a profile that `sinemora login` stored; for the current one without a name.

        Raises `ProfileError`.
        """
        profile = profiles.load().profile(name)
        return cls(profile.url, profile.key, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send any request and return its response; options as in `stream`."""
        return self._transport.request(method, path, **options)

    def stream(self, method: str, path: str, **options: Any) -> AbstractContextManager[httpx2.Response]:
        """Send any request and yield its response before the body is read, for large files and live events.

        Options: `params`, `body` (JSON), `content` with `media_type`, `headers`, `idempotency_key`.
        """
        return self._transport.stream(method, path, **options)

    def items(self, path: str, **params: Any) -> Iterator[Any]:
        """Yield every item of any list, page by page."""
        return self._items(path, params)

    def wait(self, job: JobRead, *, on_progress: Progress | None = None, timeout_s: float | None = None) -> JobRead:
        """Wait for the end of a job and return it. `on_progress` gets the job each time it is read.

        Raises `JobFailed` unless it succeeded, `JobTimeout` after `timeout_s`; the job then continues.
        """
        began = time.monotonic()
        while job["state"] not in _OVER:
            waited_s = time.monotonic() - began
            if timeout_s is not None and waited_s >= timeout_s:
                raise JobTimeout(job, waited_s)
            if on_progress is not None:
                on_progress(job)
            left_s = _WAIT_MAX_S if timeout_s is None else max(1, int(timeout_s - waited_s))
            job = self.read_job(job["id"], wait_s=min(left_s, _SHOWN_EACH_S if on_progress else _WAIT_MAX_S))
        if on_progress is not None:
            on_progress(job)
        if job["state"] != "succeeded":
            raise JobFailed(job)
        return job

    def result(self, job: JobRead, *, on_progress: Progress | None = None, timeout_s: float | None = None) -> Any:
        """Wait for the end of a job and return what it made: a recommendation, a report, the rows of a query."""
        done = self.wait(job, on_progress=on_progress, timeout_s=timeout_s)
        href = done["result_href"]
        return done["result"] if href is None else self._json("GET", href)
