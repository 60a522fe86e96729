"""A copied identity: time until the backend and the copy know of it. Both agents ask a real API for their plan."""

import json
import shutil
import tempfile
import time
from pathlib import Path

from lab.benchmarks import figures
from lab.benchmarks.agent_process import command_of, enrol
from lab.benchmarks.storing.product import running

from agents import BINARY
from laboratory import Process, wait_until

WITHIN_S = 300
_REFUSED = "another machine has the identity of this agent"


def run() -> None:
    """Start an agent, then a copy of its state folder, and wait until both ends tell."""
    with running() as product, tempfile.TemporaryDirectory(prefix="sinemora-clone-") as folder:
        world = product.world("clone", 2)
        url, original = product.url(""), Path(folder) / "original"
        enrol(original, url, product.tenant_id, world.vm_ids[0], world.vm_keys[0], world.credentials[0])
        agents = [_start(original, url, 10_319)]
        try:
            agents[0].require("its plan", "new plan")
            copy = shutil.copytree(original, Path(folder) / "copy")
            agents.append(_start(copy, url, 10_419))
            since_s = time.monotonic()
            wait_until("the refusal of the copy", lambda: _REFUSED in agents[1].output(), WITHIN_S)
            wait_until(
                "the notice", lambda: json.loads(product.get("/v1/overview"))["attention"]["copied"]["count"], 30
            )
            figures.report("agent_clone_noticed_s", round(time.monotonic() - since_s, 1))
            figures.comment(f"the original is refused: {_REFUSED in agents[0].output()}")
        finally:
            for agent in agents:
                agent.stop()


def _start(state: Path, backend: str, port: int) -> Process:
    ports = {"event_port": port, "general_port": port + 1}
    command = command_of(
        BINARY, backend=backend, state_dir=state, listen_address="127.0.0.1", cloud_metadata="off", **ports
    )
    return Process(command, state.with_suffix(".log"))
