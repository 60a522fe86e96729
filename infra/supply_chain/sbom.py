"""Write software bills of materials in CycloneDX from the lock files: `make sbom`, and `make packages`.

Python by cyclonedx-py, the front end by `npm sbom`, the agent from `cargo metadata`; only what is distributed, no
tools of development. Each file is validated against the published schema of its version before it is kept.
"""

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from supply import ROOT, npm, python_tool, run

DIST = ROOT / "agent" / "dist"
SUFFIX = ".cdx.json"
TARGET = f"{platform.machine()}-unknown-linux-gnu"
_VALIDATE = (
    "import sys;"
    "from cyclonedx.schema import SchemaVersion as V;"
    "from cyclonedx.validation.json import JsonStrictValidator as S;"
    "import json;"
    "text = open(sys.argv[1]).read();"
    "error = S(V.from_version(json.loads(text)['specVersion'])).validate_str(text);"
    "sys.exit(str(error)[:500] if error else 0)"
)


class SbomError(Exception):
    """Bill of materials that could not be written or is not valid; the message has the reason."""


def main(folder: Path = DIST) -> None:
    """Write and validate the three files."""
    folder.mkdir(exist_ok=True)
    writers: dict[str, Callable[[], str]] = {"backend": backend, "frontend": frontend, "agent": agent}
    for name, write in writers.items():
        path = folder / f"sinemora-{name}{SUFFIX}"
        staging = path.with_suffix(".new")
        staging.write_text(write(), "utf-8")
        validate(staging)
        staging.rename(path)
        print(f"{path.stat().st_size:>10}  {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")


def validate(path: Path) -> None:
    """Raise `SbomError` unless a file follows the CycloneDX schema of the version it names."""
    done = run([python_tool("python"), "-c", _VALIDATE, path])
    if done.returncode:
        raise SbomError(f"{path.name} does not follow the schema: {done.stderr.strip()}")


def backend() -> str:
    """Return the bill of what containers run: production.lock."""
    return _printed(
        [
            python_tool("cyclonedx-py"), "requirements", "--output-reproducible", "--output-format", "JSON",
            "--pyproject", "pyproject.toml", "production.lock",
        ],
        ROOT / "backend",
    )  # fmt: skip


def frontend() -> str:
    """Return the bill of what browsers load.

    npm's own `--omit=dev` also leaves out React and others that tools of development depend on too.
    """
    options = ["--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=application"]
    bill = json.loads(_printed([npm(), "sbom", *options], ROOT / "frontend"))
    bill["components"] = [entry for entry in bill["components"] if not _is_development(entry)]
    kept = {entry["bom-ref"] for entry in (bill["metadata"]["component"], *bill["components"])}
    bill["dependencies"] = [
        entry | {"dependsOn": [name for name in entry.get("dependsOn", []) if name in kept]}
        for entry in bill["dependencies"]
        if entry["ref"] in kept
    ]
    return json.dumps(bill, indent=2)


def _is_development(component: dict[str, Any]) -> bool:
    return any(entry["name"] == "cdx:npm:package:development" for entry in component.get("properties", []))


def agent() -> str:
    """Return the bill of the binaries of a VM."""
    folder = ROOT / "agent"
    options = ["--locked", "--format-version", "1", "--filter-platform", TARGET]
    metadata = _printed(["cargo", "metadata", *options], folder)
    script = Path(__file__).with_name("cargo_bill.py")
    programs = "sinemora-agent,sinemora-transfer,sinemora-guard"
    return _printed([python_tool("python"), script, programs, TARGET, folder / "Cargo.lock"], given=metadata)


def _printed(command: list[str | Path], folder: Path = ROOT, given: str | None = None) -> str:
    done = run(command, folder, given=given)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise SbomError(f"{Path(command[0]).name} failed: {lines[-1]}")
    return done.stdout


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else DIST)
    except SbomError as error:
        sys.exit(f"{error}\nWhat to do: make sbom, where the package registries can be reached")
