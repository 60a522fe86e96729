"""Builds the agent's packages into agent/dist: `.deb`, `.rpm`, an archive, the install script, checksums, a signature.

The binary is static (glibc's, `crt-static`), so that one file runs on every distribution. SINEMORA_SIGNING_KEY names an
Ed25519 key in PEM (`openssl genpkey -algorithm ed25519`); without it the checksums are not signed, which is said.
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
# What Debian calls a machine, by what its kernel says.
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


def main() -> None:
    """Build for this machine's processor; other processors' packages that lie in agent/dist stay."""
    machine = platform.machine()
    if machine not in DEBIAN:
        sys.exit(f"There is no agent for {machine}.\nWhat to do: build on {' or '.join(DEBIAN)}")
    version = tomllib.loads((AGENT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    stage(static_binary(machine))
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"*{machine}.*"):
        old.unlink()
    for kind in ("deb", "rpm"):
        nfpm(kind, version, machine, DIST / f"sinemora-agent-{version}-{machine}.{kind}")
    archive(DIST / f"sinemora-agent-{version}-{machine}.tar.gz")
    sums = checksums()
    (DIST / "SHA256SUMS").write_text(sums, "utf-8")
    script = (HERE / "install.sh").read_text("utf-8")
    (DIST / "install.sh").write_text(script.replace("@VERSION@", version).replace("@SUMS@", sums.strip()), "utf-8")
    sign(DIST / "SHA256SUMS")
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT)}")


def static_binary(machine: str) -> Path:
    """Return the release binary without shared libraries."""
    target = f"{machine}-unknown-linux-gnu"
    env = environment() | {"RUSTFLAGS": "-C target-feature=+crt-static"}
    cargo = remembered()["cargo"]
    run([cargo, "build", "--release", "--locked", "--bin", "sinemora-agent", "--target", target], AGENT, env)
    binary = AGENT / "target" / target / "release" / "sinemora-agent"
    if needs_a_loader(binary.read_bytes()):
        sys.exit(f"{binary} needs shared libraries.\nWhat to do: install the static C library (libc6-dev)")
    return binary


def needs_a_loader(elf: bytes) -> bool:
    """Return whether a program header of a 64-bit little-endian ELF asks for an interpreter (PT_INTERP)."""
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return any(struct.unpack_from("<I", elf, at + size * nth)[0] == 3 for nth in range(count))


def stage(binary: Path) -> None:
    """The files that packages hold, as they will lie on a VM."""
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    shutil.copy2(binary, STAGE / "sinemora-agent")
    unit = UNIT.read_text("utf-8").replace("/usr/local/bin/", "/usr/bin/")
    (STAGE / "sinemora-agent.service").write_text(unit, "utf-8")


def nfpm(kind: str, version: str, machine: str, target: Path) -> None:
    """One package of `kind`, deb or rpm."""
    program = TOOLS / "nfpm" / VERSIONS["nfpm"]["pinned"] / "nfpm"
    env = os.environ | {"VERSION": version, "ARCH": DEBIAN[machine]}
    run([program, "package", "--config", HERE / "nfpm.yaml", "--packager", kind, "--target", target], ROOT, env)


def archive(target: Path) -> None:
    """The same files for machines without a package manager, to be unpacked at the root."""
    with tarfile.open(target, "w:gz") as tar:
        for path, place, mode in (
            (STAGE / "sinemora-agent", "usr/bin/sinemora-agent", 0o755),
            (STAGE / "sinemora-agent.service", "etc/systemd/system/sinemora-agent.service", 0o644),
        ):
            about = tar.gettarinfo(path, place)
            about.mode, about.uid, about.gid, about.uname, about.gname = mode, 0, 0, "root", "root"
            with path.open("rb") as content:
                tar.addfile(about, content)


def checksums() -> str:
    """Lines as sha256sum writes them, of every package that is here."""
    packages = sorted(path for path in DIST.iterdir() if path.suffix in (".deb", ".rpm", ".gz"))
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages)


def sign(path: Path) -> None:
    """An Ed25519 signature beside `path`, if there is a key."""
    signature = path.with_name(path.name + ".sig")
    signature.unlink(missing_ok=True)
    key = os.environ.get("SINEMORA_SIGNING_KEY")
    if not key:
        print("The checksums are not signed: SINEMORA_SIGNING_KEY names no key.", file=sys.stderr)
        return
    sign_command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", str(path), "-out", str(signature)]
    run(sign_command, ROOT, os.environ)


def run(command: Sequence[str | Path], folder: Path, env: "os._Environ[str] | dict[str, str]") -> None:
    """Run to the end, or end with what it said."""
    done = subprocess.run(command, cwd=folder, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"{Path(command[0]).name} ended with {done.returncode}")


if __name__ == "__main__":
    main()
