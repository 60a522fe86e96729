"""`sinemora advise shaping`, `burst-receiver` and `tails`: token buckets of paths, and the retransmission tail."""

import json
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import CommandError, Mesh, Terminal, api_command, check_writable, write_text, yaml_of
from sinemora_client.models import Direction

app = Typer(rich_markup_mode=None)

_PAYLOADS = {False: 1_400, True: 200}
"""Bytes of the large and of the small packets of a burst, without headers."""


@app.command("burst-receiver")
def burst_receiver(
    port: Annotated[int, Option(help="TCP and UDP port.")] = 5319,
    address: Annotated[str, Option(help="Address to listen on; all if empty.")] = "",
    once: Annotated[bool, Option(help="Exit after one sender.")] = False,
) -> None:
    """Receive bursts of `advise shaping` on this VM. Needs no API key; runs until Ctrl-C."""
    from sinemora.advisors.shaping import burst

    with suppress(KeyboardInterrupt):
        burst.receive(address, port, once, _print_port)


@api_command(app)
def shaping(
    client: Terminal,
    host: Annotated[str, Argument(help="VM on which `sinemora advise burst-receiver` runs.")],
    rate_mbit: Annotated[float | None, Option(help="Rate of a burst.", show_default="as fast as possible")] = None,
    packets: Annotated[int, Option(help="Packets of a burst.")] = 4_000,
    bursts: Annotated[int, Option(min=1, max=5, help="Number of bursts.")] = 3,
    rest_s: Annotated[float, Option(min=0, help="Rest between bursts, in which the bucket fills.")] = 2.0,
    small: Annotated[bool, Option("--small", help="Also send bursts of small packets: bytes or packets?")] = False,
    use_mbit: Annotated[float | None, Option(help="Use for the forecast.")] = None,
    application: Annotated[
        Path | None, Option(metavar="FILE", help="YAML file with facts of the application, for the checks.")
    ] = None,
    save: Annotated[str | None, Option(metavar="VM", help="Save the bucket as that of this VM.")] = None,
    direction: Annotated[Direction, Option(help="Traffic of the VM that takes tokens, with --save.")] = "sent",
    port: Annotated[int, Option(help="Port of the receiver.")] = 5319,
    output: Annotated[Path | None, Option(help="Write the bursts to a file, for the page Shaping.")] = None,
) -> None:
    """Send bursts to another VM and detect a token bucket on the path. Loads it for less than a second a burst."""
    body: dict[str, Any] = {"use_mbit": use_mbit}
    if application is not None:
        body["application"] = yaml_of(application)
    # A wrong name must not cost the bursts.
    vm = None if save is None else client.named("/v1/vms", save, "VM")
    check_writable(output)
    kinds = [*[False] * bursts, *([True] * bursts if small else [])]
    body["trains"] = _trains(host, packets, rate_mbit, kinds, rest_s, port)
    if output is not None:
        write_text(json.dumps({"trains": body["trains"], "sender": socket.gethostname()}), output)
    result = client.read("/v1/advisors/token-buckets", body)
    bucket = result["bucket"]
    if bucket is None:
        client.print_result(result)
        client.print_line(f"No token bucket ({result['reason']}); {result['capacity_mbit'] or 0:.4g} Mbit/s received.")
        return
    _print_bucket(client, result, use_mbit)
    if vm is not None:
        saved = {name: bucket[name] for name in ("rate_mbit", "burst_kb")}
        stored = saved | {"direction": direction, "source": "detected"}
        client.read(f"/v1/vms/{vm['id']}/token-bucket", stored, method="PUT")
        client.print_line(f"Saved as the token bucket of {vm['name']}. See `sinemora token-buckets list`.")


@api_command(app, "packet-treatment")
def packet_treatment(
    client: Terminal,
    host: Annotated[str, Argument(help="VM on which `sinemora advise burst-receiver` runs.")],
    rate_mbit: Annotated[float | None, Option(help="Rate of a burst.", show_default="as fast as possible")] = None,
    packets: Annotated[int, Option(min=200, max=20_000, help="Packets of a burst.")] = 4_000,
    dscp: Annotated[int, Option(min=1, max=63, help="Class to compare with the default one.")] = 46,
    port: Annotated[int, Option(help="Port of the receiver.")] = 5319,
    output: Annotated[Path | None, Option(help="Write the bursts to a file, for the page Shaping.")] = None,
) -> None:
    """Send bursts of mixed packets: does the path prefer small packets or a class? It must be loaded to show it."""
    from sinemora.advisors.shaping import burst

    rate = None if rate_mbit is None else rate_mbit * 125_000
    check_writable(output)
    kinds = ([(64, 0), (1_400, 0)], [(1_400, 0), (1_400, dscp)])
    try:
        bursts = [asdict(burst.send_mixed(host, packets, mix, rate, port)) for mix in kinds]
    except burst.BurstError as error:
        raise CommandError(str(error)) from error
    if output is not None:
        write_text(json.dumps({"bursts": bursts}), output)
    answers = [client.read("/v1/advisors/packet-treatments", each) for each in bursts]
    result = {"by_size": answers[0]["by_size"], "by_class": answers[1]["by_class"]}
    rows = [
        (name, item["verdict"].replace("_", " "), item["evidence"], item["explanation"])
        for name, item in (("size", result["by_size"]), ("class", result["by_class"]))
    ]
    client.print_result(result, ("by", "verdict", "evidence", "explanation"), rows)


