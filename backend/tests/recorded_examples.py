"""Compares every answer that a test gets with the contract, and records answers as examples of it.

`RecordingClient` is the client of all tests of the API. A test fails that got an answer with a problem code or a header
that its operation does not declare.

`make examples` (`python -m tests.recorded_examples`) runs the tests that use the API and writes the best request and
response of each operation into the package, `sinemora/contract/examples` (TESTS: only these; ONLY: only these tags).
Examples of binary bodies are in base64.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from fastapi.testclient import TestClient
from httpx2 import Request, Response

from generator.references import inlined
from sinemora.kit.errors import MEDIA_TYPE
from sinemora.kit.http import contract as described
from sinemora.kit.json_text import json_text
from sinemora.main import create_app

COMMITTED = Path(__file__).parents[1] / "openapi.json"
RECORDING = os.environ.get("SINEMORA_RECORD_EXAMPLES", "")
# Without an operation, or by the framework before a route is known.
_OF_NO_ROUTE = {"route_unknown", "method_not_allowed", "host_invalid", "body_too_large", "internal_error"}
_DECLARED_HEADERS = ("etag", "location", "retry-after", "ratelimit-limit", "www-authenticate", "idempotent-replayed")
_BODY_MAX = 6_000
_BINARY_MAX = 300
# Lists of more than four entries are cut to two; all lists to one entry where the body is still too large.
_CUTS = ((4, 2), (1, 1))
_SECRETS = {
    "secret": "sm_example",
    "certificate_key": "sm_example",
    "access_token": "sm_example",
    "device_code": "example-device-code-of-43-random-characters",
    "token": "example-token-of-an-e-mail",
    "credential": "sma_example",
    "csrf_token": "example-csrf-token",
    "password": "correct horse battery",
    "new_password": "another correct horse",
    "current_password": "correct horse battery",
    "uri": "otpauth://totp/Sinemora:owner@sinemora.example?secret=EXAMPLE&issuer=Sinemora",
    "command": "sinemora-agent run --backend https://sinemora.example --token sme_example",
}
_REPLACED = (
    (re.compile(r"Tenant [0-9a-f]{8}"), "Example"),
    (re.compile(r"\b[0-9a-f]{8}@sinemora\.example"), "owner@sinemora.example"),
    (re.compile(r"https?://(testserver|127\.0\.0\.1(:\d+)?)"), "https://sinemora.example"),
    (re.compile(r"\b(sm|sma|sme)_[A-Za-z0-9_-]{8,}"), r"\1_example"),
    (re.compile(r"#token=[A-Za-z0-9_-]+"), "#token=example"),
)


@cache
def contract_of_api() -> dict[str, Any]:
    """Return the contract of the API, with shared parts inlined: `openapi.json`, which openapi-drift compares.

    Only while examples are recorded it is made, which takes seconds: operations that are new have none there yet.
    """
    return inlined(create_app().openapi() if RECORDING else json.loads(COMMITTED.read_text("utf-8")))


def operations_of(contract: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path and operation of each operation of a contract."""
    paths = contract["paths"].items()
    return [(method, path, item[method]) for path, item in paths for method in described.METHODS if method in item]


class Operations:
    """Operations of a contract by method and path."""

    def __init__(self, contract: dict[str, Any]) -> None:
        self._by_shape: dict[tuple[str, int], list[tuple[re.Pattern[str], int, dict[str, Any]]]] = defaultdict(list)
        for method, path, operation in operations_of(contract):
            pattern = re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)))
            self._by_shape[method.upper(), path.count("/")].append((pattern, path.count("{"), operation))
        for entries in self._by_shape.values():
            entries.sort(key=lambda entry: entry[1])

    def of(self, method: str, path: str) -> dict[str, Any] | None:
        """Return the operation of a request; None for another path."""
        for pattern, _, operation in self._by_shape[method, path.count("/")]:
            if pattern.fullmatch(path):
                return operation
        return None


