"""`sinemora artifacts`: publish files to the VMs of a mesh, watch them spread, fetch them."""

import hashlib
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import sinemora_native
from typer import Argument, Option, Typer

from sinemora.artifacts.models import Chunking
from sinemora.kit.percent import percent
from sinemora_client.commands import CommandError, Mesh, Terminal, api_command

app = Typer(rich_markup_mode=None)
artifacts = Typer(
    rich_markup_mode=None, help="Publish files that VMs bring each other, watch them spread, fetch them (API key)."
)
app.add_typer(artifacts, name="artifacts")
_ASKED_AT_ONCE = 5_000
_POLL_S = 1.0
_WAITS = {
    "distribution": "artifacts are off in this mesh",
    "agent": "this VM has no agent",
    "request": "its sinemora-transfer has not asked for artifacts for a minute",
}


@api_command(artifacts)
def publish(
    client: Terminal,
    file: Annotated[Path, Argument(help="File to publish.", exists=True, dir_okay=False)],
    release: Annotated[str, Option(help="Release, such as 1.4.2; name and release are unique.")] = "1",
    name: Annotated[str | None, Option(help="Name.", show_default="that of the file")] = None,
    mesh: Mesh = None,
    vm: Annotated[
        list[str] | None, Option(help="Only to this VM: name or id; repeatable.", show_default="every VM of the mesh")
    ] = None,
    chunking: Annotated[
        Chunking, Option(help="content finds shared parts at any offset; fixed is for files that are replaced whole.")
    ] = Chunking.CONTENT,
    block_kib: Annotated[int, Option(help="Size of blocks, KiB: fixed, or the mean.", min=16, max=1024)] = 256,
) -> None:
    """Publish a file to the agents of a mesh. Only blocks that are new are uploaded."""
    mesh_id = client.mesh_id(mesh)
    vm_ids = [client.named("/v1/vms", one, "VM")["id"] for one in vm or ()]
    blocks = list(blocks_of(file, chunking, block_kib << 10))
    uploaded = upload(client, file, blocks)
    made = client.read(
        "/v1/artifacts",
        {
            "name": name or file.name,
            "release": release,
            "mesh_id": mesh_id,
            "chunking": chunking.value,
            "everywhere": not vm_ids,
            "blocks": [{"digest": digest, "size": size} for digest, _, size in blocks],
        },
    )
    if vm_ids:
        client.read(f"/v1/artifacts/{made['id']}/copies", {"vm_ids": vm_ids})
    row = (made["id"], made["name"], made["release"], f"{made['size_bytes']:,}", len(blocks), uploaded)
    client.print_result(made, ("id", "name", "release", "bytes", "blocks", "uploaded"), [row])


@api_command(artifacts)
def status(
    client: Terminal,
    artifact: Annotated[str | None, Argument(help="Name or id; the newest release of a name.")] = None,
    wait: Annotated[
        float, Option(min=0, help="Wait until no copy is incomplete, at most this long, s; else exit with 1.")
    ] = 0,
) -> None:
    """Show the artifacts, or the copies of one: the share on each VM, and from whom it came."""
    if artifact is None:
        items = list(client.items("/v1/artifacts"))
        listed = [
            (one["name"], one["release"], f"{one['size_bytes']:,}", f"{one['complete']} of {one['copies']}", one["id"])
            for one in items
        ]
        client.print_result(items, ("name", "release", "bytes", "complete", "id"), listed)
        return
    path = f"/v1/artifacts/{_found(client, artifact)['id']}/copies"
    copies = client.get(path)
    until = time.monotonic() + wait
    while _incomplete(copies) and time.monotonic() < until:
        time.sleep(_POLL_S)
        copies = client.get(path)
    rows = [
        (
            one["name"],
            one["zone"],
            one["state"],
            percent(one["share"]),
            _rate(one),
            _done(one),
            _sources(one),
            _WAITS.get(one["waits_for"], one["note"]),
        )
        for one in copies["items"]
    ]
    client.print_result(copies, ("vm", "zone", "state", "share", "rate", "done", "from", "note"), rows)
    if wait and (left := _incomplete(copies)):
        raise CommandError(f"{left} of {len(copies['items'])} copies are incomplete after {wait:g} s.")


