"""Agents and `sinemora-transfer` built from this tree, on addresses of loopback."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AGENT = Path(__file__).parents[2] / "agent" / "target" / "debug" / "sinemora-agent"
TRANSFER = AGENT.with_name("sinemora-transfer")


@contextmanager
def running_agents(url: str, tokens: list[str], folder: Path, *transfer: str, subnet: int) -> Iterator[None]:
    """Run an agent for each token, at 127.0.SUBNET.1 and on, and beside it `sinemora-transfer` with these options."""
    agents = []
    for n, token in enumerate(tokens):
        own = ["run", "--backend", url, "--listen-address", f"127.0.{subnet}.{n + 1}", "--state-dir", folder / str(n)]
        command = [AGENT, *own, "--token", token, "--name", f"real-{n}", "--cloud-metadata", "off"]
        command += ["--event-port", "20319", "--general-port", "20320"]
        agents.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        agents.append(subprocess.Popen([TRANSFER, *own, *transfer], stderr=subprocess.DEVNULL))
    try:
        yield
    finally:
        for agent in agents:
            agent.terminate()
        for agent in agents:
            agent.wait()