class Recorder:
    """Compares answers with the contract."""

    def __init__(self, contract: dict[str, Any]) -> None:
        self.operations = Operations(contract)
        self.best: dict[str, dict[str, tuple[float, dict[str, Any]]]] = defaultdict(dict)
        self.undeclared: list[str] = []

    def take_undeclared(self) -> list[str]:
        """Return what answers had that the contract does not declare, once."""
        taken, self.undeclared = self.undeclared, []
        return taken

    def see(self, request: Request, response: Response) -> None:
        """Check an answer, and record it."""
        operation = self.operations.of(request.method, request.url.raw_path.decode().partition("?")[0])
        if operation is None or request.url.path == "/v1/openapi.json":
            return
        if response.headers.get("content-type") == MEDIA_TYPE:
            self.undeclared += _problems_undeclared(operation, response)
        self.undeclared += _headers_undeclared(operation, response)
        if RECORDING and response.status_code < 300:
            self._record(operation, request, response)

    def _record(self, operation: dict[str, Any], request: Request, response: Response) -> None:
        for cut in _CUTS:
            found = _entry(operation, request, response, cut)
            if found is None:
                return
            key, entry = found
            text = json.dumps(entry)
            if len(text) <= _BODY_MAX:
                break
        else:
            return
        score = len(re.findall(r'": (?!null|\[\]|\{\}|"")', text)) - len(text) / 1000
        if score > self.best[operation["operationId"]].get(key, (-1e9, {}))[0]:
            self.best[operation["operationId"]][key] = (score, entry)

    def write(self, folder: Path) -> None:
        """Store what was recorded."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{uuid4().hex}.json").write_text(json.dumps(self.best), "utf-8")


def _entry(
    operation: dict[str, Any], request: Request, response: Response, cut: tuple[int, int]
) -> tuple[str, dict[str, Any]] | None:
    """Return status and media type of an answer, and the bodies of both sides.

    Lists longer than the first number of `cut` have the second number of entries.

    None if the contract does not have the media type of one of them, or there is nothing to show.
    """
    entry: dict[str, Any] = {"responses": {}}
    media_type = request.headers.get("content-type", "").partition(";")[0]
    content = operation.get("requestBody", {}).get("content", {})
    if not media_type and request.content and len(content) == 1:
        media_type = next(iter(content))
    if media_type in content:
        body = _body(media_type, request.content, cut)
        if body is None:
            return None
        entry["request"] = {media_type: body}
    elif operation.get("requestBody", {}).get("required"):
        return None
    status, answered = str(response.status_code), response.headers.get("content-type", "").partition(";")[0]
    if status not in operation["responses"]:
        return None
    if answered in operation["responses"][status].get("content", {}):
        body = _body(answered, response.content, cut)
        if body is None:
            return None
        entry["responses"] = {status: {answered: body}}
    return f"{status} {answered}", entry


def _problems_undeclared(operation: dict[str, Any], response: Response) -> list[str]:
    if operation["operationId"] == "read_job_result":
        return []  # it answers with the problem of the job, which may be any
    problem, status = response.json(), str(response.status_code)
    declared = operation["responses"].get(status, {}).get("x-problem-codes", ())
    if problem["code"] in _OF_NO_ROUTE or status == "503" or problem["code"] in declared:
        return []
    return [f"{operation['operationId']}: {status} {problem['code']}"]


def _headers_undeclared(operation: dict[str, Any], response: Response) -> list[str]:
    status = str(response.status_code)
    if status not in operation["responses"]:
        return []
    declared = {name.lower() for name in operation["responses"][status].get("headers", {})}
    found = [name for name in _DECLARED_HEADERS if name in response.headers and name not in declared]
    return [f"{operation['operationId']}: header {name} of {status}" for name in found]


def _body(media_type: str, content: bytes, cut: tuple[int, int]) -> Any:
    if media_type == "application/json":
        try:
            return _scrubbed(json.loads(content), cut)
        except ValueError:
            return None
    if media_type == "application/octet-stream":
        return base64.b64encode(content).decode() if 0 < len(content) <= _BINARY_MAX else None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return _replaced("\n".join(text.splitlines()[:6]) + "\n") if text else None


def _scrubbed(value: Any, cut: tuple[int, int], name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _scrubbed(one, cut, key) for key, one in value.items()}
    if isinstance(value, list):
        kept = value if len(value) <= cut[0] else value[: cut[1]]
        return [_scrubbed(one, cut) for one in kept]
    if isinstance(value, str):
        return _SECRETS[name] if name in _SECRETS and value else _replaced(value)
    return value


def _replaced(text: str) -> str:
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text


class RecordingClient(TestClient):
    """Client whose answers are compared with the contract."""

    @cached_property
    def recorder(self) -> Recorder:
        """Return the recorder of the answers of this client."""
        return Recorder(contract_of_api())

    def send(self, request: Request, **options: Any) -> Response:
        """Send a request and check the answer."""
        response = super().send(request, **options)
        if not options.get("stream"):
            request.read()
            for one in (*response.history, response):  # each hop of a redirect is an answer of its own
                self.recorder.see(one.request, one)
        return response


def merge(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the best entry of each operation and response of all files, by operation id."""
    best: dict[str, dict[str, Any]] = defaultdict(dict)
    for file in sorted(folder.glob("*.json")):
        for name, entries in json.loads(file.read_text("utf-8")).items():
            for key, (score, entry) in entries.items():
                if score > best[name].get(key, (-1e9, {}))[0]:
                    best[name][key] = (score, entry)
    merged: dict[str, dict[str, Any]] = {}
    for name, entries in sorted(best.items()):
        one: dict[str, Any] = {}
        for _, entry in sorted(entries.values(), key=lambda scored: scored[0]):
            one.setdefault("request", {}).update(entry.get("request", {}))
            for status, bodies in entry["responses"].items():
                one.setdefault("responses", {}).setdefault(status, {}).update(bodies)
        merged[name] = {key: value for key, value in one.items() if value}
    return merged


