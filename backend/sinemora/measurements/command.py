"""`sinemora export`, `delay-tables`, `latency-budget` and `import`: measurements out and traces in, over the API."""

import json
import shutil
import sys
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora.kit.client import RequestRefused
from sinemora.kit.commands import Key, Mesh, Terminal, Url, bytes_of, calls_api, terminal
from sinemora.measurements import latency_budget_text
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.delay_tables import text_of
from sinemora.measurements.imports.readers import TraceKind
from sinemora.measurements.query.requests import REQUESTS
from sinemora.measurements.query.tables import Format
from sinemora.measurements.schemas import TraceTimes

app = Typer(rich_markup_mode=None)


def _query(name: str) -> str:
    if name not in REQUESTS:
        raise ValueError(f"{name!r} is not one of {', '.join(sorted(REQUESTS))}")
    return name


@app.command()
def export(
    question: Annotated[
        str, Argument(parser=_query, help=f"{', '.join(sorted(REQUESTS))} (docs/api/measurements.md).")
    ],
    mesh: Mesh = None,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
    format: Annotated[Format, Option(help="Format of the file.")] = Format.CSV,
    start: Annotated[
        str | None, Option("--from", help="RFC 3339, as in 2026-11-20T10:00:00Z.", show_default="an hour ago")
    ] = None,
    end: Annotated[str | None, Option("--to", help="RFC 3339.", show_default="now")] = None,
    selection: Annotated[list[str] | None, Option(help="mesh, path:A:B or zones:A:B; repeatable.")] = None,
    parameters: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any other parameter; repeatable.")
    ] = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Export measurements to a file (API key)."""
    with terminal(url, key) as client:
        query = [("format", format.value), *(("selections", value) for value in selection or ())]
        query += [(name, value) for name, value in (("from", start), ("to", end)) if value]
        for parameter in parameters or ():
            name, equals, value = parameter.partition("=")
            if not equals:
                raise RequestRefused(f"--set takes NAME=VALUE, not {parameter}.")
            query.append((name, value))
        response = client.open(f"/v1/meshes/{client.mesh_id(mesh)}/{question}?{urllib.parse.urlencode(query)}")
        if getattr(response, "status", 200) == 202:
            with response:
                job = json.load(response)
            response = client.open(client.finished(job)["output"]["href"])
        with response:
            if output is None:
                shutil.copyfileobj(response, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            else:
                with output.open("wb") as file:
                    shutil.copyfileobj(response, file)


@app.command("delay-tables")
def delay_tables(
    source: Annotated[str, Argument(help="Name or id of the VM that plays the client.")],
    target: Annotated[str, Argument(help="Name or id of the VM that plays the server.")],
    mesh: Mesh = None,
    out: Annotated[Path, Option(metavar="FOLDER", help="Folder for outbound.csv and inbound.csv.")] = Path(),
    start: Annotated[
        str | None, Option("--from", help="RFC 3339, as in 2026-11-20T10:00:00Z.", show_default="an hour ago")
    ] = None,
    end: Annotated[str | None, Option("--to", help="RFC 3339.", show_default="now")] = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Write the measured delays of a path as tables of delaybox, to replay them into an application (API key)."""
    with terminal(url, key) as client:
        vms = [client.named("/v1/vms", name, "VM") for name in (source, target)]
        ends = (vms, vms[::-1])
        query = [("selections", f"path:{a['id']}:{b['id']}") for a, b in ends]
        query += [(name, value) for name, value in (("from", start), ("to", end)) if value]
        found = _answer(client, mesh, "distribution", query)
        files = []
        out.mkdir(parents=True, exist_ok=True)
        for name, (a, b), item in zip(("outbound", "inbound"), ends, found["items"], strict=True):
            if not item["count"]:
                raise RequestRefused(f"No data: no delays from {a['name']} to {b['name']} in this range.")
            window = f"{found['window']['from']} to {found['window']['to']}"
            files.append(out / f"{name}.csv")
            files[-1].write_text(
                text_of(item, f"{a['name']} to {b['name']}, {item['count']} delays, {window}"), "utf-8"
            )
            median_us = item["quantiles_ns"]["p50"] / 1e3
            print(f"{files[-1]}: {item['count']} delays from {a['name']} to {b['name']}, median {median_us:.1f} µs")
        print(f"Replay: sinemora profile RECIPE {' '.join(f'--replay {file}' for file in files)}")


