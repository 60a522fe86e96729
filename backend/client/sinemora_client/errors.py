"""Errors of the client. Refusals of the API are problem details (RFC 9457) with a stable `code`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from sinemora_client.models import JobRead


class SinemoraError(Exception):
    """Base of all errors of this package."""


class Unreachable(SinemoraError):
    """No response: the installation cannot be reached, or the connection broke."""


@dataclass(frozen=True)
class FieldError:
    """Error of one field of a request. `pointer` is a JSON pointer into the body, or `#/query/…`, `#/header/…`."""

    pointer: str
    message: str


class ApiError(SinemoraError):
    """Refusal of a request by the API.

    `status` is the HTTP status, `code` the stable code of the problem (empty where a proxy answered), `detail` its
    text for people, `fields` the errors by field, `request_id` identifies the request in the server's log,
    `retry_after_s` is the wait that the API asks for, and `problem` the whole body.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after_s: float | None = None) -> None:
        self.status = status
        self.problem = dict(problem)
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))
        self.request_id = str(problem.get("request_id", ""))
        self.fields = tuple(FieldError(one["pointer"], one["message"]) for one in problem.get("errors") or ())
        self.retry_after_s = retry_after_s
        places = [f"{one.pointer}: {one.message}" for one in self.fields]
        further = [f"  {place}" for place in places if place != self.detail]
        super().__init__("\n".join([f"{status}: {self.detail}", *further]))


class NotSignedIn(ApiError):
    """401: the key is missing, unknown or has expired."""


class NotAllowed(ApiError):
    """403: the role or the scopes of the key do not suffice, or a quota is exceeded."""


class NotFound(ApiError):
    """404: nothing has this id in the tenant of the key."""


class Conflict(ApiError):
    """409: the request contradicts the present state."""


class VersionChanged(ApiError):
    """412: somebody else changed the object. Read it again, then repeat the change."""


class InvalidRequest(ApiError):
    """422: fields of the request are wrong; see `fields`."""


class TooManyRequests(ApiError):
    """429: a limit is exceeded; wait `retry_after_s`."""


class ServerError(ApiError):
    """5xx: the installation failed, or is unavailable for now."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: VersionChanged,
    422: InvalidRequest,
    429: TooManyRequests,
}


class JobFailed(SinemoraError):
    """Job that failed or was cancelled. `job` is the job, `code` the code of its problem, empty when cancelled."""

    def __init__(self, job: JobRead) -> None:
        problem: Mapping[str, Any] = job["problem"] or {}
        self.job = job
        self.code = str(problem.get("code", ""))
        super().__init__(str(problem.get("detail") or "The job was cancelled."))


class JobTimeout(SinemoraError):
    """Job that had not ended in the time that the caller waits. It continues; `job` is its last state."""

    def __init__(self, job: JobRead, waited_s: float) -> None:
        self.job = job
        super().__init__(f"{job['title']} has not ended after {waited_s:.0f} s. It continues as job {job['id']}.")


def retry_after_of(response: httpx2.Response, now_s: float) -> float | None:
    """Return the seconds of `Retry-After` (RFC 9110 §10.2.3: seconds, or a date); None without the header."""
    text = response.headers.get("Retry-After")
    if text is None:
        return None
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
    except ValueError:
        return None


def error_of(response: httpx2.Response, now_s: float) -> ApiError:
    """Return the error of a response whose body has been read."""
    try:
        problem = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        problem = None
    if not isinstance(problem, dict) or "detail" not in problem:
        problem = {"detail": response.text[:200] or response.reason_phrase}
    kind = _BY_STATUS.get(response.status_code, ServerError if response.status_code >= 500 else ApiError)
    return kind(response.status_code, problem, retry_after_of(response, now_s))
