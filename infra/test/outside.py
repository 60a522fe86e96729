"""Agents of this machine, outside the containers."""

import os
import shutil
import subprocess
from pathlib import Path

from engine import ROOT

Process = subprocess.Popen[bytes]
AGENT = ROOT / "agent/target/debug/sinemora-agent"


def start_agent(state: Path, name: str, address: str, token: str, backend: str, ca_file: Path | None = None) -> Process:
    """Start an agent that measures at `address` and enrols with `token`; its log is `state` with the suffix `.log`."""
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    env = os.environ | {
        "SINEMORA_AGENT_BACKEND": backend,
        "SINEMORA_AGENT_TOKEN": token,
        "SINEMORA_AGENT_NAME": name,
        "SINEMORA_AGENT_LISTEN_ADDRESS": address,
        "SINEMORA_AGENT_METRICS_LISTEN": "off",
        "SINEMORA_AGENT_STATE_DIR": str(state),
    }
    if ca_file is not None:
        env["SINEMORA_AGENT_CA_FILE"] = str(ca_file)
    with state.with_suffix(".log").open("wb") as log:
        return subprocess.Popen([AGENT, "run"], env=env, stdout=log, stderr=log, cwd=state)