@api_command(app)
def tails(
    client: Terminal,
    mesh: Mesh = None,
    minutes: Annotated[int, Option(help="Look-back, minutes.")] = 1_440,
) -> None:
    """Look for one retransmission timeout (195 to 235 ms) in the metric sources of a mesh."""
    result = client.get(f"/v1/meshes/{client.mesh_id(mesh)}/retransmission-tails", minutes=minutes)
    rows = [(item["name"], "found" if item["found"] else "not found", item["evidence"]) for item in result]
    client.print_result(result, ("metric source", "retransmission tail", "evidence"), rows)


@api_command(app, "connection-timeouts")
def connection_timeouts(
    client: Terminal,
    mesh: Mesh = None,
    minutes: Annotated[int, Option(help="Look-back, minutes.")] = 1_440,
) -> None:
    """Show how often TCP connections of VMs waited for a retransmission timeout, by peer."""
    result = client.get(f"/v1/meshes/{client.mesh_id(mesh)}/connection-timeouts", minutes=minutes)
    rows = [
        (item["vm_name"], item["peer_vm_name"] or "others", "found" if item["found"] else "not found",
         "-" if item["stall_ms"] is None else f"{item['stall_ms']:.4g} ms", item["evidence"])
        for item in result["items"]
    ]  # fmt: skip
    client.print_result(result, ("VM", "peer", "195 to 235 ms", "mean wait", "evidence"), rows)
    if not result["vms_reporting"]:
        client.print_line("No agent reads connections. Set `tcp_connections = true` in agent.toml of a VM.")


def _trains(
    host: str, packets: int, rate_mbit: float | None, kinds: list[bool], rest_s: float, port: int
) -> list[dict[str, Any]]:
    """Send bursts of large (False) or small packets with rests between them. CommandError if one fails."""
    from sinemora.advisors.shaping import burst

    trains = []
    for number, small in enumerate(kinds):
        if number:
            time.sleep(rest_s)
        try:
            sent = burst.send(host, packets, _PAYLOADS[small], None if rate_mbit is None else rate_mbit * 125_000, port)
        except burst.BurstError as error:
            raise CommandError(str(error)) from error
        trains.append({"packet_bytes": sent.packet_bytes, "sent_ns": sent.sent_ns, "received_ns": sent.received_ns})
    return trains


def _print_bucket(client: Terminal, result: dict[str, Any], use_mbit: float | None) -> None:
    bucket, forecast = result["bucket"], result["forecast"]
    rows = [(bucket["mechanism"], f"{bucket['rate_mbit']:.4g} Mbit/s", f"{bucket['burst_kb']:.4g} kB")]
    if (upper := bucket["upper"]) is not None:
        rows.append(("upper limit", f"{upper['rate_mbit']:.4g} Mbit/s", f"{upper['burst_kb']:.4g} kB"))
    client.print_result(result, ("bucket", "rate", "depth"), rows)
    if (spread := bucket["spread"]) is not None:
        client.print_line(
            f"{result['trains_with_bucket']} of {spread['bursts']} bursts show it: rates of"
            f" {spread['rate_min_mbit']:.4g} to {spread['rate_max_mbit']:.4g} Mbit/s, depths of"
            f" {spread['burst_min_kb']:.4g} to {spread['burst_max_kb']:.4g} kB."
        )
    if bucket["metered"] is not None:
        client.print_line(f"It counts {bucket['metered']}.")
    if forecast["empty_in_s"] is not None:
        client.print_line(f"Empty in {forecast['empty_in_s']:.4g} s at {use_mbit:g} Mbit/s, from full.")
    for check in result["checks"]:
        client.print_line(f"{check['id']}: {check['effect']} {check['remedy']}")


def _print_port(port: int) -> None:
    sys.stdout.write(f"Receiving bursts on port {port}.\n")
    sys.stdout.flush()