def write(folder: Path, only: Sequence[str]) -> None:
    """Write the recorded examples, a file a tag; `only` these tags. Operations that were not seen keep theirs."""
    described_ones = operations_of(json.loads(COMMITTED.read_text("utf-8")))
    tags = {one["operationId"]: one["tags"][0].replace(" ", "-") for _, _, one in described_ones}
    if unknown := set(only) - set(tags.values()):
        sys.exit(f"Unknown tag: {', '.join(sorted(unknown))}. Known: {', '.join(sorted(set(tags.values())))}.")
    recorded = {name: entry for name, entry in merge(folder).items() if entry and tags[name] in (only or tags.values())}
    known = {name: entry for name, entry in described.examples().items() if name in tags}
    files: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, entry in sorted((known | recorded).items()):
        files[tags[name]][name] = entry
    target = described.DATA / "examples"
    target.mkdir(parents=True, exist_ok=True)
    for tag, entries in files.items():
        (target / f"{tag}.json").write_text(json_text(entries) + "\n", "utf-8")


def without_example(contract: dict[str, Any]) -> set[str]:
    """Return the operations of a contract whose request or successful response has a body without an example."""
    missing = set()
    for _, _, operation in operations_of(contract):
        bodies = list(operation.get("requestBody", {}).get("content", {}).values())
        answers = [one for status, one in operation["responses"].items() if status.startswith("2")]
        answered = [media for one in answers for media in one.get("content", {}).values()]
        if any(found and not any("example" in media for media in found) for found in (bodies, answered)):
            missing.add(operation["operationId"])
    return missing


def record(tests: Sequence[str], only: Sequence[str]) -> None:
    """Run the tests that use the API, or some of them, and write what they record, or only that of some tags.

    Exit with 1 unless every operation has examples then.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"SINEMORA_RECORD_EXAMPLES": folder}
        command = [sys.executable, "-m", "pytest", "-q", "--numprocesses=2", "--dist=loadfile", *(tests or ["tests"])]
        ran = subprocess.run(command, env=env, check=False)
        write(Path(folder), only)
    described.examples.cache_clear()
    if missing := sorted(without_example(inlined(create_app().openapi()))):
        sys.exit(f"No example of {', '.join(missing)}: no test gets a small answer of theirs.")
    if ran.returncode:
        sys.stderr.write("Some tests failed; the examples are those of the others.\n")


if __name__ == "__main__":
    record(os.environ.get("TESTS", "").split(), os.environ.get("ONLY", "").split())
