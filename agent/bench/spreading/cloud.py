"""Eight VMs with real agents in two emulated regions, and the product that publishes artifacts to them."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from lab.benchmarks.storing.product import Product, key_of, running
from sinemora.artifacts.command import blocks_of, upload
from sinemora.artifacts.models import Chunking
from sinemora.kit.commands import Terminal

from agents import BINARY, TRANSFER
from laboratory import Host, Lab, LabError, wait_until
from spreading.regions import REGIONS, Regions

VMS = 4
"""VMs in each region."""
BLOCK_BYTES = 256 << 10
FAST_MBIT = 1_000
"""Limit of the mesh where the network is to be the limit."""
_ENROLLED_S = 60.0
_SPREAD_S = 240.0
_PORT = 8420


@dataclass(frozen=True)
class Vm:
    """A VM: its host, its region, its id in the product and the state folder of its agent."""

    name: str
    region: str
    host: Host
    id: str
    state: Path


@dataclass
class Cloud:
    """The product, its client, the mesh and its VMs, four in each region."""

    lab: Lab
    regions: Regions
    product: Product
    client: Terminal
    mesh_id: str
    vms: list[Vm] = field(default_factory=list)

    @property
    def backend(self) -> str:
        """URL of the product for agents."""
        return f"http://{self.lab.gateway}:{_PORT}"

    def of(self, region: str) -> list[Vm]:
        """Return the VMs of a region."""
        return [vm for vm in self.vms if vm.region == region]

    def limit(self, rate_mbit: int) -> None:
        """Set the limit of what an agent sends and receives; agents have it when this returns."""
        path = f"/v1/meshes/{self.mesh_id}/artifact-settings"
        self.client.read(path, {"enabled": True, "rate_mbit": rate_mbit}, method="PUT")
        time.sleep(6)  # agents ask every five seconds

    def token(self) -> str:
        """Return a new enrolment token of the mesh."""
        return str(self.client.read("/v1/enrolment-tokens", {"mesh_id": self.mesh_id})["token"])

    def file(self, name: str, size: int, seed: int, *, shared: bytes = b"") -> Path:
        """Write a file that begins with `shared`; the rest of its `size` bytes is random."""
        path = self.lab.folder / "files" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(shared + np.random.default_rng(seed).bytes(size - len(shared)))
        return path

    def publish(self, file: Path, holders: Sequence[Vm]) -> str:
        """Publish a file, wait until the holders have it, and return its id."""
        blocks = list(blocks_of(file, Chunking.FIXED, BLOCK_BYTES))
        upload(self.client, file, blocks)
        body = {"name": file.name, "release": "1", "mesh_id": self.mesh_id, "chunking": "fixed", "everywhere": False}
        listed = [{"digest": digest, "size": size} for digest, _, size in blocks]
        made = self.client.read("/v1/artifacts", body | {"blocks": listed})
        self.fetch([(made["id"], vm) for vm in holders])
        return str(made["id"])

    def fetch(self, wanted: Sequence[tuple[str, Vm]]) -> dict[tuple[str, str], dict[str, Any]]:
        """Ask VMs for copies, wait until all are complete, and return the copies by artifact and VM."""
        by_artifact: dict[str, list[str]] = {}
        for artifact_id, vm in wanted:
            by_artifact.setdefault(artifact_id, []).append(vm.id)
        for artifact_id, vm_ids in by_artifact.items():
            self.client.read(f"/v1/artifacts/{artifact_id}/copies", {"vm_ids": vm_ids})
        found: dict[tuple[str, str], dict[str, Any]] = {}

        def complete() -> bool:
            for artifact_id, vm_ids in by_artifact.items():
                for copy in self.client.get(f"/v1/artifacts/{artifact_id}/copies")["items"]:
                    if copy["vm_id"] in vm_ids:
                        found[artifact_id, copy["vm_id"]] = copy
            states = [copy["state"] for copy in found.values()]
            if "refused" in states:
                raise LabError(f"a copy was refused: {next(c['note'] for c in found.values() if c['note'])}")
            return all(state == "complete" for state in states)

        wait_until("the copies", complete, _SPREAD_S)
        return found


def seconds_of(copies: dict[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Return the time of each copy from the moment its VM began to fetch the first of them, s.

    What an agent takes to notice a request (five seconds at most) does not depend on sizes, which are scaled down here.
    """
    began: dict[str, datetime] = {}
    for (_, vm_id), copy in copies.items():
        at = datetime.fromisoformat(copy["started_at"])
        began[vm_id] = min(at, began.get(vm_id, at))
    return {
        (artifact_id, vm_id): (datetime.fromisoformat(copy["completed_at"]) - began[vm_id]).total_seconds()
        for (artifact_id, vm_id), copy in copies.items()
    }


@contextmanager
def cloud() -> Iterator[Cloud]:
    """Run the product, the network and an agent on each VM. Raises LabError if not run as root."""
    if os.geteuid() != 0:
        raise LabError("The product's servers are reached from the laboratory's network by root only.")
    with running(secret_key="of the benchmark") as product, Lab() as lab:
        api = {"SINEMORA_HOST": lab.gateway, "SINEMORA_PORT": str(_PORT)}
        serving = lab.serve([sys.executable, "-m", "sinemora.cli", "serve"], "api", api)
        client = Terminal(product.url(""), key_of(product.tenant_id, "write"))
        mesh = client.read("/v1/meshes", {"name": "cloud", "window_s": 1, "rate_hz": 8})
        made = Cloud(lab, Regions(lab), product, client, mesh["id"])
        made.limit(FAST_MBIT)
        started = [_start(made, region, n) for region in REGIONS for n in range(VMS)]
        settings = f"/v1/meshes/{mesh['id']}/artifact-settings"
        try:
            wait_until("all agents", lambda: client.get(settings)["serving"] == len(started), _ENROLLED_S)
        except LabError as error:
            raise LabError(f"{error}\n{serving.output()[-2000:]}") from None
        ids = {vm["name"]: vm["id"] for vm in client.items("/v1/vms")}
        made.vms = [Vm(name, region, host, ids[name], state) for name, region, host, state in started]
        yield made


def _start(made: Cloud, region: str, n: int) -> tuple[str, str, Host, Path]:
    name = f"{region}-{n}"
    host = made.regions.host(name, region)
    state = made.lab.folder / f"state-{name}"
    command: list[str | Path] = [BINARY, "run", "--insecure-http", "--backend", made.backend]
    command += ["--token", made.token(), "--name", name, "--listen-address", host.address]
    command += ["--zone-provider", "lab", "--zone-region", region, "--zone-name", region]
    command += ["--metrics-listen", "off", "--cloud-metadata", "off", "--state-dir", state]
    host.start(command, "agent")
    transfer = ["run", "--insecure-http", "--artifacts", "--backend", made.backend]
    host.start([TRANSFER, *transfer, "--listen-address", host.address, "--state-dir", state], "transfer")
    return name, region, host, state
