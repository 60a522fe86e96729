"""Build the agent's packages into agent/dist: `.deb`, `.rpm`, archive, binary, install script, checksums, a signature.

All of them hold the same static binaries, so that one file runs on every distribution. What the packages contain is
listed in agent/agent/Cargo.toml. SINEMORA_SIGNING_KEY names an Ed25519 key in PEM (`openssl genpkey -algorithm
ed25519`); without it the checksums are not signed, and a line on standard error reports that.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infra" / "toolchain"))

import static  # noqa: E402

from common import TOOLS, VERSIONS, environment  # noqa: E402

HERE = Path(__file__).resolve().parent
AGENT = ROOT / "agent"
DIST = AGENT / "dist"
STAGE = AGENT / "target" / "stage"
UNITS = ROOT / "infra" / "systemd"
# Processors that packages are built for, as the kernel names them.
MACHINES = ("x86_64", "aarch64")


def main() -> None:
    """Build for this machine's processor; keep the packages of other processors in agent/dist."""
    check_key()
    machine = platform.machine()
    if machine not in MACHINES:
        sys.exit(f"There is no agent for {machine}.\nWhat to do: build on {' or '.join(MACHINES)}")
    DIST.mkdir(exist_ok=True)
    for old in (*DIST.glob(f"*{machine}"), *DIST.glob(f"*{machine}.*")):
        old.unlink()
    packages(machine, DIST)
    offer(DIST)
    sign(DIST / "SHA256SUMS")
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT)}")


def packages(machine: str, folder: Path) -> None:
    """Build the programs for a processor and write binary, `.deb`, `.rpm` and archive into `folder`."""
    stage(static.build(machine))
    name = f"sinemora-agent-{version()}-{machine}"
    shutil.copy2(STAGE / "sinemora-agent", folder / name)
    deb(machine, folder / f"{name}.deb")
    rpm(machine, folder / f"{name}.rpm")
    archive(folder / f"{name}.tar.gz")


def offer_demonstration() -> None:
    """Offer the agent that `make up` has built for its demonstration, for Linux as new as here; packages stay."""
    DIST.mkdir(exist_ok=True)
    if not list(DIST.glob(f"*{platform.machine()}.deb")):
        offer_archive(AGENT / "target" / "debug" / static.PROGRAMS[0], DIST)


def offer_archive(binary: Path, folder: Path) -> None:
    """Write the archive and the install script of any binary of the agent into `folder`."""
    stage(binary)
    archive(folder / f"sinemora-agent-{version()}-{platform.machine()}.tar.gz", effort=1)
    offer(folder)


def offer(folder: Path) -> None:
    """Write the checksums of the packages in `folder`, and the install script that knows them."""
    sums = checksums(folder)
    (folder / "SHA256SUMS").write_text(sums, "utf-8")
    script = (HERE / "install.sh").read_text("utf-8")
    (folder / "install.sh").write_text(script.replace("@VERSION@", version()).replace("@SUMS@", sums.strip()), "utf-8")


def version() -> str:
    """Return the version of the agent."""
    return str(tomllib.loads((AGENT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"])


def stage(binary: Path) -> None:
    """Copy the files of the packages to the stage, as they are installed on a VM. The others are next to the agent."""
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    for program in static.PROGRAMS:
        shutil.copy2(binary.with_name(program), STAGE / program)
        unit = (UNITS / f"{program}.service").read_text("utf-8").replace("/usr/local/bin/", "/usr/bin/")
        (STAGE / f"{program}.service").write_text(unit, "utf-8")


def deb(machine: str, output: Path, as_version: str | None = None) -> None:
    """Write the .deb of the staged files, as another version if one is given."""
    # Gzip without effort: the binary is small, and every dpkg reads it.
    options = ["--quiet", "--locked", "--no-build", "--no-strip", "--fast", "--compress-type", "gz"]
    package: list[str | Path] = ["--package", "sinemora-agent", "--target", static.target(machine), "--output", output]
    named = ["--deb-version", as_version] if as_version else []
    run([tool("cargo-deb"), *options, *package, *named], AGENT, environment())


def rpm(machine: str, output: Path, as_version: str | None = None) -> None:
    """Write the .rpm of the staged files, as another version if one is given."""
    options = ["--arch", machine, "--payload-compress", "gzip"]
    named = ["--set-metadata", f'{{version = "{as_version}"}}'] if as_version else []
    run([tool("cargo-generate-rpm"), *options, *named, "--output", output], AGENT / "agent", environment())


def tool(name: str) -> Path:
    """Return the path of a program that `make packages` has installed."""
    return TOOLS / name / str(VERSIONS[name]["pinned"]) / "bin" / name


def archive(output: Path, effort: int = 9) -> None:
    """Write the archive for machines without a package manager, to be unpacked at the root; `effort` is gzip's."""
    with tarfile.open(output, "w:gz", compresslevel=effort) as tar:
        for program in static.PROGRAMS:
            unit = f"{program}.service"
            for name, place, mode in ((program, "usr/bin", 0o755), (unit, "etc/systemd/system", 0o644)):
                about = tar.gettarinfo(STAGE / name, f"{place}/{name}")
                about.mode, about.uid, about.gid, about.uname, about.gname = mode, 0, 0, "root", "root"
                with (STAGE / name).open("rb") as content:
                    tar.addfile(about, content)


def checksums(folder: Path) -> str:
    """Return a line of every package, binary and bill of materials in `folder`, in the format of sha256sum."""
    offered = (".deb", ".rpm", ".gz", ".json", ".whl", ".tgz", ".md", *MACHINES)
    packages = sorted(path for path in folder.iterdir() if path.name.endswith(offered))
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages)


def check_key() -> None:
    """Exit if SINEMORA_SIGNING_KEY names something else than an Ed25519 key: before all is built, not after."""
    if key := os.environ.get("SINEMORA_SIGNING_KEY"):
        shown = subprocess.run(
            ["openssl", "pkey", "-in", key, "-noout", "-text"], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if shown.returncode != 0 or not shown.stdout.startswith("ED25519 Private-Key"):
            sys.exit(
                f"SINEMORA_SIGNING_KEY names no Ed25519 key: {key}\n"
                f"What to do: openssl genpkey -algorithm ed25519 -out {key}, or unset it: then nothing is signed"
            )


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
    offer_demonstration() if sys.argv[1:] == ["demonstration"] else main()
