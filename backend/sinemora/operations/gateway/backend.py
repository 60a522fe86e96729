"""Requests to the backend, and the verdict that each answer is about a report, as an agent reads it."""

import json
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import structlog

from sinemora.kit.errors import PROBLEM_TYPE
from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.no_answer import reason
from sinemora.operations.gateway.options import GatewayError, is_loopback

log = structlog.get_logger(__name__)

REPORTS = "/v1/agents/self/reports"
# A long poll is held for up to 30 s; the proxy of the stack waits as long.
_ANSWER_S = 90.0
_CONNECT_S = 5.0
# Shorter than the servers of the product keep a connection (75 s): a request is not sent on one that closes.
_KEPT_S = 60.0
# A pool looks at each of its connections for every request, so one pool of all agents' long polls would be slow.
_POOLS = 32
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 15.0
# Sent with every answer to an agent: by the backend, and by a gateway that queued a report.
_OF_THE_PRODUCT = ("sinemora-time-ns", "sinemora-acknowledged")
# Answers of a proxy whose backend is away, and of a backend that stops or has no database.
_AWAY = {502, 503, 504}
# These concern the connection or the moment, not the content of the request.
_FOR_NOW = {401, 403, 407, 408, 421, 425, 429}


class AnswerKind(Enum):
    """Meaning of an answer for the request: `LOCKED` is a credential that the backend does not accept."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    LOCKED = "locked"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Meaning of an answer, the problem's code and detail, the time after which to retry, and the answer's headers.

    `why`: status, code and detail in one line, for logs and files.
    `is_away`: the backend itself does not answer, so that no other request would succeed either.
    """

    kind: AnswerKind
    code: str
    detail: str
    why: str
    retry_after_s: float | None
    is_away: bool
    headers: Mapping[str, str]

    @property
    def is_of_the_product(self) -> bool:
        """Return True for an answer of a backend or a gateway, not of another server at its address."""
        return any(name in self.headers for name in _OF_THE_PRODUCT)


def verdict_of(status: int, headers: Mapping[str, str], content: bytes) -> Verdict:
    """Return the verdict on a request by its answer. `agent/agent/src/backend/answer.rs` has the same rules."""
    problem = _problem(headers, content)
    code = str(problem.get("code", ""))
    detail = str(problem.get("detail") or problem.get("title") or "")
    why = f"HTTP {status} {code}".rstrip() + (f": {detail}" if detail else "")
    is_json = "json" in headers.get("content-type", "")
    if status == 204 or (200 <= status < 300 and is_json):
        kind = AnswerKind.ACCEPTED
    elif status == 401 and code:
        kind = AnswerKind.LOCKED
    elif 400 <= status < 500 and status not in _FOR_NOW and (code or status == 413):
        kind = AnswerKind.REFUSED
    else:
        kind = AnswerKind.LATER
    pause = headers.get("retry-after", "")
    retry_after_s = float(pause) if pause.isdigit() else None
    return Verdict(kind, code, detail, why, retry_after_s, kind is AnswerKind.LATER and status in _AWAY, headers)


def _problem(headers: Mapping[str, str], content: bytes) -> Mapping[str, object]:
    if "json" not in headers.get("content-type", ""):
        return {}
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    # The page of a proxy in its place may have a `code`, too.
    is_ours = isinstance(document, dict) and str(document.get("type", "")).startswith(PROBLEM_TYPE)
    return document if is_ours else {}


