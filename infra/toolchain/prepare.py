"""Brings the toolchain and builds what a goal needs: `python3 infra/toolchain/prepare.py up|test|setup|…`.

Only Python is needed to start; this first file is written so that an old one can still say what it lacks.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Sinemora needs Python 3.11 or newer, and this is %d.%d.\nIf there is a newer one: make PYTHON=/path/to/python3"
        % sys.version_info[:2]
    )

import atexit
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import builds
import debian
import interpreter
import laboratory
import static_agent
import tools
from common import LOGS, ROOT, TOOLS, environment, follow_pip, use_own_programs
from settings import demo_agents, setting
from steps import Log, Step, Steps


def _programs(title: str, name: str) -> Step:
    """Return the step that brings the programs of `name` in versions.toml."""
    return Step(title, name, partial(laboratory.present, name), packages=partial(laboratory.missing, name))


UV = Step("uv", "uv", tools.uv, packages=tools.uv_missing)
BACKEND = Step("Installing the backend", "backend", builds.backend, ("uv",))
GENERATED = Step("Generating code", "generated", builds.generated, ("backend",))
NODE = Step("Node", "node", tools.node, ("uv",))
FRONTEND_DEPENDENCIES = Step(
    "Installing the front end", "frontend-dependencies", builds.frontend_dependencies, ("node",)
)
FRONTEND = Step("Building the front end", "frontend", builds.frontend, ("frontend-dependencies",))
FRONTEND_GENERATED = Step(
    "Generating types of the front end", "frontend-generated", builds.frontend_generated, ("frontend-dependencies",)
)
RUST = Step("Rust", "rust", tools.rust, packages=tools.rust_missing)
RUST_LINT = Step("clippy and rustfmt", "rust-lint", tools.rust_lint, ("rust",), tools.rust_lint_missing)
NATIVE = Step("Building the native module", "native", builds.native, ("rust", "backend"))
AGENT = Step("Building the agent", "agent", builds.agent, ("rust",))
AGENT_ARCHIVE = Step("Packing the agent", "agent-archive", builds.agent_archive, ("agent",))
AGENT_RELEASE = Step("Building the agent for release", "agent-release", builds.agent_release, ("rust",))
CHROMIUM = Step("Chromium", "chromium", tools.chromium, packages=tools.chromium_missing)
CURL = Step("curl", "curl", tools.curl, packages=tools.curl_missing)
E2E = Step("Installing the end-to-end tests", "e2e-dependencies", builds.e2e_dependencies, ("node",))
OPENSSL = _programs("openssl", "openssl")
NETWORK = _programs("Network tools", "network")
CXX = _programs("C++ compiler", "cxx")
DAEMONS = _programs("Standard PTP daemons", "ptp")
REDIS = _programs("redis-benchmark", "redis")
DNS = _programs("NSD and dnsperf", "dns")
MEMCACHED = _programs("memcached", "memcached")
PROXY = _programs("nginx and HAProxy", "proxy")
COMPOSE = _programs("docker-compose", "compose")
RPM = _programs("rpm", "rpm")
QEMU = Step("QEMU", "qemu", laboratory.qemu, packages=laboratory.qemu_missing)
GUEST_KERNEL = Step("Kernel of guests", "guest-kernel", laboratory.guest_kernel)
RUST_SOURCE = Step(
    "Rust's standard library as source",
    "rust-source",
    static_agent.rust_source,
    ("rust",),
    static_agent.rust_source_missing,
)
ZIG = Step("Zig", "zig", static_agent.zig, ("uv",))
GO = Step("Go", "go", tools.go, ("uv",))
LINUXPTP = Step("linuxptp 4", "linuxptp", laboratory.linuxptp, ("ptp",))
PTP4U = Step("ptp4u", "ptp4u", laboratory.ptp4u, ("go",))
VERSITYGW = Step("versitygw", "versitygw", laboratory.versitygw, ("go",))
HELM = Step("Helm", "helm", laboratory.helm, ("go",))
TERRAFORM = Step("Terraform", "terraform", laboratory.terraform, ("go",))
SHELLCHECK = _programs("shellcheck", "shellcheck")
CARGO_DEB = Step("cargo-deb", "cargo-deb", laboratory.cargo_deb, ("rust",))
CARGO_AUDIT = Step("cargo-audit", "cargo-audit", laboratory.cargo_audit, ("rust",))
SUPPLY_CHAIN = Step("pip-audit and cyclonedx-py", "supply-chain", laboratory.supply_chain, ("uv",))
CARGO_RPM = Step("cargo-generate-rpm", "cargo-generate-rpm", laboratory.cargo_generate_rpm, ("rust",))

PRODUCT = (UV, BACKEND, GENERATED, RUST, NATIVE)
GOALS = {
    "uv": [UV],
    "backend": [*PRODUCT],
    "test-backend": [*PRODUCT, AGENT, CURL, NETWORK, PROXY, COMPOSE, REDIS, DNS, NODE, SUPPLY_CHAIN, GO, VERSITYGW],
    "frontend": [UV, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED],
    "agent": [RUST, RUST_LINT, OPENSSL],
    "agent-build": [RUST, AGENT, AGENT_ARCHIVE],
    "test-interop": [*PRODUCT, AGENT, NETWORK, DAEMONS, LINUXPTP, GO, PTP4U],
    "bench-agent": [*PRODUCT, AGENT_RELEASE, NETWORK, DAEMONS, LINUXPTP, GO, PTP4U],
    "bench-scale": [*PRODUCT, CURL],
    "bench-security": [*PRODUCT, AGENT_RELEASE, NETWORK],
    "bench-badday": [*PRODUCT, PROXY],
    "bench-traffic": [*PRODUCT, AGENT_RELEASE, NETWORK, DNS, MEMCACHED, GO, TERRAFORM, SHELLCHECK],
    "soak": [*PRODUCT, AGENT, NODE, FRONTEND_DEPENDENCIES, FRONTEND, GO, VERSITYGW],
    "bench-ui": [*PRODUCT, NODE, FRONTEND_DEPENDENCIES, FRONTEND, E2E, CHROMIUM],
    "fuzz-agent": [RUST, CXX],
    "packages": [RUST, RUST_SOURCE, UV, ZIG, CARGO_DEB, CARGO_RPM, OPENSSL, NODE, SUPPLY_CHAIN],
    "sbom": [UV, NODE, RUST, SUPPLY_CHAIN],
    "audit": [UV, NODE, RUST, SUPPLY_CHAIN, CARGO_AUDIT],
    "test-packages": [RPM, DNS, OPENSSL],
    "test-guests": [*PRODUCT, AGENT, CURL, NETWORK, QEMU, GUEST_KERNEL],
    "test-chart": [UV, BACKEND, GENERATED, GO, HELM],
    "screenshots": [UV, NODE, FRONTEND_DEPENDENCIES, FRONTEND, E2E, CHROMIUM],
    "compose": [UV, RUST, AGENT, NODE, CHROMIUM, E2E],
    "setup": [*PRODUCT, AGENT, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED, FRONTEND],
    "tools": [*PRODUCT, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED, E2E, RUST_LINT],
    "check": [*PRODUCT, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED, RUST_LINT],
    "generated": [UV, BACKEND, GENERATED, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED],
    "test": [
        *(*PRODUCT, AGENT, NODE, FRONTEND_DEPENDENCIES, FRONTEND_GENERATED, FRONTEND, E2E, CHROMIUM, CURL),
        *(
            SUPPLY_CHAIN,
            RUST_LINT,
            CXX,
            OPENSSL,
            NETWORK,
            PROXY,
            COMPOSE,
            REDIS,
            DNS,
            DAEMONS,
            LINUXPTP,
            GO,
            PTP4U,
            VERSITYGW,
        ),
        *(QEMU, GUEST_KERNEL),
    ],
}
RUNS_ALREADY, REFUSALS = 3, (4, 5)  # answers of `sinemora check`: 4 the port is taken, 5 a setting cannot be
SUPERVISOR_STEPS = 6  # what `sinemora up` counts itself: see backend/sinemora/operations/embedded/up.py


def main(goal: str) -> None:
    """Run the steps of `goal`; for `up` continue as the supervisor."""
    use_own_programs()
    follow_pip()
    if goal in ("test", "check"):
        _note_begin(goal)
    steps = list(GOALS["setup" if goal == "up" else goal])
    after: dict[str, Callable[[], None]] = {}
    build = _AgentBuild()
    if goal == "up":
        _stop_if_running()
        steps.remove(AGENT)  # the product is reachable while the agent is built
        steps.remove(FRONTEND_GENERATED)  # types are for editors and checks
        if demo_agents() > 0:
            after[NATIVE.name] = build.start
    if missing := sorted({package for step in steps if step.packages for package in step.packages()}):
        steps = _with_packages(steps, missing)
    progress = Steps(len(steps) + (SUPERVISOR_STEPS if goal == "up" else 0))
    progress.run(steps, after)
    if goal == "up":
        env = environment() | {"SINEMORA_STEPS_DONE": progress.hand_over()} | build.hand_over()
        os.chdir(ROOT)
        sys.stdout.flush()
        os.execve(builds.PYTHON, [str(builds.PYTHON), "-m", "sinemora.operations.embedded", "up"], env)


def _note_begin(goal: str) -> None:
    """Note when `make test` or `make check` began and whether anything was built before: its time includes set-up."""
    clean = not (TOOLS / "stamps").exists()
    TOOLS.mkdir(exist_ok=True)
    (TOOLS / "test-began.json").write_text(json.dumps({"goal": goal, "at": time.time(), "clean": clean}), "utf-8")


def _with_packages(steps: list[Step], missing: list[str]) -> list[Step]:
    """Put one step in front that brings all Debian packages that are missing, and let those that need it wait."""
    waiting = {step.name for step in steps if step.packages and step.packages()}

    def bring(log: Log) -> str:
        debian.install(missing, f"Packages are missing: {', '.join(missing)}.", log)
        return f"{len(missing)}{'' if os.geteuid() == 0 else ', in .tools'}"

    first = Step("Debian packages", "debian", bring)
    return [
        first,
        *(replace(step, needs=(*step.needs, first.name)) if step.name in waiting else step for step in steps),
    ]


class _AgentBuild:
    """The build of the agent in a process of its own, which the supervisor adopts."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start to build, with lower priority than the product, unless the agent is built already."""
        if builds.agent_is_built():
            return
        with (LOGS / "agent-build.log").open("w") as out:
            self._process = subprocess.Popen(
                ["nice", "-n", "10", sys.executable, __file__, "agent-build"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                process_group=0,
            )
        atexit.register(self._stop)  # not reached by way of exec

    def hand_over(self) -> dict[str, str]:
        """Return the environment by which the supervisor knows the process."""
        return {"SINEMORA_AGENT_BUILD": str(self._process.pid)} if self._process else {}

    def _stop(self) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)


