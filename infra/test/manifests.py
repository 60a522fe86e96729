"""Checks that all manifests name one version and one license, those of `backend/pyproject.toml`.

A manifest that can read the version from there does so; the others repeat it and are compared.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "backend/pyproject.toml"
CHARTS = ("infra/deploy/helm/sinemora/Chart.yaml", "infra/deploy/helm/sinemora-agent/Chart.yaml")
_LICENSE_OF_CHART = "artifacthub.io/license"
_LABEL = re.compile(r"^LABEL org\.opencontainers\.image\.licenses=(\S+)$", re.MULTILINE)
_IMAGE = re.compile(r"image: CHANGE/sinemora-\w+:(\S+)")


def main() -> int:
    """Print what differs; exit with 1 when something does."""
    found = faults(ROOT)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def faults(root: Path) -> list[str]:
    """Return in words each manifest below `root` whose version or license is not that of the backend."""
    project = _toml(root / SOURCE)["project"]
    return [
        f"{place}: {kind} {value}, but {SOURCE} has {project[kind]}. What to do: give both the same."
        for kind, values in (("version", _versions(root)), ("license", _licenses(root)))
        for place, value in values
        if value != project[kind]
    ]


def _versions(root: Path) -> Iterator[tuple[str, Any]]:
    yield "agent/Cargo.toml", _toml(root / "agent/Cargo.toml")["workspace"]["package"]["version"]
    for name in ("frontend/package.json", "frontend/client/package.json"):  # `npm sbom` and `npm pack` need one
        yield name, _json(root / name)["version"]
    for place in CHARTS:
        chart = yaml.safe_load((root / place).read_text("utf-8"))
        yield place, chart["version"]
        yield f"{place}, appVersion", chart["appVersion"]
    for path in sorted(root.glob("infra/deploy/kubernetes/*.yaml")):
        for version in _IMAGE.findall(path.read_text("utf-8")):
            yield str(path.relative_to(root)), version


def _licenses(root: Path) -> Iterator[tuple[str, Any]]:
    yield "backend/client/pyproject.toml", _toml(root / "backend/client/pyproject.toml")["project"].get("license")
    for name in ("frontend/package.json", "frontend/client/package.json", "e2e/package.json"):
        yield name, _json(root / name).get("license")
    workspace = _toml(root / "agent/Cargo.toml")["workspace"]
    yield "agent/Cargo.toml", workspace["package"].get("license")
    for member in workspace["members"]:
        own = _toml(root / "agent" / member / "Cargo.toml")["package"].get("license")
        if own != {"workspace": True}:
            yield f"agent/{member}/Cargo.toml", own
    for place in CHARTS:
        yield place, yaml.safe_load((root / place).read_text("utf-8")).get("annotations", {}).get(_LICENSE_OF_CHART)
    for path in sorted(root.glob("infra/docker/*Dockerfile")):
        for label in _LABEL.findall(path.read_text("utf-8")) or [None]:
            yield str(path.relative_to(root)), label


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    sys.exit(main())
