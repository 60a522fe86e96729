"""`sinemora measure`: measure one pair now and print each second as it arrives."""

import time
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Exit, Option, Typer

from sinemora_client.commands import Mesh, Terminal, api_command

app = Typer(rich_markup_mode=None)

_OVER = ("completed", "stopped", "no_data")
_POLL_S = 0.5


@api_command(app)
def measure(
    client: Terminal,
    source: Annotated[str, Argument(help="Name or id of the source VM.")],
    target: Annotated[str, Argument(help="Name or id of the target VM.")],
    mesh: Mesh = None,
    rate: Annotated[int, Option(help="Exchanges per second: 1, 2, 4 … 128.")] = 128,
    duration: Annotated[int, Option(help="Duration, s: 5 to 60.")] = 60,
    source_ports: Annotated[int, Option(help="Source ports that share the rate: 1, 2, 4 … 64.")] = 1,
    ecn: Annotated[bool, Option("--ecn", help="Send ECN-capable packets and count their marks.")] = False,
    reordering: Annotated[bool, Option("--reordering", help="Send packets in pairs and compare their order.")] = False,
    output: Annotated[Path | None, Option(help="File for every exchange as CSV.", show_default="no file")] = None,
) -> None:
    """Measure one pair now and print each second (API key). Ctrl-C stops the measurement."""
    body = {
        "mesh_id": client.mesh_id(mesh),
        "source_vm_id": client.named("/v1/vms", source, "VM")["id"],
        "target_vm_id": client.named("/v1/vms", target, "VM")["id"],
        "rate_hz": rate,
        "duration_s": duration,
        "source_ports": source_ports,
        "ecn": ecn,
        "reordering": reordering,
    }
    made = client.read("/v1/on-demand-measurements", body)
    url = f"/v1/on-demand-measurements/{made['id']}"
    if not client.as_json:
        print(f"{made['source']['name']} → {made['target']['name']}, {rate}/s for {duration} s")
        print("time      sent   out p50     p99  lost   back p50     p99  lost   (delays in µs)")
    try:
        result = _follow(client, url)
    except KeyboardInterrupt:
        client.read(f"{url}/stop", b"", method="POST")
        result = client.get(url)
    if output is not None:
        with output.open("wb") as file:
            client.save(file, f"{url}/exchanges")
    if client.as_json:
        client.print_result(result)
    else:
        print(f"total     {_line(result, sum(second['sent'] for second in result['windows']))}  {result['status']}")
        for direction in ("outbound", "inbound"):
            if (probes := result[f"{direction}_probes"]) is not None:
                print(f"{direction:10s}{_probes(probes)}")
        if source_ports > 1:
            ends = "paths/{source_vm_id}/{target_vm_id}".format_map(body)
            advice = client.get(f"/v1/meshes/{body['mesh_id']}/{ends}/source-ports")
            print(advice["words"])
            print("faster    ", *advice["faster"])
    if result["status"] == "no_data":
        raise Exit(1)


def _follow(client: Terminal, url: str) -> Any:
    """Print the seconds of a measurement as they arrive, and return it when it is over."""
    printed = 0
    while True:
        result = client.get(url)
        for second in result["windows"][printed:]:
            if not client.as_json:
                print(f"{second['started_at'][11:19]}  {_line(second, second['sent'])}", flush=True)
        printed = len(result["windows"])
        if result["status"] in _OVER:
            return result
        time.sleep(_POLL_S)


def _probes(probes: dict[str, int]) -> str:
    """Return the counts of a direction by ECN field and order; 0 of 0 is not observed."""
    known, pairs = probes["ecn_known"], probes["pairs"]
    words = f"{probes['ce']} marked, {probes['cleared']} cleared, {probes['altered']} altered of {known} ECN-capable"
    return f"{words}; {probes['reversed']} of {pairs} pairs reversed"


def _line(second: dict[str, Any], sent: int) -> str:
    cells = [f"{sent:4d}"]
    for direction in ("outbound", "inbound"):
        part = second[direction]
        delays = ["–" if part[name] is None else f"{part[name] / 1e3:.1f}" for name in ("p50_ns", "p99_ns")]
        cells.append(f"{delays[0]:>9}{delays[1]:>8}{part['lost']:6d}")
    return "  ".join(cells)
