"""`sinemora advise try` and `bulk-runs`: the bulk sender over the API."""

import time
from typing import Annotated, Any

from typer import Argument, Exit, Option, Typer

from sinemora.kit.percent import percent
from sinemora_client.commands import Mesh, Terminal, api_command

bulk = Typer(rich_markup_mode=None)
Run = Annotated[str, Argument(help="Id of the run.")]
Wait = Annotated[bool, Option(help="Wait for the end and show progress. Ctrl-C stops the run.")]

_OVER = ("completed", "stopped", "failed")
_POLL_S = 1.0


@api_command(bulk, "bulk-senders")
def bulk_senders(client: Terminal, mesh: Mesh = None) -> None:
    """Show which VMs of a mesh have the bulk sender on, their limits and transports."""
    senders = client.get(f"/v1/meshes/{client.mesh_id(mesh)}/bulk-senders")
    rows = [
        (one["vm"]["name"], f"{one['bytes_max'] / 1e6:.4g} MB", f"{one['rate_max_mbit']:.4g} Mbit/s",
         f"{one['seconds_max']} s", " ".join(one["congestion_controls"]), _words(one))
        if one["is_on"] else (one["vm"]["name"], "off", "", "", "", "")
        for one in senders
    ]  # fmt: skip
    client.print_result(senders, ("VM", "size", "rate", "time", "congestion controls", "also"), rows)


@api_command(bulk, "try")
def try_transport(
    client: Terminal,
    source: Annotated[str, Argument(help="Name or id of the sending VM.")],
    target: Annotated[str, Argument(help="Name or id of the receiving VM.")],
    mesh: Mesh = None,
    size_mb: Annotated[float, Option(help="Size of a transfer, MB.")] = 10.0,
    rounds: Annotated[int, Option(help="Transfers with each transport.")] = 5,
    a: Annotated[str, Option(help="Transport A: words as cubic, 4 (connections), mptcp, tls.")] = "",
    b: Annotated[str, Option(help="Transport B, likewise.")] = "4",
    wait: Wait = True,
) -> None:
    """Compare two transports between two VMs by alternated transfers of the bulk sender."""
    body = {
        "mesh": client.mesh_id(mesh),
        "source": source,
        "target": target,
        "size_mb": size_mb,
        "rounds": rounds,
        "a": _variant(a),
        "b": _variant(b),
    }
    _show(client, _followed(client, client.read("/v1/transport-trials", body), wait))


@api_command(bulk, "bulk-runs")
def bulk_runs(client: Terminal, run: Annotated[str | None, Argument(help="Id of one run.")] = None) -> None:
    """List trials, or show one."""
    if run is not None:
        return _show(client, client.get(f"/v1/bulk-runs/{run}"))
    items = list(client.items("/v1/bulk-runs"))
    rows = [
        (one["id"], one["created_at"][:19], one["mesh"]["name"], one["status"],
         percent(one["progress"], 0), one["error"] or "")
        for one in items
    ]  # fmt: skip
    client.print_result(items, ("id", "created", "mesh", "status", "sent", ""), rows)


@api_command(bulk, "stop-bulk-run")
def stop_bulk_run(client: Terminal, run: Run) -> None:
    """Stop a run of the bulk sender."""
    _show(client, client.read(f"/v1/bulk-runs/{run}/stop", method="POST"))


def _variant(words: str) -> dict[str, Any]:
    """Return the transport of words such as `bbr 4 tls`."""
    variant: dict[str, Any] = {}
    for word in words.split():
        if word.isdigit():
            variant["connections"] = int(word)
        elif word in ("mptcp", "tls"):
            variant[word] = True
        else:
            variant["congestion"] = word
    return variant


def _followed(client: Terminal, run: dict[str, Any], wait: bool) -> dict[str, Any]:
    url, shown = f"/v1/bulk-runs/{run['id']}", ""
    try:
        while wait and run["status"] not in _OVER:
            time.sleep(_POLL_S)
            run = client.get(url)
            line = f"{run['status']}: {percent(run['progress'], 0)} sent"
            if line != shown:
                client.print_line(line)
            shown = line
    except KeyboardInterrupt:
        run = client.read(f"{url}/stop", method="POST")
    return run


def _show(client: Terminal, run: dict[str, Any]) -> None:
    rows = [
        (one["variant"], f"{one['source']['name']} to {one['target']['name']}",
         f"{one['size_bytes'] / 1e6:.4g} MB", one["connections"],
         "-" if one["elapsed_s"] is None else f"{one['elapsed_s']:.4g} s",
         f"{one['rate_mbit']:.4g} Mbit/s" if one["rate_mbit"] else "-",
         f"{one['jain']:.3f}" if one["jain"] else "-", one["error"] or "")
        for one in run["transfers"]
    ]  # fmt: skip
    header = ("", "path", "size", "connections", "time", "rate", "Jain", "")
    client.print_result(run, header, rows)
    for one in run["disturbance"]:
        before, during = (one[f"{when}_p99_us"] for when in ("before", "during"))
        if before is not None and during is not None:
            client.print_line(f"{one['path']}: p99 {before:.4g} µs before, {during:.4g} µs while bytes were sent")
    client.print_line(run["trial"]["advice"])
    client.print_line(f"{run['id']}: {run['status']}" + (f", {run['error']}" if run["error"] else ""))
    if run["status"] == "failed":
        raise Exit(1)


def _words(sender: dict[str, Any]) -> str:
    return " ".join(name for name in ("mptcp", "tls") if sender[name])