def _incomplete(copies: Any) -> int:
    return sum(one["state"] in ("waiting", "fetching") for one in copies["items"])


@api_command(artifacts)
def fetch(
    client: Terminal,
    artifact: Annotated[str, Argument(help="Name or id; the newest release of a name.")],
    vm: Annotated[list[str] | None, Option(help="VM that is to get a copy: name or id; repeatable.")] = None,
    output: Annotated[Path | None, Option(help="File to write here.", show_default="none")] = None,
) -> None:
    """Ask VMs to get a copy, or write the file here."""
    found = _found(client, artifact)
    if not vm and output is None:
        raise CommandError("Fetch to where? Name VMs with --vm, or a file with --output.")
    if vm:
        vm_ids = [client.named("/v1/vms", one, "VM")["id"] for one in vm]
        copies = client.read(f"/v1/artifacts/{found['id']}/copies", {"vm_ids": vm_ids})
        rows = [(one["name"], one["state"], percent(one["share"])) for one in copies["items"]]
        client.print_result(copies, ("vm", "state", "share"), rows)
    if output is not None:
        with output.open("wb") as file:
            size = client.save(file, f"/v1/artifacts/{found['id']}/content")
        if size != found["size_bytes"]:
            raise CommandError(f"{output} is incomplete: {size:,} of {found['size_bytes']:,} bytes arrived.")
        client.print_line(f"{output}: {size:,} bytes")


def blocks_of(file: Path, chunking: Chunking, size: int) -> Iterator[tuple[str, int, int]]:
    """Yield SHA-256, offset and size of each block of a file."""
    if chunking is Chunking.FIXED:
        whole = file.stat().st_size
        lengths = [min(size, whole - at) for at in range(0, whole, size)]
    else:
        lengths = sinemora_native.chunk_lengths(str(file), size // 4, size, min(4 * size, 1 << 20))
    offset = 0
    with file.open("rb") as source:
        for length in lengths:
            yield hashlib.sha256(source.read(length)).hexdigest(), offset, length
            offset += length


def upload(client: Terminal, file: Path, blocks: list[tuple[str, int, int]]) -> int:
    """Upload the blocks of a file that are not stored yet. Return how many those are."""
    missing: set[str] = set()
    digests = list(dict.fromkeys(digest for digest, _, _ in blocks))
    for first in range(0, len(digests), _ASKED_AT_ONCE):
        body = {"digests": digests[first : first + _ASKED_AT_ONCE]}
        missing |= set(client.read("/v1/artifacts/missing-blocks", body)["missing"])
    left, total = set(missing), len(missing)
    with file.open("rb") as source:
        for digest, offset, size in blocks:
            if digest not in left:
                continue
            left.remove(digest)
            source.seek(offset)
            path = f"/v1/artifact-blocks/{digest}"
            client.read(path, source.read(size), method="PUT", media_type="application/octet-stream")
            if sys.stderr.isatty():
                sys.stderr.write(f"\ruploaded {total - len(left)} of {total} blocks" + ("" if left else "\n"))
    return total


def _found(client: Terminal, artifact: str) -> Any:
    return client.named("/v1/artifacts", artifact, "artifact")


def _rate(copy: dict[str, Any]) -> str:
    return "-" if copy["rate_mbit"] is None else f"{copy['rate_mbit']:.3g} Mbit/s"


def _done(copy: dict[str, Any]) -> str:
    if copy["done_at"] is None:
        return "-"
    at = datetime.fromisoformat(copy["done_at"])
    if copy["completed_at"] is not None:
        return f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return f"in {max(0.0, (at - datetime.now(UTC)).total_seconds()):,.0f} s"


def _sources(copy: dict[str, Any]) -> str:
    total = sum(one["size_bytes"] for one in copy["sources"]) or 1
    return ", ".join(f"{one['name']} {percent(one['size_bytes'] / total, 0)}" for one in copy["sources"]) or "-"
