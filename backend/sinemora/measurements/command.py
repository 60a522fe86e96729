"""`sinemora export` and `sinemora import`: measurements to a file and traces from one, over the API."""

import argparse
import json
import sys
import urllib.parse
from pathlib import Path
from typing import IO, Any

from sinemora.kit.client import Client, RequestRefused, add_address, run
from sinemora.measurements.imports.readers import TraceKind
from sinemora.measurements.query.requests import REQUESTS
from sinemora.measurements.query.tables import Format
from sinemora.measurements.schemas import TraceTimes


def add(commands: Any) -> None:
    """Add both commands."""
    command = commands.add_parser("export", help="export measurements to a file (API key)")
    _common(command)
    command.add_argument("question", choices=sorted(REQUESTS), help="query (docs/api/measurements.md)")
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command.add_argument("--format", choices=[form.value for form in Format], default="csv")
    command.add_argument("--from", dest="start", help="RFC 3339, as in 2026-11-20T10:00:00Z (default: an hour ago)")
    command.add_argument("--to", dest="end", help="default: now")
    command.add_argument("--selection", action="append", default=[], help="mesh, path:A:B or zones:A:B; repeatable")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter")
    command.set_defaults(run=lambda options: run(_export, options))

    command = commands.add_parser("import", help="import a trace measured elsewhere into a mesh (API key)")
    _common(command)
    command.add_argument("file", type=Path)
    command.add_argument("--kind", choices=[kind.value for kind in TraceKind], default="csv")
    command.add_argument("--times", choices=[times.value for times in TraceTimes], default="keep")
    command.add_argument("--client", help="PTPd log: name of the slave's VM")
    command.add_argument("--server", help="PTPd log: name of the master's VM")
    command.set_defaults(run=lambda options: run(_import, options))


def _common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--mesh", required=True, help="name or id of the mesh")
    add_address(command)


def _export(api: Client, options: argparse.Namespace) -> int:
    asked = [("format", options.format), *(("selections", one) for one in options.selection)]
    asked += [(name, value) for name, value in (("from", options.start), ("to", options.end)) if value]
    for one in options.set:
        name, equals, value = one.partition("=")
        if not equals:
            raise RequestRefused(f"--set takes NAME=VALUE, not {one}.")
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


def _import(api: Client, options: argparse.Namespace) -> int:
    asked = {"kind": options.kind, "times": options.times, "client": options.client, "server": options.server}
    query = urllib.parse.urlencode({name: value for name, value in asked.items() if value})
    try:
        body = options.file.read_bytes()
    except OSError as error:
        raise RequestRefused(f"{options.file} cannot be read: {error.strerror}") from error
    job = api.read(f"/v1/meshes/{api.mesh_id(options.mesh)}/imports?{query}", body)
    result = api.finished(job)["result"]
    print(json.dumps(result, indent=2))
    return 0
