"""Client of the API for Python and for commands. It signs in with an API key; a refusal raises `RequestRefused`.

from sinemora.kit.client import Client
client = Client("https://sinemora.example", key)
for application in client.items("/v1/applications"):
    print(client.get(f"/v1/applications/{application['id']}/performance")["performance"])
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import IO, Any
from uuid import uuid4

from sinemora.kit.percent import percent

_OVER = ("succeeded", "failed", "cancelled")
KEY = "SINEMORA_API_KEY"


class RequestRefused(Exception):
    """Refusal of a request, with its reason; `code` is that of the problem details, if there are any."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class Client:
    """Calls of one API with one key. Bodies are sent as JSON, or as they are when they are bytes."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        self.key = key

    def open(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        media_type: str = "application/json",
        **headers: str,
    ) -> IO[bytes]:
        """Return the response to GET, or to POST (or `method`) with a body. Raises `RequestRefused`."""
        payload = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        fields = {"Authorization": f"Bearer {self.key}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        if payload is not None:
            fields["Content-Type"] = media_type
        if method == "POST":
            fields.setdefault("Idempotency-Key", str(uuid4()))
        try:
            request = urllib.request.Request(self.url + path, payload, fields, method=method)
            response: IO[bytes] = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            raise _refused(error) from error
        except OSError as error:
            raise RequestRefused(f"{self.url} cannot be reached: {getattr(error, 'reason', error)}.") from error
        return response

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON response to GET. Lists in `query` become repeated parameters; None is left out."""
        parameters = {name: value for name, value in query.items() if value is not None}
        return self.read(f"{path}?{urllib.parse.urlencode(parameters, doseq=True)}" if parameters else path)

    def read(self, path: str, body: Any = None, **options: Any) -> Any:
        """Return the JSON response to `open`; None if it is empty."""
        with self.open(path, body, **options) as response:
            text = response.read()
        return json.loads(text) if text else None

    def items(self, path: str, **query: Any) -> Iterator[Any]:
        """Yield every item of a list, page by page."""
        cursor = None
        while True:
            page = self.get(path, limit=500, cursor=cursor, **query)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def named(self, path: str, name: str, what: str) -> Any:
        """Return the item of a list with this name or id. Raises `RequestRefused`."""
        for item in self.items(path):
            if name in (item["id"], item["name"]):
                return item
        raise RequestRefused(f"Unknown {what}: {name}.", f"{what}_unknown")

    def mesh_id(self, name: str | None) -> str:
        """Return the id of a mesh by name or id; of the only mesh without a name. Raises `RequestRefused`."""
        if name is not None:
            return str(self.named("/v1/meshes", name, "mesh")["id"])
        meshes = list(self.items("/v1/meshes"))
        if len(meshes) != 1:
            names = ", ".join(mesh["name"] for mesh in meshes)
            raise RequestRefused(f"Which mesh? Name one with --mesh: {names}." if meshes else "There is no mesh yet.")
        return str(meshes[0]["id"])

    def get_or_wait(self, path: str, **query: Any) -> Any:
        """Return the JSON response to GET, or the output of the job that computes it. Raises `RequestRefused`."""
        body = self.get(path, **query)
        if isinstance(body, dict) and {"kind", "state", "attempt"} <= body.keys():
            body = self.get(self.finished(body)["result_href"])
        return body

    def finished(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait for the end of a job and return it. Raises `RequestRefused` unless it succeeded."""
        printed = ""
        while job["state"] not in _OVER:
            share = "" if job["progress"] is None else f" {percent(job['progress'], 0)}"
            line = f"{job['title']}: {job['state']}{share} {job['note']}"
            if line != printed:
                print(line, file=sys.stderr)
            printed = line
            job = self.get(f"/v1/jobs/{job['id']}", wait_s=2)
        if job["state"] != "succeeded":
            problem = job["problem"] or {}
            raise RequestRefused(problem.get("detail", "The job was cancelled."), problem.get("code"))
        return job


def _refused(error: urllib.error.HTTPError) -> RequestRefused:
    text = error.read().decode(errors="replace")
    try:
        problem = json.loads(text)
        places = [f"{entry['pointer']}: {entry['message']}" for entry in problem.get("errors") or []]
        further = [f"  {place}" for place in places if place != problem["detail"]]
        return RequestRefused("\n".join([f"{error.code}: {problem['detail']}", *further]), problem.get("code"))
    except (ValueError, KeyError, TypeError):
        return RequestRefused(f"{error.code}: {text[:200]}")
