"""Brings the toolchain and builds what a goal needs: `python3 infra/toolchain/prepare.py up|test|setup|…`.

Only Python is needed to start; this first file is written so that an old one can still say what it lacks.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Sinemora needs Python 3.11 or newer, and this is %d.%d.\nIf there is a newer one: make PYTHON=/path/to/python3"
        % sys.version_info[:2]
    )

import os
import subprocess
from pathlib import Path

import builds
import laboratory
import tools
from common import ROOT, TOOLS, environment
from settings import demo_agents, setting
from steps import Steps

UV = ("uv", "uv", tools.uv)
BACKEND = ("Installing the backend", "backend", builds.backend)
NODE = ("Node", "node", tools.node)
FRONTEND_DEPENDENCIES = ("Installing the front end", "frontend-dependencies", builds.frontend_dependencies)
FRONTEND = ("Building the front end", "frontend", builds.frontend)
RUST = ("Rust", "rust", tools.rust)
RUST_LINT = ("clippy and rustfmt", "rust-lint", tools.rust_lint)
AGENT = ("Building the agent", "agent", builds.agent)
CHROMIUM = ("Chromium", "chromium", tools.chromium)
CURL = ("curl", "curl", tools.curl)
OPENSSL = ("openssl", "openssl", laboratory.certificates)
E2E = ("Installing the end-to-end tests", "e2e-dependencies", builds.e2e_dependencies)
NETWORK = ("Network tools", "network", laboratory.network)
CXX = ("C++ compiler", "cxx", laboratory.cxx)
GO = ("Go", "go", tools.go)
PTP4U = ("ptp4u", "ptp4u", laboratory.ptp4u)
DAEMONS = ("Stock PTP daemons", "ptp-daemons", laboratory.daemons)
REDIS = ("redis-benchmark", "redis", laboratory.redis)
MEMCACHED = ("memcached", "memcached", laboratory.memcached)

NFPM = ("nfpm", "nfpm", laboratory.nfpm)
RPM = ("rpm", "rpm", laboratory.rpm)

GOALS = {
    "uv": [UV],
    "backend": [UV, BACKEND],
    "test-backend": [UV, BACKEND, RUST, AGENT, CURL, NETWORK, REDIS],
    "frontend": [UV, NODE, FRONTEND_DEPENDENCIES],
    "agent": [RUST, RUST_LINT, OPENSSL],
    "test-interop": [UV, BACKEND, RUST, AGENT, NETWORK, DAEMONS, GO, PTP4U],
    "bench-curves": [UV, BACKEND, RUST, AGENT, NETWORK, MEMCACHED, REDIS],
    "bench-agent": [UV, BACKEND, RUST, AGENT, NETWORK, DAEMONS],
    "fuzz-agent": [RUST, CXX],
    "packages": [RUST, GO, NFPM, OPENSSL],
    "test-packages": [RPM],
    "compose": [UV, RUST, AGENT, NODE, CHROMIUM, E2E],
    "setup": [UV, BACKEND, NODE, FRONTEND_DEPENDENCIES, FRONTEND, RUST, AGENT],
    "tools": [UV, BACKEND, NODE, FRONTEND_DEPENDENCIES, E2E, RUST, RUST_LINT],
    "test": [
        UV,
        BACKEND,
        NODE,
        FRONTEND_DEPENDENCIES,
        FRONTEND,
        RUST,
        RUST_LINT,
        AGENT,
        CHROMIUM,
        CURL,
        NETWORK,
        REDIS,
        DAEMONS,
        GO,
        PTP4U,
        OPENSSL,
        CXX,
        E2E,
    ],
}
RUNS_ALREADY, REFUSALS = 3, (4, 5)  # answers of `sinemora check`: 4 the port is taken, 5 a setting cannot be
SUPERVISOR_STEPS = 5  # what `sinemora up` counts itself: see backend/sinemora/embedded/launch.py


def main(goal: str) -> None:
    """Run the steps of `goal`; for `up` go on as the supervisor."""
    steps = list(GOALS["setup" if goal == "up" else goal])
    if goal == "up":
        _stop_if_running()
        if demo_agents() == 0:
            steps = [step for step in steps if step not in (RUST, AGENT)]
    progress = Steps(len(steps) + (SUPERVISOR_STEPS if goal == "up" else 0))
    for step in steps:
        progress.run(*step)
        if step is BACKEND and step is not steps[-1]:
            builds.loops_beside()
    if goal == "up":
        env = environment() | {"SINEMORA_STEPS_DONE": progress.hand_over()}
        os.chdir(ROOT)
        sys.stdout.flush()
        os.execve(builds.PYTHON, [str(builds.PYTHON), "-m", "sinemora.embedded", "up"], env)


def _stop_if_running() -> None:
    """Building over a running product would pull its files away, and a taken port is better told before the builds."""
    if not (builds.PYTHON.exists() and (TOOLS / "stamps" / "backend").exists()):
        _require_port()
        return
    command: list[str | Path] = [builds.PYTHON, "-m", "sinemora.embedded", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == RUNS_ALREADY:
        print(done.stdout, end="")
        sys.exit(0)
    if done.returncode in REFUSALS:
        sys.exit(done.stderr.strip())


def _require_port() -> None:
    """The same question about the port where the backend, who says more, is not installed yet."""
    sys.path.append(str(builds.BACKEND))
    from sinemora.embedded.ports import tcp_free, tcp_holder  # needs the standard library alone

    host, port = setting("HOST", "127.0.0.1"), setting("PORT", "8420")
    if port.isdecimal() and not tcp_free(host, int(port)):
        holder = f" by {found}" if (found := tcp_holder(int(port))) else ""
        sys.exit(f"Port {port} on {host} is taken{holder}.\nWhat to do: choose another: make up SINEMORA_PORT=…")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in (*GOALS, "up"):
        sys.exit(f"usage: prepare.py {'|'.join((*GOALS, 'up'))}")
    main(sys.argv[1])
