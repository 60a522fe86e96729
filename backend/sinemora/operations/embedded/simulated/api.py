"""Calls of agents to the API: enrolment and reports."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import urlsplit

from sinemora.fleet.inventory.schemas import AgentEnrol, AgentEnrolled, ZoneName
from sinemora.operations.embedded.errors import EmbeddedError

_TIMEOUT_S = 60.0
_RETRY_S = 2.0
_PATIENCE_S = 60.0
"""Time for which a report is sent again while the API is busy or away."""
_TEMPORARY = (429, 500, 502, 503)


@dataclass(frozen=True)
class Identity:
    """Enrolled agent: the key of its VM and its credential."""

    vm_key: int
    credential: str


@dataclass(frozen=True)
class Answer:
    """Response of the API; status 0 when it cannot be reached."""

    status: int
    body: bytes
    retry_after_s: float = _RETRY_S


Post = Callable[[str, bytes, Mapping[str, str]], Answer]
"""POST of a body with headers to a path."""


class HttpApi:
    """POST to the API at `url`, with one connection for each thread."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._local = threading.local()

    def __call__(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Return the response; status 0 when the API cannot be reached."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection(self._host, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", path, body, dict(headers))
            response = connection.getresponse()
            return Answer(response.status, response.read(), float(response.headers.get("Retry-After") or _RETRY_S))
        except (OSError, http.client.HTTPException):
            connection.close()  # the next request connects again
            return Answer(0, b"")


def enrol(post: Post, token: str, name: str, zone: ZoneName, address: str) -> Identity:
    """Enrol an agent as the agent itself does. EmbeddedError when it is refused."""
    body = AgentEnrol(
        token=token,
        hostname=name,
        zone=zone,
        probe_address=address,
        agent_version=version("sinemora"),
        description={"simulated": True},
    )
    answer = _patiently(post, "/v1/agents/enrol", body.model_dump_json().encode(), {"Content-Type": "application/json"})
    if answer.status != 201:
        raise _refused(f"The enrolment of {name}", answer)
    enrolled = AgentEnrolled.model_validate_json(answer.body)
    return Identity(enrolled.vm_key, enrolled.credential)


def send_report(post: Post, credential: str, body: bytes) -> None:
    """Send a report, compressed with zstd. It returns after the commit. EmbeddedError when it is refused."""
    headers = {
        "Authorization": f"Bearer {credential}",
        "Content-Type": "application/x-protobuf",
        "Content-Encoding": "zstd",
    }
    answer = _patiently(post, "/v1/agents/self/reports", body, headers)
    if answer.status != 204:
        raise _refused("A report", answer)


def _patiently(post: Post, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    deadline_s = time.monotonic() + _PATIENCE_S
    answer = post(path, body, headers)
    while (answer.status in _TEMPORARY or not answer.status) and time.monotonic() < deadline_s:
        time.sleep(min(answer.retry_after_s, _PATIENCE_S))
        answer = post(path, body, headers)
    return answer


def _refused(what: str, answer: Answer) -> EmbeddedError:
    if not answer.status:
        return EmbeddedError("The API does not respond.", "See make status and make logs OF=api, then: make demo")
    try:
        reason = json.loads(answer.body)["detail"]
    except (ValueError, KeyError, TypeError):
        reason = f"status {answer.status}"
    return EmbeddedError(f"{what} was refused: {reason}", "To delete the tenant and load it again: make demo FRESH=1")
