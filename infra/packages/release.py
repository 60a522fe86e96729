"""Build everything that a release consists of into `release/`: `make release`.

sinemora-VERSION-….whl            backend with client, migrations, native module and front end, for each processor
sinemora_client-VERSION-….whl     client for Python
sinemora-client-VERSION.tgz       client for TypeScript, for npm
sinemora-agent-VERSION-…          packages, archive and binary of a VM's programs, with install.sh
sinemora-VERSION.tgz              Helm charts: of the backend,
sinemora-agent-VERSION.tgz        and of the agents of a cluster
sinemora-source-VERSION.tar.gz    the source: build contexts, and a Compose file that names images of this version
*.cdx.json NOTES.md SHA256SUMS    bills of materials, the part of CHANGELOG.md, checksums (signed: SINEMORA_SIGNING_KEY)

What is built is what git has at HEAD; changes that are not committed are refused. The folder changes at the end, once
every part is there and agrees with checksums and signature: until then it has the release before.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "infra" / "toolchain"), str(ROOT / "infra" / "supply_chain")]

import build  # noqa: E402
import sbom  # noqa: E402
import static  # noqa: E402

from common import environment  # noqa: E402

RELEASE = ROOT / "release"
PART = RELEASE / ".part"
BACKEND, FRONTEND = ROOT / "backend", ROOT / "frontend"
CHARTS = ROOT / "infra" / "deploy" / "helm"
# The oldest glibc of a wheel: that of RHEL 8, Debian 10 and Ubuntu 18.10, older than all that are maintained.
GLIBC = (2, 28)
PARTS = (
    *(
        "sinemora-{version}-*_{machine}.whl",
        "sinemora-agent-{version}-{machine}",
        "sinemora-agent-{version}-{machine}.deb",
    ),
    *("sinemora-agent-{version}-{machine}.rpm", "sinemora-agent-{version}-{machine}.tar.gz"),
    *("sinemora_client-*.whl", "sinemora-client-*.tgz", "sinemora-{version}.tgz", "sinemora-agent-{version}.tgz"),
    *("sinemora-source-{version}.tar.gz", "sinemora-backend.cdx.json", "sinemora-frontend.cdx.json"),
    *("sinemora-agent.cdx.json", "NOTES.md", "SHA256SUMS", "install.sh"),
)
_VERSIONED = re.compile(r"(:-sinemora-(?:backend|proxy|archiver))\}")


def main() -> None:
    """Write the folder anew; exit when a part cannot be built."""
    if changed := git("status", "--porcelain").strip():
        sys.exit(f"Not committed:\n{changed}\nWhat to do: commit or discard these changes; a release is what git has.")
    build.check_key()
    version = build.version()
    shutil.rmtree(PART, ignore_errors=True)
    PART.mkdir(parents=True)
    for machine in build.MACHINES:
        build.packages(machine, PART)
        wheel(machine)
    build.run(["uv", "build", "--wheel", "--out-dir", PART, BACKEND / "client"], ROOT, environment())
    build.run(["npm", "run", "--silent", "client:build"], FRONTEND, environment())
    build.run(["npm", "pack", "--silent", "./client", "--pack-destination", PART], FRONTEND, environment())
    charts(version)
    source(version)
    sbom.main(PART)
    (PART / "NOTES.md").write_text(notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version), "utf-8")
    (PART / ".gitignore").unlink(missing_ok=True)  # uv writes one
    build.offer(PART)
    build.sign(PART / "SHA256SUMS")
    if faults := list(faults_of(PART, version)):
        sys.exit("\n".join(("The release is not whole:", *faults)))
    replace()
    for path in sorted(RELEASE.iterdir()):
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT)}")


def faults_of(folder: Path, version: str) -> Iterator[str]:
    """Yield what is missing, or differs from checksums and signature."""
    for part in PARTS:
        for machine in build.MACHINES if "{machine}" in part else ("",):
            if not list(folder.glob(name := part.format(version=version, machine=machine))):
                yield f"missing: {name}"
    sums = folder / "SHA256SUMS"
    if not sums.exists():
        return
    listed = {line.split("  ", 1)[1]: line.split()[0] for line in sums.read_text("utf-8").splitlines()}
    for name, digest in listed.items():
        path = folder / name
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield f"not as in SHA256SUMS: {name}"
    unlisted = {path.name for path in folder.iterdir()} - listed.keys()
    yield from (
        f"without a checksum: {name}" for name in sorted(unlisted - {sums.name, f"{sums.name}.sig", "install.sh"})
    )
    if key := os.environ.get("SINEMORA_SIGNING_KEY"):
        check: list[str | Path] = [
            "openssl",
            "pkeyutl",
            "-verify",
            "-rawin",
            "-inkey",
            key,
            "-in",
            sums,
            "-sigfile",
            f"{sums}.sig",
        ]
        if subprocess.run(check, capture_output=True).returncode != 0:
            yield f"not the signature of SHA256SUMS: {sums.name}.sig"


def replace() -> None:
    """Put the new release in the place of the one before."""
    for old in RELEASE.iterdir():
        if old != PART:
            old.unlink()
    for new in PART.iterdir():
        new.rename(RELEASE / new.name)
    PART.rmdir()


def wheel(machine: str) -> None:
    """Build the wheel of the backend for a processor, for every Python from 3.11 on."""
    target = f"{machine}-unknown-linux-gnu"
    # As in agent/native/python/cpu.toml, which the flags of such a build replace.
    codegen = ["target-cpu=x86-64-v2"] if machine == "x86_64" else []
    options = ["--profile", "python", "--package", "sinemora-native-python", "-Z", "build-std=std"]
    static.zigbuild(options, f"{target}.{GLIBC[0]}.{GLIBC[1]}", *codegen)
    env = environment() | {
        "SINEMORA_NATIVE": str(ROOT / "agent" / "target" / target / "python" / "libsinemora_native_python.so"),
        "SINEMORA_WHEEL_TAG": f"cp311-abi3-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}",
    }
    build.run(["uv", "build", "--wheel", "--out-dir", PART, BACKEND], ROOT, env)


def charts(version: str) -> None:
    """Pack the charts as `helm package` does: each a folder of its name."""
    for chart in sorted(CHARTS.glob("*/Chart.yaml")):
        with tarfile.open(PART / f"{chart.parent.name}-{version}.tgz", "w:gz") as tar:
            tar.add(chart.parent, chart.parent.name)


def source(version: str) -> None:
    """Pack what git has, with a Compose file whose images have the version."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"sinemora-{version}"
        packed = Path(folder, "source.tar")
        git("archive", f"--prefix={name}/", "--output", str(packed), "HEAD")
        with tarfile.open(packed) as tar:
            tar.extractall(folder)
        for compose in (Path(folder, name, "docker-compose.yml"), *Path(folder, name, "infra/docker").glob("*.yml")):
            compose.write_text(_VERSIONED.sub(rf"\1:{version}}}", compose.read_text("utf-8")), "utf-8")
        with tarfile.open(PART / f"sinemora-source-{version}.tar.gz", "w:gz") as tar:
            tar.add(Path(folder, name), name)


def notes(changelog: str, version: str) -> str:
    """Return the part of the changelog about a version; of one in development, what is not released yet."""
    parts = re.split(r"^## ", changelog, flags=re.M)[1:]
    of_version = next((part for part in parts if part.startswith((version, f"[{version}]"))), parts[0])
    return f"# Sinemora {version}\n\n" + of_version.partition("\n")[2].strip() + "\n"


def git(*arguments: str) -> str:
    """Return what git prints; exit if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    os.chdir(ROOT)
    if platform.system() != "Linux":
        sys.exit("A release is built on Linux.")
    main()
