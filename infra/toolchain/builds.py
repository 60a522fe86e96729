"""Installs dependencies and builds what the product runs from. Every build is skipped when nothing changed."""

import shutil
import sys
from pathlib import Path

from common import ROOT, TOOLS, remembered, version_of
from stamps import fingerprint, intact, unchanged, unless_unchanged
from steps import Log
from tools import output

BACKEND = ROOT / "backend"
FRONTEND = ROOT / "frontend"
E2E = ROOT / "e2e"
AGENT = ROOT / "agent"
VENV = BACKEND / ".venv"
PYTHON = VENV / "bin" / "python"
PACKAGES = VENV / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
_MEND = "mend what the log names"
_NETWORK = "check that this machine reaches its package registries, then run the same command again"
_PROGRAMS = ("sinemora-agent", "sinemora-transfer", "sinemora-guard")
_OFFERED = ROOT / "agent" / "dist" / "install.sh"
_NOT_OF_THE_AGENT = ("bench", "fuzz", "guests", "interop", "solver", "tail", "target", "dist")
_FRONTEND_INPUTS = ["src", "help", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts"]


def backend(log: Log) -> str:
    """Install the backend's environment, exactly as locked, and the package itself in place."""
    now = fingerprint(
        [BACKEND / "pyproject.toml", BACKEND / "requirements.lock"],
        sys.version,
        str(Path(sys.executable).resolve()),
        str(ROOT),
    )
    whole = intact("backend")

    def build() -> None:
        uv = remembered()["uv"]
        version = output(PYTHON, "-c", "import sys; print(sys.version, sys.base_prefix)")
        # uv believes the list of installed packages: in a damaged environment it would mend nothing.
        if not whole or version != f"{sys.version} {sys.base_prefix}":
            log.run([uv, "venv", "--clear", "--python", sys.executable, VENV], "remove backend/.venv, then again")
        log.run([uv, "pip", "sync", "--python", PYTHON, "--require-hashes", BACKEND / "requirements.lock"], _NETWORK)
        log.run([uv, "pip", "install", "--python", PYTHON, "--no-deps", "--editable", BACKEND], _NETWORK)

    return unless_unchanged("backend", now, [VENV / "bin" / "sinemora", VENV / "bin", PACKAGES], build)


def generated(log: Log) -> str:
    """Generate the Python code that is not in git: the module of the agent's reports, and the typed client."""
    client, ingest = BACKEND / "client" / "sinemora_client", BACKEND / "sinemora" / "measurements" / "ingest"
    script = BACKEND / "hatch_build.py"
    inputs = [script, BACKEND / "client" / "generator", BACKEND / "openapi.json", BACKEND / "requirements.lock"]
    now = fingerprint([*inputs, AGENT / "wire" / "proto"])
    outputs = [client / "models.py", client / "operations", ingest / "agent_pb2.py", ingest / "agent_pb2.pyi"]
    return unless_unchanged("generated", now, outputs, lambda: log.run([PYTHON, script], _MEND))


def native(log: Log) -> str:
    """Build the Python module `sinemora_native` into the backend's environment."""
    cargo = remembered()["cargo"]
    module = PACKAGES / "sinemora_native.abi3.so"
    sources = [AGENT / part for part in ("native", "solver", "tail", "Cargo.toml", "Cargo.lock")]
    now = fingerprint(sources, output(Path(cargo).parent / "rustc", "--version"))

    def build() -> None:
        package = "sinemora-native-python"
        flags = ["--profile", "python", "--config", "native/python/cpu.toml"]
        log.run([cargo, "build", *flags, "--locked", "--package", package], _NETWORK, AGENT)
        # A new file under the old name: a process that runs keeps the one it has.
        fresh = module.with_suffix(".new")
        shutil.copyfile(AGENT / "target" / "python" / "libsinemora_native_python.so", fresh)
        fresh.replace(module)

    if not output(PYTHON, "-c", "import sinemora_native; print(True)"):
        module.unlink(missing_ok=True)
    return unless_unchanged("native", now, [module], build)


def frontend_dependencies(log: Log) -> str:
    """Install the packages of the front end, as locked."""
    return _npm_ci(log, FRONTEND)


def frontend_generated(log: Log) -> str:
    """Generate the TypeScript code that is not in git: the types of the contract, and the tree of the routes."""
    inputs = [FRONTEND / "src" / "routes", FRONTEND / "vite.config.ts", FRONTEND / "package-lock.json"]
    return unless_unchanged(
        "frontend-generated",
        fingerprint([*inputs, FRONTEND / "package.json", BACKEND / "openapi.json"]),
        [FRONTEND / "src" / "api" / "schema.gen.ts", FRONTEND / "src" / "routeTree.gen.ts"],
        lambda: log.run([TOOLS / "node" / "bin" / "npm", "run", "gen"], _MEND, FRONTEND),
    )


def e2e_dependencies(log: Log) -> str:
    """Install the packages of the end-to-end tests, as locked. No browser is downloaded: Chromium is Debian's."""
    return _npm_ci(log, E2E)


def frontend(log: Log) -> str:
    """Build the front end for production into `frontend/dist`."""
    configs = sorted(FRONTEND.glob("*.json")) + sorted(FRONTEND.glob("*.ts"))
    # The console shows the documentation as its help.
    now = fingerprint([FRONTEND / part for part in _FRONTEND_INPUTS] + configs + [ROOT / "docs"])
    return unless_unchanged(
        "frontend",
        now,
        [FRONTEND / "dist" / "index.html", FRONTEND / "dist"],
        lambda: log.run([TOOLS / "node" / "bin" / "npm", "run", "build"], _MEND, FRONTEND),
    )


def agent(log: Log) -> str:
    """Build the programs of a VM and `delaybox` quickly, for the demonstration and for tests."""
    return _agent("dev", log)


def agent_release(log: Log) -> str:
    """Build the programs of a VM and `delaybox` as they are released, for benchmarks."""
    return _agent("release", log)


def agent_archive(log: Log) -> str:
    """Pack the agent of the demonstration into `agent/dist` for VMs of one's own, unless `make packages` has."""
    return unless_unchanged(
        "agent-archive",
        _agent_inputs("dev"),
        [_OFFERED],
        lambda: log.run([sys.executable, "build.py", "demonstration"], _MEND, ROOT / "infra" / "packages"),
    )


def agent_is_built() -> bool:
    """Return True when the agent of the demonstration is built, and packed, from the sources as they are."""
    if "cargo" not in remembered():
        return False
    now = _agent_inputs("dev")
    return unchanged("agent-dev", now, _agent_outputs("dev")) and unchanged("agent-archive", now, [_OFFERED])


def _agent(profile: str, log: Log) -> str:
    command = [remembered()["cargo"], "build", "--profile", profile, "--locked", "--bins"]
    packages = [word for name in (*_PROGRAMS, "sinemora-delaybox") for word in ("--package", name)]
    return unless_unchanged(
        f"agent-{profile}",
        _agent_inputs(profile),
        _agent_outputs(profile),
        lambda: log.run([*command, *packages], _NETWORK, AGENT),
    )


def _agent_outputs(profile: str) -> list[Path]:
    folder = AGENT / "target" / ("debug" if profile == "dev" else profile)
    return [folder / name for name in (*_PROGRAMS, "delaybox")]


def _agent_inputs(profile: str) -> str:
    parts = [path for path in sorted(AGENT.iterdir()) if path.name not in _NOT_OF_THE_AGENT]
    return fingerprint(parts, profile, output(Path(remembered()["cargo"]).parent / "rustc", "--version"))


def _npm_ci(log: Log, folder: Path) -> str:
    node = output(TOOLS / "node" / "bin" / "node", "--version")
    now = fingerprint([folder / "package.json", folder / "package-lock.json"], ".".join(map(str, version_of(node)[:1])))
    skip_browser = {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    return unless_unchanged(
        f"{folder.name}-dependencies",
        now,
        [folder / "node_modules"],
        lambda: log.run([TOOLS / "node" / "bin" / "npm", "ci", "--no-progress"], _NETWORK, folder, **skip_browser),
    )
