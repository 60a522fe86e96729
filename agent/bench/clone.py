"""A copied identity: time until the backend and the copy know of it. Both agents ask a real API for their plan."""

import json
import shutil
import tempfile
import time
from pathlib import Path

from lab.benchmarks import figures
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
        original.mkdir(mode=0o700)
        ids = {"agent_id": str(world.vm_ids[0]), "vm_id": str(world.vm_ids[0]), "tenant_id": str(product.tenant_id)}
        identity = {**ids, "vm_key": world.vm_keys[0], "credential": world.credentials[0], "backend": url}
        (original / "identity.json").write_text(json.dumps(identity), "utf-8")
        (original / "identity.json").chmod(0o600)
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
    settings = {
        **{"backend": backend, "state-dir": state, "listen-address": "127.0.0.1", "cloud-metadata": "off"},
        **{"event-port": port, "general-port": port + 1},
    }
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return Process([BINARY, "run", "--insecure-http", *flags], state.with_suffix(".log"), None)