def _stop_if_running() -> None:
    """End here when the product runs or its port is taken: builds would pull the files of a running product away."""
    if not (builds.PYTHON.exists() and (TOOLS / "stamps" / "backend").exists()):
        _require_port()
        return
    command: list[str | Path] = [builds.PYTHON, "-m", "sinemora.operations.embedded", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == RUNS_ALREADY:
        print(done.stdout, end="")
        sys.exit(0)
    if done.returncode in REFUSALS:
        sys.exit(done.stderr.strip())


def _require_port() -> None:
    """End here when the port is taken; for a backend that is not installed yet and could say more."""
    sys.path.append(str(builds.BACKEND))
    from sinemora.operations.embedded.ports import tcp_free, tcp_holder  # needs the standard library alone

    host, port = setting("HOST", "127.0.0.1"), setting("PORT", "8420")
    if port.isdecimal() and not tcp_free(host, int(port)):
        holder = f" by {found}" if (found := tcp_holder(int(port))) else ""
        sys.exit(f"Port {port} on {host} is taken{holder}.\nWhat to do: choose another: make up SINEMORA_PORT=…")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in (*GOALS, "up"):
        sys.exit(f"usage: prepare.py {'|'.join((*GOALS, 'up'))}")
    interpreter.use_oldest()
    main(sys.argv[1])
