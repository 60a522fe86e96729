"""Bring the tools that agents are tested, compared and packaged with: network tools, PTP daemons, certificates."""

import os
import shutil
import subprocess
import sys

import debian
import unpacked
from common import ROOT, TOOLS, VERSIONS, StepFailedError, remembered
from stamps import fingerprint, unless_unchanged
from steps import Log

# Debian keeps these where only root's PATH leads; the laboratory looks there too (agent/bench/laboratory.py).
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


_FOR_ROOT = "only for root on Debian"

# Programs by the name of their packages in versions.toml, and what they are for.
_NEEDED = {
    "network": (["ip", "tc", "ethtool", "unshare", "nsenter", "setpriv"], "network namespaces are set up with"),
    "ptp": (["ptpd", "ptp4l"], "interoperability is tested with"),
    "proxy": (["haproxy", "nginx"], "the entrance and the proxy of the stack are tested with"),
    "compose": (["docker-compose"], "the production stack is checked with"),
    "cxx": (["c++"], "the fuzzer is built with"),
    "openssl": (["openssl"], "certificates are made with"),
    "rpm": (["rpm"], "packages are tried with"),
    "qemu": (["qemu-system-x86_64", "busybox", "depmod"], "guests are emulated with"),
    "redis": (["redis-benchmark"], "the profiler is tested with"),
    "memcached": (["memcached"], "applications are found with"),
    "dns": (["nsd", "dnsperf"], "the profiler is tested with"),
    "shellcheck": (["shellcheck"], "plans of moves are checked with"),
}


def present(tools: str, log: Log) -> str:
    """Find the programs of `tools`, else bring their Debian packages."""
    if not (packages := missing(tools)):
        return "from the machine"
    programs, what_for = _NEEDED[tools]
    debian.install(packages, f"{what_for} {', '.join(_missing(programs))}.".capitalize(), log)
    if left := _missing(programs):
        raise StepFailedError(
            f"{', '.join(left)} cannot be found.", "see whether your PATH leads to /usr/sbin", log.path
        )
    return "Debian"


def missing(tools: str) -> list[str]:
    """Return the Debian packages of `tools` when one of its programs is missing."""
    packages: list[str] = VERSIONS[tools]["debian"]
    return packages if _missing(_NEEDED[tools][0]) else []


def ptp4u(log: Log) -> str:
    """Build facebook/time's ptp4u and sptp in `.tools/ptp4u` unless the pinned version is there."""
    return _of_go("ptp4u", log)


def linuxptp(log: Log) -> str:
    """Unpack linuxptp 4 into `.tools/linuxptp`, unless the machine's is one: two major versions are in use."""
    pin = VERSIONS["linuxptp"]
    ours = shutil.which("ptp4l") or shutil.which("ptp4l", path=_PATH)
    if ours and not subprocess.run([ours, "-v"], capture_output=True, text=True, check=True).stdout.startswith("3."):
        return "from the machine"
    folder = TOOLS / "linuxptp" / pin["pinned"]
    if (folder / "usr/sbin/ptp4l").exists():
        return "unchanged"
    if not shutil.which("dpkg"):
        raise StepFailedError("linuxptp comes from Debian.", "run the tests on Debian, say in a container", log.path)
    shown = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout
    machine = shown.strip()
    if machine not in pin:
        raise StepFailedError(f"linuxptp is pinned for amd64 and arm64, not {machine}.", "add its hash", log.path)
    path, sha256 = pin[machine]
    unpacked.bring_one(path, sha256, folder, log)
    return str(pin["pinned"])


def versitygw(log: Log) -> str:
    """Build versitygw, an S3 server for tests and soak, in `.tools/versitygw` unless the pinned version is there."""
    return _of_go("versitygw", log)


def helm(log: Log) -> str:
    """Build Helm, which renders and checks the chart, in `.tools/helm`, likewise."""
    return _of_go("helm", log)


def terraform(log: Log) -> str:
    """Build Terraform, which reads plans of moves, in `.tools/terraform`, likewise."""
    return _of_go("terraform", log)


def qemu(log: Log) -> str:
    """Find QEMU and what guests are made of, else bring Debian's; only root can connect guests to a bridge."""
    return present("qemu", log) if os.geteuid() == 0 else _FOR_ROOT


def qemu_missing() -> list[str]:
    """Return the packages that guests lack."""
    return missing("qemu") if os.geteuid() == 0 else []


def guest_kernel(log: Log) -> str:
    """Unpack Debian's kernel for guests into `.tools/debian`: this machine does not boot it."""
    packages: list[str] = VERSIONS["guest-kernel"]["debian"]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return _FOR_ROOT
    if any((unpacked.TREE / "boot").glob("vmlinuz-*")):
        return "unchanged"
    unpacked.bring(packages, log)
    return "Debian"


def cargo_deb(log: Log) -> str:
    """Build cargo-deb, which writes .deb packages, in `.tools/cargo-deb` unless the pinned version is there."""
    return _of_cargo("cargo-deb", log)


def cargo_generate_rpm(log: Log) -> str:
    """Build cargo-generate-rpm, which writes .rpm packages, in `.tools/cargo-generate-rpm`, likewise."""
    return _of_cargo("cargo-generate-rpm", log)


def cargo_audit(log: Log) -> str:
    """Build cargo-audit, which looks for vulnerable crates, likewise."""
    return _of_cargo("cargo-audit", log)


def supply_chain(log: Log) -> str:
    """Install pip-audit and cyclonedx-py in `.tools/supply-chain`, as locked."""
    lock = ROOT / "infra" / "supply_chain" / "requirements.lock"
    folder = TOOLS / "supply-chain"

    def build() -> None:
        uv = remembered()["uv"]
        log.run([uv, "venv", "--clear", "--python", sys.executable, folder], f"remove {folder}, then again")
        log.run(
            [uv, "pip", "sync", "--python", folder / "bin" / "python", "--require-hashes", lock],
            "check that this machine reaches its package registries, then run the same command again",
        )

    return unless_unchanged("supply-chain", fingerprint([lock], sys.version), [folder / "bin" / "pip-audit"], build)


def _of_go(name: str, log: Log) -> str:
    pin = VERSIONS[name]
    folder = TOOLS / name / pin["pinned"]
    if all((folder / module.rsplit("/", 1)[1]).exists() for module in pin["modules"]):
        return "unchanged"
    log.run(
        [remembered()["go"], "install", *(f"{module}@{pin['pinned']}" for module in pin["modules"])],
        "check that this machine reaches its Go module proxy (GOPROXY), then again",
        TOOLS,
        GOBIN=str(folder),
        GOTOOLCHAIN="local",
        GOFLAGS="-buildvcs=false",
        CGO_ENABLED="0",  # a C compiler that is not the machine's may not know what Go asks of it
    )
    return str(pin["pinned"])


def _of_cargo(name: str, log: Log) -> str:
    pin = VERSIONS[name]
    folder = TOOLS / name / pin["pinned"]
    if (folder / "bin" / name).exists():
        return "unchanged"
    options = ["--locked", *pin.get("options", []), "--root", folder]
    log.run(
        [remembered()["cargo"], "install", *options, f"{name}@{pin['pinned']}"],
        "check that this machine reaches its crate registry, then again",
        TOOLS,
    )
    return str(pin["pinned"])


def _missing(programs: list[str]) -> list[str]:
    return [program for program in programs if not (shutil.which(program) or shutil.which(program, path=_PATH))]
