"""`sinemora export` and `import`: measurements out and traces in, over the API."""

import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Option, Typer

from sinemora_client.commands import CommandError, Mesh, Terminal, api_command, bytes_of
from sinemora_client.models import Format, TraceKind, TraceTimes

QUERIES = (
    *("comparison", "distribution", "latency-budgets", "losses", "matrix"),
    *("series", "spikes", "variability", "windows"),
)
"""Queries of a mesh (docs/api/measurements.md)."""

app = Typer(rich_markup_mode=None)


def _query(name: str) -> str:
    if name not in QUERIES:
        raise BadParameter(f"{name!r} is not one of {', '.join(QUERIES)}")
    return name


@api_command(app)
def export(
    client: Terminal,
    question: Annotated[str, Argument(parser=_query, help=f"{', '.join(QUERIES)} (docs/api/measurements.md).")],
    mesh: Mesh = None,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
    format: Annotated[Format, Option(help="Format of the file.")] = "csv",
    start: Annotated[
        str | None, Option("--from", help="RFC 3339, as in 2026-11-20T10:00:00Z.", show_default="an hour ago")
    ] = None,
    end: Annotated[str | None, Option("--to", help="RFC 3339.", show_default="now")] = None,
    selection: Annotated[list[str] | None, Option(help="mesh, path:A:B or zones:A:B; repeatable.")] = None,
    parameters: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any other parameter; repeatable.")
    ] = None,
) -> None:
    """Export measurements to a file (API key)."""
    format = "json" if client.as_json and output is None else format
    query: dict[str, list[Any]] = {
        "format": [format],
        "selections": list(selection or ()),
        "from": [start],
        "to": [end],
    }
    for parameter in parameters or ():
        name, equals, value = parameter.partition("=")
        if not equals:
            raise CommandError(f"--set takes NAME=VALUE, not {parameter}.")
        query.setdefault(name, []).append(value)
    path = f"/v1/meshes/{client.mesh_id(mesh)}/{question}"
    if output is None:
        client.save(sys.stdout.buffer, path, query)
        sys.stdout.buffer.flush()
        return
    with output.open("wb") as file:
        size = client.save(file, path, query)
    client.print_result({"file": str(output), "format": format, "bytes": size})


@api_command(app, "import")
def import_file(
    api: Terminal,
    file: Annotated[Path, Argument(help="File with the trace; - for standard input.")],
    mesh: Mesh = None,
    kind: Annotated[TraceKind, Option(help="Format of the trace.")] = "csv",
    times: Annotated[TraceTimes, Option(help="Keep the trace's times, or move them to end now.")] = "keep",
    client: Annotated[str | None, Option(help="PTPd log: name of the slave's VM.")] = None,
    server: Annotated[str | None, Option(help="PTPd log: name of the master's VM.")] = None,
) -> None:
    """Import a trace measured elsewhere into a mesh (API key)."""
    query = {"kind": kind, "times": times, "client": client or None, "server": server or None}
    path = f"/v1/meshes/{api.mesh_id(mesh)}/imports"
    job = api.read(path, bytes_of(file), media_type="text/plain", params=query)
    result = api.result_of(job)
    api.print_result(result, ("", ""), [(name.replace("_", " "), value) for name, value in result.items()])
