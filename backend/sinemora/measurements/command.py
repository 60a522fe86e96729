"""`sinemora delay-tables` and `latency-budget`: measured delays over the API."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.latency_budget import text as latency_budget_text
from sinemora.measurements.query.series.delay_tables import text_of
from sinemora_client.commands import CommandError, Mesh, Terminal, api_command

app = Typer(rich_markup_mode=None)


@api_command(app, "delay-tables")
def delay_tables(
    client: Terminal,
    source: Annotated[str, Argument(help="Name or id of the VM that plays the client.")],
    target: Annotated[str, Argument(help="Name or id of the VM that plays the server.")],
    mesh: Mesh = None,
    out: Annotated[Path, Option(metavar="FOLDER", help="Folder for outbound.csv and inbound.csv.")] = Path(),
    start: Annotated[
        str | None, Option("--from", help="RFC 3339, as in 2026-11-20T10:00:00Z.", show_default="an hour ago")
    ] = None,
    end: Annotated[str | None, Option("--to", help="RFC 3339.", show_default="now")] = None,
) -> None:
    """Write the measured delays of a path as tables of delaybox, to replay them into an application (API key)."""
    vms = [client.named("/v1/vms", name, "VM") for name in (source, target)]
    ends = (vms, vms[::-1])
    selections = [f"path:{a['id']}:{b['id']}" for a, b in ends]
    found = _answer(client, mesh, "distribution", {"selections": selections, "from": start, "to": end})
    written = []
    out.mkdir(parents=True, exist_ok=True)
    for name, (a, b), item in zip(("outbound", "inbound"), ends, found["items"], strict=True):
        if not item["count"]:
            raise CommandError(f"No data: no delays from {a['name']} to {b['name']} in this range.")
        window = f"{found['window']['from']} to {found['window']['to']}"
        file = out / f"{name}.csv"
        file.write_text(text_of(item, f"{a['name']} to {b['name']}, {item['count']} delays, {window}"), "utf-8")
        median_ns = item["quantiles_ns"]["p50"]
        written.append({"file": str(file), "delays": item["count"], "median_ns": median_ns})
        client.print_line(
            f"{file}: {item['count']} delays from {a['name']} to {b['name']}, median {median_ns / 1e3:.1f} µs"
        )
    replays = " ".join(f"--replay {one['file']}" for one in written)
    client.print_line(f"Replay: sinemora profile RECIPE {replays}")
    client.print_result(written)


@api_command(app, "latency-budget")
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
    query = {
        "selections": _selections(client, ends or [], zones),
        "metric": (Metric.ROUND_TRIP if round_trip else Metric.ONE_WAY_DELAY).value,
        "distance_km": distance_km,
        "from": start,
        "to": end,
    }
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
        raise CommandError("Invalid request: name at most two VMs or zones.")
    if zones and not names:
        raise CommandError("Invalid request: --zones needs one or two names of zones.")
    kind, what = ("/v1/zones", "zone") if zones else ("/v1/vms", "VM")
    ids = [client.named(kind, name, what)["id"] for name in names]
    if not ids:
        return ["mesh"]
    if zones:
        return [f"zones:{a}:{b}" for a, b in dict.fromkeys(((ids[0], ids[-1]), (ids[-1], ids[0])))]
    if len(ids) == 1:
        return [f"from:{ids[0]}", f"to:{ids[0]}"]
    return [f"path:{ids[0]}:{ids[1]}", f"path:{ids[1]}:{ids[0]}"]


def _answer(client: Terminal, mesh: str | None, question: str, query: Mapping[str, Any]) -> Any:
    """Return the JSON of a query, at once or once its job is done."""
    return client.get_or_wait(f"/v1/meshes/{client.mesh_id(mesh)}/{question}", **query)
