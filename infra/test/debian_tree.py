"""Builds minimal Debian trees of the machine's own release, configured like the machine for package registries."""

import os
import shutil
import subprocess
from pathlib import Path

# Settings of the machine a build must know: how package clients reach their registries and whom they trust.
_ENVIRONMENT = ("PIP_", "SSL_CERT_", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GOPROXY")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_APT_SOURCES = ("sources.list", "sources.list.d/debian.sources")
_FILES = ("etc/ssl/certs/ca-certificates.crt", "etc/pip.conf", "etc/npmrc", "etc/hosts", "etc/resolv.conf")
# The list of trusted certificates is written again from these when a package upgrades it.
_CERTIFICATES = "usr/local/share/ca-certificates"
_HOME_FILES = (".npmrc", ".cargo/config.toml", ".config/pip/pip.conf", ".config/go/env", ".gitconfig")


class Trouble(Exception):
    """The reason why a test cannot go on, in words for a person."""


def run(
    *command: str | Path, log: Path, env: dict[str, str] | None = None, cwd: Path | None = None, limit_s: float = 900
) -> None:
    """Run a command with its output appended to `log`. Raises Trouble with the end of it when it fails."""
    with log.open("ab") as out:
        out.write(f"$ {' '.join(map(str, command))}\n".encode())
        out.flush()
        try:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, cwd=cwd, timeout=limit_s
            ).returncode
        except subprocess.TimeoutExpired:
            code = -1
    if code:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
        raise Trouble(f"{Path(command[0]).name} {'did not end in time' if code < 0 else f'ended with {code}'}:\n{tail}")


def install_packages(packages: dict[str, str], log: Path) -> None:
    """Install the Debian packages (by program) that the machine lacks, without starting their services."""
    missing = [package for program, package in packages.items() if not shutil.which(program, path=system_path())]
    if not missing:
        return
    policy = Path("/usr/sbin/policy-rc.d")
    ours = not policy.exists()
    if ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        run("apt-get", "update", log=log, env=env)
        run("apt-get", "install", "-y", "--no-install-recommends", *missing, log=log, env=env)
    finally:
        if ours:
            policy.unlink()


def system_path() -> str:
    """Return the folders where Debian keeps programs."""
    return "/usr/sbin:/usr/bin:/sbin:/bin"


def make_tree(tree: Path, packages: list[str], log: Path) -> None:
    """Bootstrap a minimal Debian with `packages` in `tree` and hand in the machine's registry settings."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    suite = release.get("VERSION_CODENAME", "").strip('"')
    run("debootstrap", "--variant=minbase", f"--include={','.join(packages)}", suite, tree, log=log, limit_s=1800)
    sources = [name for name in _APT_SOURCES if Path("/etc/apt", name).exists()]
    if sources:
        (tree / "etc/apt/sources.list").unlink(missing_ok=True)
    for name in sources:
        shutil.copy(Path("/etc/apt", name), tree / "etc/apt" / name)
    acquire = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True).stdout
    (tree / "etc/apt/apt.conf.d/90machine").write_text(acquire)
    for file in _FILES:
        source = Path("/", file)
        if source.exists():
            (tree / file).unlink(missing_ok=True)
            shutil.copy(source, tree / file)
    if Path("/", _CERTIFICATES).is_dir():
        shutil.copytree(Path("/", _CERTIFICATES), tree / _CERTIFICATES, dirs_exist_ok=True)


def hand_in_home(home: Path) -> None:
    """Copy the caller's registry settings that live in a home folder into `home`."""
    for file in _HOME_FILES:
        source = Path.home() / file
        if source.exists():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, home / file)


def registry_environment() -> dict[str, str]:
    """Return the machine's environment variables that registry clients read."""
    return {
        key: value
        for key, value in os.environ.items()
        if value and (key.startswith(_ENVIRONMENT) or key.upper() in _PROXIES)
    }


def proxy_environment() -> dict[str, str]:
    """Return the machine's HTTP proxies."""
    found = {key: os.environ.get(key) or os.environ.get(key.lower()) for key in _PROXIES}
    return {key: value for key, value in found.items() if value}
