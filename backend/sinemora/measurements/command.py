"""`sinemora export` and `sinemora import`: measurements to a file and traces from one, over the API."""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

from sinemora.kit.config import settings
from sinemora.measurements.questions import QUESTIONS
from sinemora.measurements.schemas import TraceTimes
from sinemora.measurements.sheets import Format
from sinemora.measurements.traces import TraceKind

_OVER = ("succeeded", "failed", "cancelled")


class Refused(Exception):
    """The API said no, and why."""


def add(commands: Any) -> None:
    """Add both commands."""
    command = commands.add_parser("export", help="write what was measured to a file, by an API key")
    _common(command)
    command.add_argument("question", choices=sorted(QUESTIONS), help="what to ask (docs/api/measurements.md)")
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command.add_argument("--format", choices=[form.value for form in Format], default="csv")
    command.add_argument("--from", dest="start", help="RFC 3339, as in 2026-11-20T10:00:00Z; an hour ago by default")
    command.add_argument("--to", dest="end", help="now by default")
    command.add_argument("--selection", action="append", default=[], help="mesh, path:A:B or zones:A:B; repeatable")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter")
    command.set_defaults(run=lambda options: _run(_export, options))

    command = commands.add_parser("import", help="take a trace measured elsewhere into a mesh, by an API key")
    _common(command)
    command.add_argument("file", type=Path)
    command.add_argument("--kind", choices=[kind.value for kind in TraceKind], default="csv")
    command.add_argument("--times", choices=[times.value for times in TraceTimes], default="keep")
    command.add_argument("--client", help="of a PTPd log: the slave's name")
    command.add_argument("--server", help="of a PTPd log: the master's name")
    command.set_defaults(run=lambda options: _run(_import, options))


def _common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--mesh", required=True, help="name or id of the mesh")
    command.add_argument("--url", default=None, help="address of the backend (default: SINEMORA_PUBLIC_URL)")


def _run(action: Any, options: argparse.Namespace) -> int:
    key = os.environ.get("SINEMORA_API_KEY", "")
    if not key:
        print("SINEMORA_API_KEY is empty. An owner makes a key under API keys.", file=sys.stderr)
        return 2
    api = _Api((options.url or settings().public_url).rstrip("/"), key)
    try:
        return int(action(api, options))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1


class _Api:
    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key

    def open(self, path: str, body: bytes | None = None) -> IO[bytes]:
        """The answer to GET, or to POST with a body. Raises `Refused`."""
        headers = {"Authorization": f"Bearer {self.key}", **({"Content-Type": "text/csv"} if body is not None else {})}
        try:
            answer: IO[bytes] = urllib.request.urlopen(urllib.request.Request(self.url + path, body, headers))
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            try:
                said = json.loads(said)["detail"]
            except (ValueError, KeyError, TypeError):
                said = said[:200]
            raise Refused(f"{error.code}: {said}") from error
        except OSError as error:
            raise Refused(f"{self.url} cannot be reached: {error}") from error
        return answer

    def read(self, path: str, body: bytes | None = None) -> Any:
        """The same, as JSON."""
        with self.open(path, body) as answer:
            return json.load(answer)

    def mesh_id(self, name: str) -> str:
        """The id of a mesh by name or id. Raises `Refused`."""
        cursor = ""
        while True:
            page = self.read(f"/v1/meshes?limit=500{cursor}")
            for mesh in page["items"]:
                if name in (mesh["id"], mesh["name"]):
                    return str(mesh["id"])
            if page["next_cursor"] is None:
                raise Refused(f"There is no mesh {name}.")
            cursor = "&cursor=" + urllib.parse.quote(page["next_cursor"])

    def finished(self, job: dict[str, Any]) -> dict[str, Any]:
        """A job once it is over. Raises `Refused` when it did not succeed."""
        while job["state"] not in _OVER:
            share = "" if job["progress"] is None else f" {job['progress']:.0%}"
            print(f"{job['title']}: {job['state']}{share} {job['note']}", file=sys.stderr)
            time.sleep(1)
            job = self.read(f"/v1/jobs/{job['id']}")
        if job["state"] != "succeeded":
            raise Refused((job["error"] or {}).get("detail", "The job was cancelled."))
        return job


def _export(api: _Api, options: argparse.Namespace) -> int:
    asked = [("format", options.format), *(("selections", one) for one in options.selection)]
    asked += [(name, value) for name, value in (("from", options.start), ("to", options.end)) if value]
    for one in options.set:
        name, equals, value = one.partition("=")
        if not equals:
            raise Refused(f"--set takes NAME=VALUE, not {one}.")
        asked.append((name, value))
    path = f"/v1/meshes/{api.mesh_id(options.mesh)}/{options.question}?{urllib.parse.urlencode(asked)}"
    answer = api.open(path)
    if getattr(answer, "status", 200) == 202:
        with answer:
            job = json.load(answer)
        answer = api.open(api.finished(job)["output"]["href"])
    with answer:
        if options.output is None:
            _copy(answer, sys.stdout.buffer)
        else:
            with options.output.open("wb") as file:
                _copy(answer, file)
    return 0


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while part := source.read(1 << 16):
        target.write(part)
    target.flush()


def _import(api: _Api, options: argparse.Namespace) -> int:
    asked = {"kind": options.kind, "times": options.times, "client": options.client, "server": options.server}
    query = urllib.parse.urlencode({name: value for name, value in asked.items() if value})
    try:
        body = options.file.read_bytes()
    except OSError as error:
        raise Refused(f"{options.file} cannot be read: {error.strerror}") from error
    job = api.read(f"/v1/meshes/{api.mesh_id(options.mesh)}/imports?{query}", body)
    result = api.finished(job)["result"]
    print(json.dumps(result, indent=2))
    return 0