@app.command("latency-budget")
@calls_api
def latency_budget(
    client: Terminal,
    mesh: Mesh = None,
    ends: Annotated[
        list[str] | None,
        Argument(help="One VM: its paths; two VMs: both directions of their path. Without any: all paths of the mesh."),
    ] = None,
    zones: Annotated[bool, Option("--zones", help="The arguments are names of zones.")] = False,
    round_trip: Annotated[bool, Option("--round-trip", help="Round trips, which have no clock error.")] = False,
    distance_km: Annotated[
        float | None, Option(help="Distance between the ends; it separates propagation.", show_default="not known")
    ] = None,
    start: Annotated[
        str | None, Option("--from", help="RFC 3339, as in 2026-11-20T10:00:00Z.", show_default="an hour ago")
    ] = None,
    end: Annotated[str | None, Option("--to", help="RFC 3339.", show_default="now")] = None,
) -> None:
    """Show where measured delays come from: base delay, propagation, queueing (API key)."""
    query = [("selections", selection) for selection in _selections(client, ends or [], zones)]
    query.append(("metric", (Metric.ROUND_TRIP if round_trip else Metric.ONE_WAY_DELAY).value))
    given = (("distance_km", distance_km), ("from", start), ("to", end))
    query += [(name, str(value)) for name, value in given if value is not None]
    found = _answer(client, mesh, "latency-budgets", query)
    if client.as_json:
        client.print_result(found)
        return
    for item in found["items"]:
        for line in latency_budget_text.lines_of(item):
            print(line)
    print()
    for line in latency_budget_text.reference_lines(found):
        print(line)


def _selections(client: Terminal, names: Sequence[str], zones: bool) -> list[str]:
    """Return the selections of these VMs or zones, both directions."""
    if len(names) > 2:
        raise RequestRefused("Invalid request: name at most two VMs or zones.")
    if zones and not names:
        raise RequestRefused("Invalid request: --zones needs one or two names of zones.")
    kind, what = ("/v1/zones", "zone") if zones else ("/v1/vms", "VM")
    ids = [client.named(kind, name, what)["id"] for name in names]
    if not ids:
        return ["mesh"]
    if zones:
        return [f"zones:{a}:{b}" for a, b in dict.fromkeys(((ids[0], ids[-1]), (ids[-1], ids[0])))]
    if len(ids) == 1:
        return [f"from:{ids[0]}", f"to:{ids[0]}"]
    return [f"path:{ids[0]}:{ids[1]}", f"path:{ids[1]}:{ids[0]}"]


def _answer(client: Terminal, mesh: str | None, question: str, query: Sequence[tuple[str, str]]) -> Any:
    """Return the JSON of a query, at once or once its job is done."""
    path = f"/v1/meshes/{client.mesh_id(mesh)}/{question}?{urllib.parse.urlencode(query)}"
    with client.open(path) as response:
        found = json.load(response)
        if getattr(response, "status", 200) == 202:
            found = client.get(client.finished(found)["output"]["href"])
    return found


@app.command("import")
def import_file(
    file: Annotated[Path, Argument(help="File with the trace; - for standard input.")],
    mesh: Mesh = None,
    kind: Annotated[TraceKind, Option(help="Format of the trace.")] = TraceKind.CSV,
    times: Annotated[TraceTimes, Option(help="Keep the trace's times, or move them to end now.")] = TraceTimes.KEEP,
    client: Annotated[str | None, Option(help="PTPd log: name of the slave's VM.")] = None,
    server: Annotated[str | None, Option(help="PTPd log: name of the master's VM.")] = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Import a trace measured elsewhere into a mesh (API key)."""
    fields = {"kind": kind.value, "times": times.value, "client": client, "server": server}
    query = urllib.parse.urlencode({name: value for name, value in fields.items() if value})
    with terminal(url, key) as api:
        body = bytes_of(file)
        job = api.read(f"/v1/meshes/{api.mesh_id(mesh)}/imports?{query}", body)
        print(json.dumps(api.finished(job)["result"], indent=2))
