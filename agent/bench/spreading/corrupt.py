"""Blocks with one wrong bit: a peer sends them, and no agent may accept one."""

import hashlib
import sys
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from sinemora.artifacts.command import blocks_of
from sinemora.artifacts.models import Chunking

from agents import TRANSFER
from laboratory import LabError, wait_until
from spreading.cloud import BLOCK_BYTES, Cloud

IMAGE_BYTES = 10_000_000
_ATTEMPTS = 4


def run(cloud: Cloud, seed: int) -> None:
    """Report the blocks on the disks of all VMs that are not those of the file, after a liar was among the sources."""
    for attempt in range(_ATTEMPTS):
        file = cloud.file(f"image-{attempt}", IMAGE_BYTES, seed + attempt)
        copies, sent = _fetched_from_liar(cloud, file, f"liar-{attempt}")
        if sent:
            break
        sys.stderr.write("all blocks came from the backend before a VM asked the liar: again\n")
    else:
        raise LabError("nobody asked the liar for a block")
    blocks = list(blocks_of(file, Chunking.FIXED, BLOCK_BYTES))
    named = sum(bool(copy["corrupt_from"]) for copy in copies.values())
    accepted = 0
    for vm in cloud.vms:
        held = [path for path in (vm.state / "artifacts" / "blocks").rglob("*") if path.is_file()]
        names = {path.name for path in held if hashlib.sha256(path.read_bytes()).hexdigest() == path.name}
        accepted += len(held) - len(names) + len({digest for digest, _, _ in blocks} - names)
        read = vm.host.run("sh", "-c", f"{TRANSFER} read {file.name} --state-dir {vm.state} | sha256sum").split()[0]
        accepted += read != hashlib.sha256(file.read_bytes()).hexdigest()
    figures.report("artifacts_corrupt_blocks_accepted", accepted, sent=sent, named_by=named, vms=len(cloud.vms))


def _fetched_from_liar(cloud: Cloud, file: Path, name: str) -> tuple[dict[tuple[str, str], dict[str, Any]], int]:
    """Return the copies that all VMs fetched while a liar said that it holds a file, and the corrupt blocks it sent."""
    artifact_id = cloud.publish(file, [])
    host = cloud.regions.host(name, "west")
    program = [sys.executable, str(Path(__file__).with_name("liar.py"))]
    liar = host.start([*program, host.address, cloud.backend, cloud.token(), artifact_id, name], name)
    liar.require("the liar", "serving")
    path = f"/v1/artifacts/{artifact_id}"
    ids = {vm["name"]: vm["id"] for vm in cloud.client.items("/v1/vms")}
    cloud.client.read(f"{path}/copies", {"vm_ids": [ids[name]]})
    wait_until("the liar's copy", lambda: cloud.client.get(path)["complete"] == 1)
    copies = cloud.fetch([(artifact_id, vm) for vm in cloud.vms])
    return copies, liar.output().count("corrupt block sent")
