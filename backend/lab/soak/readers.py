"""People at the console: each signs in, opens page after page, and keeps the live stream of a mesh open."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx2

from lab.embedded_product import PASSWORD
from lab.soak.fleet import BROKEN, REFUSED, UNANSWERED

_EVERY_S = 1.0
_LIMIT_S = 30.0
_START_S = 120.0
_TEMPORARY = (429, 503)
"""Statuses that promise that the same request will succeed later. All other errors are wrong answers."""


@dataclass
class Seen:
    """Durations and failures that a reader saw, as in `fleet.Record`; wrong answers; events of the stream."""

    latencies: list[tuple[float, float]] = field(default_factory=list)
    failures: list[tuple[float, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    answered_at: float = 0.0
    events: int = 0


class Person:
    """A signed-in user of the API at `address`."""

    def __init__(self, address: str, email: str) -> None:
        self.http = httpx2.Client(base_url=address, timeout=_LIMIT_S, trust_env=False)
        answer = self.http.post("/v1/auth/sign-in", json={"email": email, "password": PASSWORD}, timeout=_START_S)
        answer.raise_for_status()
        self.http.headers["X-CSRF-Token"] = answer.json()["csrf_token"]

    def colleague(self, email: str) -> "Person":
        """Invite a viewer, who accepts and signs in."""
        address = str(self.http.base_url).rstrip("/")
        body = {"email": email, "role": "viewer", "delivery": "link"}
        invited = self.http.post("/v1/invitations", json=body, timeout=_START_S).raise_for_status().json()
        accepted = {"token": invited["link"].partition("#token=")[2], "name": "A colleague", "password": PASSWORD}
        url = f"{address}/v1/invitations/accept"
        httpx2.post(url, json=accepted, timeout=_START_S, trust_env=False).raise_for_status()
        return Person(address, email)


def pages(mesh_id: UUID, vms: Sequence[UUID]) -> list[str]:
    """Return the requests of overview, heatmap, path, incidents and lists, in the order of a visit."""
    mesh, pair = f"/v1/meshes/{mesh_id}", f"{vms[0]}/{vms[1]}"
    return [
        *("/v1/auth/status", "/v1/overview", "/v1/overview/findings", "/v1/overview/applications"),
        *("/v1/meshes", f"{mesh}/matrix?by=vm", f"{mesh}/matrix?by=zone", f"{mesh}/deviations", f"{mesh}/worst-paths"),
        *(f"{mesh}/paths/{pair}", f"{mesh}/paths/{pair}/series", f"/v1/vms/{vms[0]}"),
        *("/v1/incidents", "/v1/alert-rules", "/v1/vms", "/v1/jobs", "/v1/members"),
    ]


class Reader:
    """Threads of a person: one opens pages, one listens to the live stream, one starts jobs if `starts_jobs`."""

    def __init__(self, person: Person, mesh_id: UUID, vms: Sequence[UUID], *, starts_jobs: bool) -> None:
        self.seen = Seen()
        self.jobs: list[str] = []
        self._person, self._mesh_id, self._pages = person, mesh_id, pages(mesh_id, vms)
        self._stopped = threading.Event()
        work = [self._read, self._listen, *((self._start_jobs,) if starts_jobs else ())]
        self._threads = [threading.Thread(target=each, daemon=True) for each in work]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; the stream ends with its next event."""
        self._stopped.set()
        self._threads[0].join(_LIMIT_S)

    def _read(self) -> None:
        number = 0
        while not self._stopped.wait(_EVERY_S):
            self.ask("GET", self._pages[number % len(self._pages)])
            number += 1

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """Send a request and record its fate. Return the JSON of a success, else None."""
        at, began_s = time.time(), time.monotonic()
        try:
            answer = self._person.http.request(method, path, **options)
        except httpx2.ConnectError:
            return self._failed(REFUSED)
        except httpx2.TimeoutException:
            return self._failed(UNANSWERED)
        except httpx2.HTTPError:
            return self._failed(BROKEN)
        if answer.is_success:
            self.seen.latencies.append((at, time.monotonic() - began_s))
            self.seen.answered_at = at
            return answer.json() if answer.content else {}
        return self._refused(answer, f"{method} {path}")

    def _refused(self, answer: httpx2.Response, what: str) -> None:
        """Record an error. It is wrong unless it is temporary and says so in a problem document."""
        try:
            code = json.loads(answer.content)["code"]
        except (ValueError, KeyError, TypeError):
            code = None
        if answer.status_code not in _TEMPORARY or code is None:
            self.seen.wrong.append(f"{what}: {answer.status_code} {code or answer.text[:200]}")
        self._failed(f"{answer.status_code} {code}")

    def _failed(self, why: str) -> None:
        self.seen.failures.append((time.time(), why))

    def _listen(self) -> None:
        """Keep the live stream open, as the heatmap does; connect again when it ends."""
        while not self._stopped.wait(_EVERY_S):
            try:
                with self._person.http.stream("GET", f"/v1/meshes/{self._mesh_id}/live") as answer:
                    if not answer.is_success:
                        answer.read()
                        self._refused(answer, "the live stream")
                        continue
                    for line in answer.iter_lines():
                        self.seen.events += line.startswith("event: window")
                        if self._stopped.is_set():
                            break
            except httpx2.HTTPError:
                continue  # a stream ends with its server; the requests next to it count the outage

    def _start_jobs(self) -> None:
        """Start a back-test each half minute."""
        body = {
            "mesh_id": str(self._mesh_id),
            "name": "soak",
            "hours": 1,
            "condition": {"kind": "threshold", "above": 1e6},
        }
        while not self._stopped.wait(_EVERY_S):
            if job := self.ask("POST", "/v1/alert-back-tests", json=body):
                self.jobs.append(job["id"])
            if self._stopped.wait(30):
                break
