"""Build the agent's packages into agent/dist: `.deb`, `.rpm`, an archive, the install script, checksums, a signature.

The binary is static (glibc's, `crt-static`), so that one file runs on every distribution. What the packages contain is
listed in agent/agent/Cargo.toml. SINEMORA_SIGNING_KEY names an Ed25519 key in PEM (`openssl genpkey -algorithm
ed25519`); without it the checksums are not signed, and a line on standard error reports that.
"""

import hashlib
import os
import platform
import shutil
import struct
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "toolchain"))

from common import TOOLS, VERSIONS, environment, remembered  # noqa: E402

HERE = Path(__file__).resolve().parent
AGENT = ROOT / "agent"
DIST = AGENT / "dist"
STAGE = AGENT / "target" / "stage"
UNIT = ROOT / "infra" / "systemd" / "sinemora-agent.service"
# Processors that packages are built for, as the kernel names them.
MACHINES = ("x86_64", "aarch64")


def main() -> None:
    """Build for this machine's processor; keep the packages of other processors in agent/dist."""
    machine = platform.machine()
    if machine not in MACHINES:
        sys.exit(f"There is no agent for {machine}.\nWhat to do: build on {' or '.join(MACHINES)}")
    version = tomllib.loads((AGENT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    stage(static_binary(machine))
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"*{machine}.*"):
        old.unlink()
    deb(machine, DIST / f"sinemora-agent-{version}-{machine}.deb")
    rpm(machine, DIST / f"sinemora-agent-{version}-{machine}.rpm")
    archive(DIST / f"sinemora-agent-{version}-{machine}.tar.gz")
    sums = checksums()
    (DIST / "SHA256SUMS").write_text(sums, "utf-8")
    script = (HERE / "install.sh").read_text("utf-8")
    (DIST / "install.sh").write_text(script.replace("@VERSION@", version).replace("@SUMS@", sums.strip()), "utf-8")
    sign(DIST / "SHA256SUMS")
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT)}")


def static_binary(machine: str) -> Path:
    """Build the release binary without shared libraries and return its path."""
    env = environment() | {"RUSTFLAGS": "-C target-feature=+crt-static"}
    cargo = remembered()["cargo"]
    run([cargo, "build", "--release", "--locked", "--bin", "sinemora-agent", "--target", target(machine)], AGENT, env)
    binary = AGENT / "target" / target(machine) / "release" / "sinemora-agent"
    if needs_a_loader(binary.read_bytes()):
        sys.exit(f"{binary} needs shared libraries.\nWhat to do: install the static C library (libc6-dev)")
    return binary


def needs_a_loader(elf: bytes) -> bool:
    """Return whether a 64-bit little-endian ELF asks for an interpreter (PT_INTERP, 3; System V ABI)."""
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return any(struct.unpack_from("<I", elf, at + size * nth)[0] == 3 for nth in range(count))


def stage(binary: Path) -> None:
    """Copy the files of the packages to the stage, as they are installed on a VM."""
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    shutil.copy2(binary, STAGE / "sinemora-agent")
    unit = UNIT.read_text("utf-8").replace("/usr/local/bin/", "/usr/bin/")
    (STAGE / "sinemora-agent.service").write_text(unit, "utf-8")


def deb(machine: str, output: Path) -> None:
    """Write the .deb of the staged files."""
    # Gzip without effort: the binary is small, and every dpkg reads it.
    options = ["--quiet", "--locked", "--no-build", "--no-strip", "--fast", "--compress-type", "gz"]
    package: list[str | Path] = ["--package", "sinemora-agent", "--target", target(machine), "--output", output]
    run([tool("cargo-deb"), *options, *package], AGENT, environment())


def rpm(machine: str, output: Path) -> None:
    """Write the .rpm of the staged files."""
    options = ["--arch", machine, "--payload-compress", "gzip"]
    run([tool("cargo-generate-rpm"), *options, "--output", output], AGENT / "agent", environment())


def tool(name: str) -> Path:
    """Return the path of a program that `make packages` has installed."""
    return TOOLS / name / str(VERSIONS[name]["pinned"]) / "bin" / name


def target(machine: str) -> str:
    """Return the Rust target of a processor."""
    return f"{machine}-unknown-linux-gnu"


def archive(output: Path) -> None:
    """Write the archive for machines without a package manager, to be unpacked at the root."""
    with tarfile.open(output, "w:gz") as tar:
        for path, place, mode in (
            (STAGE / "sinemora-agent", "usr/bin/sinemora-agent", 0o755),
            (STAGE / "sinemora-agent.service", "etc/systemd/system/sinemora-agent.service", 0o644),
        ):
            about = tar.gettarinfo(path, place)
            about.mode, about.uid, about.gid, about.uname, about.gname = mode, 0, 0, "root", "root"
            with path.open("rb") as content:
                tar.addfile(about, content)


def checksums() -> str:
    """Return a line of every package and bill of materials in agent/dist, in the format of sha256sum."""
    packages = sorted(path for path in DIST.iterdir() if path.suffix in (".deb", ".rpm", ".gz", ".json"))
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages)


def sign(path: Path) -> None:
    """Write the Ed25519 signature of `path` next to it, if there is a key."""
    signature = path.with_name(path.name + ".sig")
    signature.unlink(missing_ok=True)
    key = os.environ.get("SINEMORA_SIGNING_KEY")
    if not key:
        print("The checksums are not signed: SINEMORA_SIGNING_KEY names no key.", file=sys.stderr)
        return
    sign_command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", str(path), "-out", str(signature)]
    run(sign_command, ROOT, os.environ)


def run(command: Sequence[str | Path], folder: Path, env: "os._Environ[str] | dict[str, str]") -> None:
    """Run a command; exit if it fails."""
    done = subprocess.run(command, cwd=folder, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"{Path(command[0]).name} ended with {done.returncode}")


if __name__ == "__main__":
    main()
