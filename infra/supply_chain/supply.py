"""What the audit and the bill of materials share: lock files, tools, runs."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "toolchain"))

from common import TOOLS, VERSIONS, environment, remembered  # noqa: E402

PYTHON_LOCKS = {"backend (production)": "backend/production.lock", "backend (development)": "backend/requirements.lock"}
NPM_FOLDERS = {"frontend": "frontend", "end-to-end tests": "e2e"}
CARGO_LOCKS = {"agent": "agent/Cargo.lock"}


def python_tool(name: str) -> Path:
    """Return a tool of requirements.lock."""
    return TOOLS / "supply-chain" / "bin" / name


def cargo_tool(name: str) -> Path:
    """Return a tool that cargo has built."""
    return TOOLS / name / str(VERSIONS[name]["pinned"]) / "bin" / name


def npm() -> Path:
    """Return npm."""
    return TOOLS / "node" / "bin" / "npm"


def run(
    command: Sequence[str | Path], folder: Path = ROOT, limit_s: float = 600, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a tool, which reads what is `given`, and return its outcome.

    A tool that is missing or takes too long ends with 127.
    """
    # npm's own audit is off for installs; here it is the purpose.
    env = environment() | {"npm_config_audit": "true", "npm_config_loglevel": "error"}
    if cargo := remembered().get("cargo"):
        env["PATH"] = os.pathsep.join([str(Path(cargo).parent), env["PATH"]])
    try:
        return subprocess.run(
            command, cwd=folder, env=env, input=given, capture_output=True, text=True, check=False, timeout=limit_s
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(command), 127, "", f"{command[0]}: {error}")