class Backend:
    """The backend of a gateway and the state of the way to it.

    After a failure, queued reports wait for a pause that doubles to `_LONGEST_PAUSE_S`; the first success ends it.
    """

    def __init__(self, url: str, ca_file: Path | None) -> None:
        """Raises GatewayError for a file of authorities that cannot be read."""
        self.url = url
        self._away_until_s = 0.0
        self._pause_s = 0.0
        self._contact_s = 0.0
        self._is_another = False
        context = ssl.create_default_context()
        try:
            if ca_file is not None:
                context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise GatewayError(f"--ca-file {ca_file}: {error}") from error
        self._base = httpx2.URL(url)
        self._clients = [
            httpx2.AsyncClient(
                verify=context,
                headers={"User-Agent": f"sinemora-gateway/{version('sinemora')}"},
                # Every agent has a long poll.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_S),
                follow_redirects=False,
                trust_env=not is_loopback(urlsplit(url).hostname or ""),
            )
            for _ in range(_POOLS)
        ]
        self._turns = cycle(self._clients)

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.aclose()

    async def open(
        self,
        method: str,
        target: bytes,
        headers: list[tuple[bytes, bytes]],
        content: bytes | None = None,
        timeout_s: float | None = None,
    ) -> httpx2.Response:
        """Send a request to `target` (path and query) and return the answer's head; the caller closes it.

        Raises httpx2.TransportError without an answer.
        """
        timeout = httpx2.Timeout(timeout_s or _ANSWER_S, connect=_CONNECT_S, pool=None)
        url, client = self._base.copy_with(raw_path=target), next(self._turns)
        request = client.build_request(method, url, headers=headers, content=content, timeout=timeout)
        try:
            response = await client.send(request, stream=True)
        except httpx2.TransportError as error:
            self.failed(f"no answer from {self.url}: {reason(error)}")
            raise
        if response.status_code in _AWAY:
            self.failed(f"{self.url} answers HTTP {response.status_code}")
        else:
            self._answered()
            if any(name in response.headers for name in _OF_THE_PRODUCT):
                self._in_contact()
        return response

    async def ask(
        self,
        method: str,
        path: str,
        headers: list[tuple[bytes, bytes]],
        content: bytes | None = None,
        timeout_s: float | None = None,
    ) -> Verdict:
        """Send a request and return the verdict on it; no answer is a verdict, too."""
        try:
            response = await self.open(method, path.encode(), headers, content, timeout_s)
            try:
                body = await response.aread()
            finally:
                await response.aclose()
        except httpx2.TransportError as error:
            return Verdict(AnswerKind.LATER, "", "", f"no answer: {reason(error)}", None, True, {})
        return verdict_of(response.status_code, response.headers, body)

    @property
    def is_away(self) -> bool:
        """Return True while the backend is not worth asking: it did not answer just now."""
        return time.monotonic() < self._away_until_s

    @property
    def away_s(self) -> float:
        """Return how long to wait before the next attempt, s."""
        return max(0.0, self._away_until_s - time.monotonic())

    async def is_reachable(self) -> bool:
        """Return True if the backend answers; it is asked unless it has answered within the last seconds."""
        if time.monotonic() - self._contact_s > _CONNECT_S and not self.is_away:
            answer = await self.ask("GET", "/readyz", [], timeout_s=_CONNECT_S)
            if answer.kind is AnswerKind.ACCEPTED:
                self._in_contact()
            elif self._pause_s == 0 and not self._was_just_here():  # a proxy may hide /readyz
                self._found_another(answer.why)
        return self._pause_s == 0 and not self._is_another and self._contact_s > 0

    @property
    def state(self) -> str:
        """Return how the backend was found, for people."""
        if self._is_another:
            return f"another server answers at {self.url}"
        return "answers" if self._pause_s == 0 else "does not answer"

    def failed(self, why: str) -> None:
        """Begin a pause, or double the present one once it is over."""
        if self.is_away:
            return
        if self._pause_s == 0:
            log.warning("the backend does not answer", why=why)
        self._pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, 2 * self._pause_s))
        self._away_until_s = time.monotonic() + self._pause_s * random.uniform(0.75, 1.25)
        metrics.BACKEND_UP.set(0)

    def _answered(self) -> None:
        if self._pause_s > 0:
            log.info("the backend answers again")
        self._pause_s = self._away_until_s = 0.0

    def _was_just_here(self) -> bool:
        return self._contact_s > 0 and time.monotonic() - self._contact_s < _KEPT_S

    def _in_contact(self) -> None:
        self._contact_s = time.monotonic()
        self._is_another = False
        metrics.BACKEND_UP.set(1)

    def _found_another(self, why: str) -> None:
        if not self._is_another:
            log.warning("another server answers in place of the backend", backend=self.url, why=why)
        self._is_another = True
        metrics.BACKEND_UP.set(0)
