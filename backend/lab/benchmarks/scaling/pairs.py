"""Agents and backends of neighbouring releases in every pair and order: no path stops being measured.

Two agents of the release before and two of this one measure each other: under the backend before, under this one after
its migration, and once each agent has been replaced by the other release in its state folder. A fleet reports through
the upgrade of the backend, which must lose no report and refuse no connection.
"""

import json
import os
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from lab.benchmarks.agent_process import command_of, enrol
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.previous import ROOT, earlier
from lab.benchmarks.storing.product import Product, World
from lab.soak import store
from lab.soak.fleet import Fleet
from sinemora.fleet.inventory.models import Vm
from sinemora.kit.db import tenant_session

AGENTS, SENDERS = 4, 50
PORT = 10_319
WITHIN_S = 150.0
"""Longest time until all paths have a window that began after a change; the first plan takes some of it."""
WINDOWS_S = 20.0
"""Two windows: the first after a change may hold what was before it."""


def pairs(product: Product) -> None:
    """Count the pairs of agents that are not measured under some pair of releases, and reports lost in the upgrade."""
    world, busy = product.world("pairs", AGENTS, AGENTS), product.world("upgrade", SENDERS)
    with earlier(product) as served:
        older, newer = _built(served.code.link.resolve()), _built(ROOT)
        fleet = [_Agent(product, world, served.folder, place) for place in range(AGENTS)]
        try:
            for agent, binary in zip(fleet, (older, older, newer, newer), strict=True):
                agent.start(binary)
            failed = _failed(product, world, "the backend before")
            sending = Fleet(product.port, busy).start()
            served.upgrade()
            record = sending.stop()
            failed += _failed(product, world, "this backend")
            for agent, binary in zip(fleet, (newer, newer, older, older), strict=True):
                agent.stop()
                agent.start(binary)
            failed += _failed(product, world, "exchanged agents")
            refused = [path.name for agent in fleet for path in (agent.state / "refused").glob("*")]
        finally:
            for agent in fleet:
                agent.stop()
    lost = store.missing(busy, record.acknowledged)
    counts = {"lost_reports": len(lost), "no_connection": record.refused_connections}
    wrong = failed + len(refused) + sum(counts.values())
    counts |= {"acknowledged": len(record.acknowledged), "pairs": 3 * AGENTS * (AGENTS - 1)}
    figures.report("upgrade_pairs_failed", wrong, slowest_report_s=record.slowest_s, refused=refused, **counts)


class _Agent:
    """A place for an agent on loopback, with its state folder."""

    def __init__(self, product: Product, world: World, folder: Path, place: int) -> None:
        self.state = folder / f"agent-{place}"
        self.address = f"127.77.0.{place + 1}"
        self.backend, vm_id = product.url(""), world.vm_ids[place]
        enrol(self.state, self.backend, product.tenant_id, vm_id, world.vm_keys[place], world.credentials[place])
        with tenant_session(product.tenant_id) as session:
            vm = session.get_one(Vm, vm_id)
            vm.probe_address, vm.event_port, vm.general_port = self.address, PORT, PORT + 1
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, binary: Path) -> None:
        """Start an agent of a release."""
        settings: dict[str, object] = {
            **{"backend": self.backend, "state_dir": self.state, "listen_address": self.address},
            **{"event_port": PORT, "general_port": PORT + 1, "cloud_metadata": "off"},
        }
        with self.state.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(command_of(binary, **settings), stdout=log, stderr=log)

    def stop(self) -> None:
        """Stop it."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)


def _built(checkout: Path) -> Path:
    """Return the agent of a checkout, built for release."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "sinemora-agent"]
    subprocess.run(command, cwd=checkout / "agent", env=os.environ | {"CARGO_INCREMENTAL": "0"}, check=True)
    return checkout / "agent" / "target" / "release" / "sinemora-agent"


def _failed(product: Product, world: World, what: str) -> int:
    """Wait for a window in which all paths are measured, and return the number that are not when it does not come."""
    since_s, unmeasured = time.time() + WINDOWS_S, AGENTS * (AGENTS - 1)
    until_s = time.monotonic() + WITHIN_S
    while unmeasured and time.monotonic() < until_s:
        time.sleep(1)
        matrix: dict[str, Any] = json.loads(product.get(f"/v1/meshes/{world.mesh_id}/matrix", "application/json"))
        ended_at = matrix["window"]["to"]
        if ended_at is None or datetime.fromisoformat(ended_at).timestamp() < since_s:
            continue
        cells = [(r, c, state) for r, row in enumerate(matrix["states"]) for c, state in enumerate(row) if r != c]
        unmeasured = sum(state != "measured" for *_, state in cells)
    comment(f"{what}: {unmeasured} of {AGENTS * (AGENTS - 1)} paths without a window")
    return unmeasured
